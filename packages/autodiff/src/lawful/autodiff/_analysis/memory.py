"""``peak_memory``: which values of a function and its gradient are alive when, and which residuals are kept and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lawful.autodiff._analysis.counting import nbytes
from lawful.autodiff._analysis.tables import rich_table, table, with_unit
from lawful.autodiff._checkpoint.saved_residuals import Origins, flat_call
from lawful.autodiff._linearize import linearize_hook
from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    ShapedArray,
    Var,
    as_bool,
    current,
    get_aval,
    is_inexact,
    jaxprs_in_params,
    new_trace,
    record,
)
from lawful.ops import full
from lawful.staging import AnalyzedCall, JaxprTrace, dce_jaxpr, function_name, require_callable

if TYPE_CHECKING:
    from pathlib import Path


@record
class Alive:
    """A value, and when it is alive.

    Attributes:
      aval: its type.
      bytes: its size.
      origin: where it comes from, as :func:`saved_residuals` says: ``"the argument x"``, ``"output of sin at …"``.
      kind: ``"argument"``, ``"constant"``, ``"result"``, ``"residual"`` if it is kept for the backward pass alone, or
        ``"value"``.
      first: the step that makes it; 0 for arguments and constants.
      last: the last step at which it is alive.
      used: the first equation of the backward pass that uses it as a residual; else ``""``.

    >>> import numpy as np
    >>> from lawful.ops import sin
    >>> [(v.kind, v.bytes, v.first, v.last) for v in peak_memory(sin, gradient=False)(np.ones(4)).values]
    [('argument', 32, 0, 1), ('result', 32, 1, 1)]
    """

    aval: ShapedArray
    bytes: int
    origin: str
    kind: str
    first: int
    last: int
    used: str


class PeakMemory:
    """Live values, one equation after the other. ``print(memory)`` shows the peak.

    Attributes:
      name: of the function.
      values: all values.
      timeline: the bytes that are alive at each step, with those inside loops and calls. Step 0 has the arguments and
        constants, and step ``n`` is the equation ``n`` of the jaxpr.
      backward: the first step of the backward pass; None without a gradient.
      steps: what each step is, as text.
      within: the equation at which most is alive within a loop or call that is the step; ``""`` if it is none.

    >>> import numpy as np
    >>> from lawful.ops import exp, sin
    >>> memory = peak_memory(lambda x: exp(sin(x)), gradient=False)(np.ones(4))
    >>> memory.timeline, memory.peak, memory.peak_step
    ([32, 64, 96], 96, 2)
    """

    def __init__(
        self, name: str, values: Sequence[Alive], timeline: Sequence[int], backward: int | None, steps: Sequence[str],
        within: Sequence[str],
    ) -> None:  # fmt: skip
        self.name = name
        self.values = values
        self.timeline = timeline
        self.backward = backward
        self.steps = steps
        self.within = within

    @property
    def peak(self) -> int:
        """The largest number of bytes that are alive at one step."""
        return max(self.timeline)

    @property
    def peak_step(self) -> int:
        """The first step at which they are."""
        return self.timeline.index(self.peak)

    @property
    def at_peak(self) -> list[Alive]:
        """The values that are alive at the peak, the largest first."""
        step = self.peak_step
        return sorted([v for v in self.values if v.first <= step <= v.last], key=lambda v: -v.bytes)

    @property
    def residuals(self) -> list[Alive]:
        """The values of the forward pass that the backward pass uses, the largest first."""
        return sorted([v for v in self.values if v.used], key=lambda v: -v.bytes)

    def _sections(self) -> list[tuple[str, list[Alive], str]]:
        """Returns the tables: a title, the values, and what follows."""
        where = "the arguments" if self.peak_step == 0 else f"step {self.peak_step}, {self.steps[self.peak_step]}"
        inside = self.peak - sum(v.bytes for v in self.at_peak)
        note = (
            f"{with_unit(inside)}B within the loop or call of this step, at {self.within[self.peak_step]}"
            if inside
            else ""
        )
        found = [(f"peak memory of {self.name}: {with_unit(self.peak)}B at {where}", self.at_peak, note)]
        residuals = self.residuals
        if residuals:
            total = sum(v.bytes for v in residuals if v.kind == "residual")
            title = f"residuals of the backward pass: {with_unit(total)}B besides arguments, constants and results"
            found.append((title, residuals, ""))
        return found

    def __str__(self) -> str:
        parts = ["\n".join(filter(None, [title, _rows(values), note])) for title, values, note in self._sections()]
        return "\n\n".join(parts)

    __repr__ = __str__

    def __rich__(self) -> Any:
        """Returns the tables for a console of rich."""
        from rich.console import Group

        return Group(
            *[rich_table(title, _TITLES, _cells(values), "><<<<", note) for title, values, note in self._sections()]
        )

    def plot(self, path: str | Path | None = None) -> Any:
        """Returns a figure of matplotlib: the bytes that are alive at each step, by kind. Saves it to a path.

        Raises:
          ArgumentTypeError: the path is none.
          ArgumentValueError: matplotlib is not installed, or cannot write such a file there.
        """
        from lawful.autodiff._analysis.picture import picture

        return picture(self, path)


_TITLES = ("bytes", "type", "kind", "steps", "origin")
_MOST = 20


def _cells(values: Sequence[Alive]) -> list[tuple[str, ...]]:
    return [
        (f"{with_unit(v.bytes)}B", str(v.aval), v.kind, f"{v.first}–{v.last}",
         f"{v.origin}{f'; for {v.used}' if v.used else ''}")
        for v in values[:_MOST]
    ]  # fmt: skip


def _rows(values: Sequence[Alive]) -> str:
    rest = [f"… and {len(values) - _MOST} more"] * (len(values) > _MOST)
    return "\n".join([table(_TITLES, _cells(values), "><<<<"), *rest])


def peak_memory(f: Callable[..., Any], *, gradient: bool = True) -> Callable[..., PeakMemory]:
    """Returns a function of the same arguments that finds which values of ``f`` and its gradient are alive when.

    Args:
      f: a function of pytrees of floating arrays that returns such a tree. It is traced, and not evaluated: arguments
        may be ``ShapeDtypeStruct``. Static arguments of `jit`, and objects that are no arrays, are given as they are.
      gradient: whether the backward pass follows, of the sum of the results.

    ``print(peak_memory(f)(*args))`` shows the values that are alive at the peak, with their sizes and origins, and the
    residuals with the equation of the backward pass that each is kept for. ``peak_memory(f)(*args).plot(path)`` draws
    the bytes that are alive at each equation. Arguments and constants stay alive, another value until its last use.
    So the NumPy backend runs a program. XLA fuses equations and reuses memory, and has
    ``jit(f).lower(*args).compile().memory_analysis()``.

    Raises:
      NonArrayError: no leaf of the arguments is an array, or a leaf of the result is none.

    Law: the residuals are the values of ``saved_residuals(f, *args)``.

    >>> import numpy as np
    >>> from lawful.ops import sin
    >>> memory = peak_memory(lambda x: sin(sin(x)))(np.ones(1000))
    >>> [(str(value.aval), value.origin.split(" at ")[0]) for value in memory.residuals]
    [('f64[1000]', 'output of cos'), ('f64[1000]', 'output of cos')]
    """
    require_callable("peak_memory", f)
    gradient = as_bool("peak_memory", "gradient", gradient)
    name = function_name(f)

    def memory(*args: Any, **kwargs: Any) -> PeakMemory:
        call = AnalyzedCall("peak_memory", f, args, kwargs)
        closed, residuals, forward = _program(f, call, gradient)
        if not gradient:
            title = name
        elif any(is_inexact(aval.dtype) for aval in closed.in_avals):
            title = f"the gradient of {name}"
        else:
            title = f"{name}, without a gradient as no argument is floating"
        return _alive(title, closed.jaxpr, call.names, residuals, forward)

    return memory


def _program(f: Callable[..., Any], call: AnalyzedCall, gradient: bool) -> tuple[ClosedJaxpr, set[Var], set[int]]:
    """Returns a program with its backward pass, its residuals, and the ids of the results of the forward pass."""
    flat, _ = flat_call("peak_memory", f, call)
    trace = JaxprTrace(current.trace, "peak_memory")
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in call.avals]
        if not gradient:
            outs = list(flat(*inputs))
            found: Sequence[Any] = []
            residuals: set[Var] = set()
            forward = {id(var) for eqn in trace.eqns for var in eqn.outvars}
        else:
            linearized = linearize_hook.for_traces(flat, inputs, trace)
            linearized.drop_known()
            outs = linearized.outs
            kept = [x for x in linearized.jaxpr.consts if getattr(x, "_trace", None) is trace]
            residuals = {x.variable for x in kept}
            forward = {id(var) for eqn in trace.eqns for var in eqn.outvars}
            pairs = zip(outs, linearized.nonzeros, strict=True)
            cts = [full(get_aval(x).shape, 1, get_aval(x).dtype) for x, nonzero in pairs if nonzero]
            found = [x for x in linearized.pull_back(cts) if hasattr(x, "_trace") and is_inexact(x.aval.dtype)]
        closed = trace.to_jaxpr(inputs, [*outs, *found])
    return dce_jaxpr(closed, (True,) * len(closed.out_avals)), residuals, forward


def _alive(name: str, jaxpr: Jaxpr, names: Sequence[str], residuals: set[Var], forward: set[int]) -> PeakMemory:
    end = len(jaxpr.eqns)
    last: dict[Var, int] = {}
    used: dict[Var, str] = {}
    users = _Users()
    made: list[tuple[Var, int, str]] = [(var, 0, "constant") for var in jaxpr.constvars]
    made += [(var, 0, "argument") for var in jaxpr.invars]
    backward = None
    for step, eqn in enumerate(jaxpr.eqns, 1):
        is_backward = not any(id(var) in forward for var in eqn.outvars)
        if is_backward and backward is None and residuals:
            backward = step
        for atom in eqn.invars:
            if isinstance(atom, Var):
                last[atom] = step
                if is_backward and atom in residuals and atom not in used:
                    used[atom] = _describe(users.of(eqn, atom))
        made += [(var, step, "value") for var in eqn.outvars]
        last.update({var: step for var in eqn.outvars if var not in last})
    results = {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    origins = Origins(jaxpr, dict(zip(jaxpr.invars, names, strict=True)))
    values = []
    for var, first, kind in made:
        if kind == "value":
            kind = "result" if var in results else "residual" if var in used else kind
        stays = not first or var in results
        origin = origins.of(var)
        until = end if stays else last[var]
        values.append(Alive(var.aval, nbytes(var.aval), origin, kind, first, until, used.get(var, "")))
    changes = [0] * (end + 2)
    for value in values:
        changes[value.first] += value.bytes
        changes[value.last + 1] -= value.bytes
    inside = [(0, ""), *map(_peak_within, jaxpr.eqns)]
    timeline = [total + size for total, (size, _) in zip(accumulate(changes), inside, strict=False)]
    steps = ["arguments and constants", *map(_describe, jaxpr.eqns)]
    return PeakMemory(name, values, timeline, backward, steps, [where for _, where in inside])


def _describe(eqn: JaxprEqn) -> str:
    at = "" if eqn.source is None else f" at {eqn.source}"
    return f"{eqn.primitive.name}{at}"


class _Users:
    """The equations within calls that use operands of them first."""

    def __init__(self) -> None:
        #: The equation that uses each operand of a call first, by the ids of calls.
        self._first: dict[int, dict[Atom, JaxprEqn]] = {}

    def of(self, eqn: JaxprEqn, operand: Atom) -> JaxprEqn:
        """Returns the equation; that which uses an operand first if it is a call, and that within this one."""
        inner = list(jaxprs_in_params(eqn.params))
        if len(inner) != 1 or len(inner[0].invars) != len(eqn.invars):
            return eqn
        if id(eqn) not in self._first:
            # The first equation that uses an input is written last.
            by_input = {atom: each for each in reversed(inner[0].eqns) for atom in each.invars if isinstance(atom, Var)}
            pairs = [(given, by_input[var], var) for given, var in zip(eqn.invars, inner[0].invars, strict=True)
                     if var in by_input and isinstance(given, Var)]  # fmt: skip
            self._first[id(eqn)] = {given: self.of(user, var) for given, user, var in reversed(pairs)}
        return self._first[id(eqn)].get(operand, eqn)


def _peak_within(eqn: JaxprEqn) -> tuple[int, str]:
    """Returns the most bytes that the jaxprs of an equation have alive besides their inputs and outputs, and where."""
    return max(map(_inner_peak, jaxprs_in_params(eqn.params)), default=(0, ""), key=_size)


def _size(peak: tuple[int, str]) -> int:
    return peak[0]


def _inner_peak(jaxpr: Jaxpr) -> tuple[int, str]:
    results = {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    last = {atom: i for i, eqn in enumerate(jaxpr.eqns) for atom in _variables(eqn)}
    own = {*jaxpr.invars, *jaxpr.constvars, *results}
    alive = 0
    peak = 0, ""
    for i, eqn in enumerate(jaxpr.eqns):
        alive += sum(nbytes(var.aval) for var in eqn.outvars if var not in results)
        size, where = _peak_within(eqn)
        peak = max(peak, (alive + size, where or _describe(eqn)), key=_size)
        alive -= sum(nbytes(var.aval) for var in {*_variables(eqn)} if last[var] == i and var not in own)
    return peak


def _variables(eqn: JaxprEqn) -> Iterator[Var]:
    yield from (atom for atom in (*eqn.invars, *eqn.outvars) if isinstance(atom, Var))
