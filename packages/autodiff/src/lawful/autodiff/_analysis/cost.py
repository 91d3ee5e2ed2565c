"""``cost``: a table of operations, bytes and intensity, by equation and by line of the user."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lawful import tree
from lawful.autodiff._analysis.counting import Counted, Unknown, counted_equations
from lawful.autodiff._analysis.tables import rich_table, table, with_unit
from lawful.autodiff._vjp import vjp
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    SourceLine,
    as_bool,
    get_aval,
    is_inexact,
    record,
    shorten,
    zeros,
)
from lawful.ops import full, static_integers
from lawful.staging import AnalyzedCall, dce_jaxpr, function_name, make_jaxpr, require_callable, trace_tree


@record
class CostLine:
    """The cost of the equations of one line of the user, or of one equation.

    Attributes:
      source: the line; None if it is unknown.
      text: the text of the line, or the equation.
      equations: how many equations it has; those of a loop count once.
      operations: arithmetic operations.
      bytes: of operands and results. A compiler that fuses equations moves fewer.

    >>> import numpy as np
    >>> from lawful.ops import sin
    >>> line = cost(sin)(np.ones(4)).function.equations[0]
    >>> line.text, line.operations, line.bytes, line.intensity
    ('f64[4] = sin f64[4]', 4, 64, 0.0625)
    """

    source: SourceLine | None
    text: str
    equations: int
    operations: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Operations for each byte: below about 10, memory decides the time and not arithmetic."""
        return self.operations / self.bytes if self.bytes else 0.0


class Cost:
    """The cost of a program. ``print(cost)`` shows it by line, ``cost.equations`` has each equation.

    Attributes:
      name: of the function.
      equations: a :class:`CostLine` for each equation, in the order of the program; those of loops once.
      lines: one for each line of the user, the most expensive one first.
      operations: the total of operations.
      bytes: the total of bytes.
      notes: what the counts leave out.

    >>> import numpy as np
    >>> from lawful.ops import dot, sin
    >>> found = cost(lambda w, x: sin(dot(w, x)))(np.ones((3, 4)), np.ones(4)).function
    >>> found.operations, [each.operations for each in found.equations]
    (27, [24, 3])
    """

    def __init__(self, name: str, closed: ClosedJaxpr) -> None:
        unknown = Unknown()
        counted = [*counted_equations(closed.jaxpr, unknown)]
        self.name = name
        self.equations = [_line_of(each) for each in counted]
        self.lines = _by_line(self.equations)
        self.operations = sum(line.operations for line in self.lines)
        self.bytes = sum(line.bytes for line in self.lines)
        self.notes = []
        if unknown.primitives:
            self.notes.append(f"without the operations of {', '.join(sorted(unknown.primitives))}")
        if unknown.loops:
            self.notes.append("a loop whose trip count is not known counts as one iteration")

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.operations / self.bytes if self.bytes else 0.0

    def __str__(self) -> str:
        return self.text(self.lines)

    __repr__ = __str__

    def text(self, lines: Sequence[CostLine], most: int = 30) -> str:
        """Returns a table of some lines, such as ``cost.equations``."""
        if not isinstance(lines, Sequence):
            raise ArgumentTypeError(
                f"text: expected a sequence of CostLine, got {shorten(lines)}; write cost.text(cost.equations)"
            )
        [most] = static_integers("text", "most", (most,))
        rest = [f"… and {len(lines) - most} more"] * (len(lines) > most)
        return "\n".join(
            [f"cost of {self.name}", table(_TITLES, self._cells(lines[:most]), _ALIGN), *rest, *self.notes]
        )

    def _cells(self, lines: Sequence[CostLine]) -> list[tuple[str, ...]]:
        total = CostLine(None, "", len(self.equations), self.operations, self.bytes)
        return [*[(_place(line.source), *_numbers(line)) for line in lines], ("total", *_numbers(total))]

    def __rich__(self) -> Any:
        """Returns the table for a console of rich."""
        return rich_table(f"cost of {self.name}", _TITLES, self._cells(self.lines), _ALIGN, "\n".join(self.notes))


_TITLES = ("line", "equations", "operations", "bytes", "op/byte", "source")
_ALIGN = "<>>>><"


def _numbers(line: CostLine) -> tuple[str, ...]:
    size = f"{with_unit(line.bytes)}B"
    return str(line.equations), with_unit(line.operations), size, f"{line.intensity:.2f}", line.text


class Costs:
    """The cost of a function, and of its gradient, which includes the function; None where it has none.

    >>> import numpy as np
    >>> costs = cost(lambda x: x * x)(np.ones(4))
    >>> costs.function.operations, costs.gradient.operations, costs.ratio
    (4, 16, 4.0)
    """

    def __init__(self, function: Cost, gradient: Cost | None) -> None:
        self.function = function
        self.gradient = gradient

    if not TYPE_CHECKING:  # which checks the names of attributes

        def __getattr__(self, name: str) -> Any:
            both = {"function", "gradient"} & vars(self).keys()
            known = both and not name.startswith("_") and hasattr(self.function, name)
            cure = f"; write costs.function.{name} or costs.gradient.{name}" if known else ""
            raise AttributeError(f"'Costs' object has no attribute {name!r}{cure}", name=name, obj=self)

    @property
    def ratio(self) -> float:
        """How many times the operations of the function the gradient has; 0 if there is none."""
        return (
            self.gradient.operations / self.function.operations if self.gradient and self.function.operations else 0.0
        )

    def __str__(self) -> str:
        if self.gradient is None:
            return str(self.function)
        ratio = f"\n{self.ratio:.1f} × the operations of the function" if self.function.operations else ""
        return f"{self.function}\n\n{self.gradient}{ratio}"

    __repr__ = __str__

    def __rich__(self) -> Any:
        """Returns both tables for a console of rich."""
        from rich.console import Group

        return Group(*[each.__rich__() for each in (self.function, self.gradient) if each is not None])


def cost(f: Callable[..., Any], *, gradient: bool = True) -> Callable[..., Costs]:
    """Returns a function of the same arguments that counts what ``f``, and its gradient, cost.

    Args:
      f: a function of pytrees of arrays that returns such a tree. It is traced, and not evaluated: arguments may be
        ``ShapeDtypeStruct``. Static arguments of `jit`, and objects that are no arrays, are given as they are.
      gradient: whether to count the gradient too; ``f`` must have one then.

    ``cost(f)(*args)`` has ``function`` and ``gradient``, the gradient of the sum of the results with respect to all
    floating-point arguments; that is None where there are none. ``print`` shows both as tables: for each line of the
    user the number of equations, arithmetic operations, bytes of operands and results, and operations for each byte.

    An elementwise function counts as one operation an element, a product of matrices as two for each product, a
    decomposition by the leading term of its algorithm. A loop counts once for each iteration, a conditional as its
    most expensive branch. Dead code does not count. Compiled programs do the same operations, and move fewer bytes
    where equations are fused.

    Raises:
      ArgumentTypeError: ``f`` is no function.
      NonArrayError: no leaf of the arguments is an array, or a leaf of the result is none.

    Law: the operations of a ``scan`` are those of its body, once for each iteration.

    >>> import numpy as np
    >>> from lawful.ops import dot, sin
    >>> print(cost(lambda w, x: sin(dot(w, x)))(np.ones((3, 4)), np.ones(4)).function)
    cost of <lambda>
    line         equations  operations  bytes  op/byte  source
    ...
    total                2          27   ...
    """
    require_callable("cost", f)
    gradient = as_bool("cost", "gradient", gradient)
    name = function_name(f)

    def costs(*args: Any, **kwargs: Any) -> Costs:
        call = AnalyzedCall("cost", f, args, kwargs)
        program = trace_tree("cost", call, tree.structure(((*call.arrays,), {})), call.avals)[0]
        found = Cost(name, dce_jaxpr(program, (True,) * len(program.out_avals)))
        differentiated = gradient_program(call) if gradient else None
        if gradient and differentiated is None:
            found.notes.append("no gradient: no argument is floating; give floats (1.0, not 1)")
        return Costs(found, None if differentiated is None else Cost(f"the gradient of {name}", differentiated))

    return costs


def gradient_program(call: AnalyzedCall) -> ClosedJaxpr | None:
    """Returns the jaxpr of a function and of the gradient of the sum of its results; None if it has no gradient."""
    if not any([is_inexact(aval.dtype) for aval in call.avals]):
        return None

    def with_gradient(*arrays: Any) -> Any:
        out, pull_back = vjp(call, *arrays)
        ones = tree.map(_unit_cotangent, out)
        return out, [x for x in tree.leaves(pull_back(ones)) if is_inexact(get_aval(x).dtype)]

    closed: ClosedJaxpr = make_jaxpr(with_gradient)(*call.arrays)
    return dce_jaxpr(closed, (True,) * len(closed.out_avals))


def _unit_cotangent(x: Any) -> Any:
    aval = get_aval(x).to_tangent_aval()
    return full(aval.shape, 1, aval.dtype) if is_inexact(aval.dtype) else zeros(aval)


def _line_of(counted: Counted) -> CostLine:
    eqn = counted.eqn
    results = ", ".join(str(var.aval) for var in eqn.outvars)
    operands = " ".join(str(atom.aval) for atom in eqn.invars)
    times = f"{counted.times} × " if counted.times != 1 else ""
    text = f"{times}{results} = {eqn.primitive.name} {operands}"
    return CostLine(eqn.source, text, 1, counted.operations or 0, counted.bytes)


def _by_line(equations: Sequence[CostLine]) -> list[CostLine]:
    groups: dict[tuple[str, int] | None, list[CostLine]] = {}
    for each in equations:
        key = None if each.source is None else (each.source.file, each.source.line)
        groups.setdefault(key, []).append(each)
    lines = []
    for key, members in groups.items():
        text = "" if key is None else linecache.getline(*key).strip()
        operations, size = sum(each.operations for each in members), sum(each.bytes for each in members)
        lines.append(CostLine(members[0].source, text, len(members), operations, size))
    return sorted(lines, key=lambda line: (-line.operations, -line.bytes))


def _place(source: SourceLine | None) -> str:
    return "unknown" if source is None else f"{os.path.basename(source.file)}:{source.line}"
