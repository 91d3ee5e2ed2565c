"""Elementwise equations evaluated block by block: the results between them stay in the processor's cache.

NumPy evaluates ``x * y + z`` on arrays of a million elements by two passes over memory, and allocates an array for
``x * y``. Here one function of a block evaluates all equations of a group, and writes into buffers of a block's size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np

from lawful.core import Atom, ClosedJaxpr, Jaxpr, Literal, Var, last_uses
from lawful.staging._numpy_backend.source import LineEquations, code_of, compile_jaxpr, grouping_hook

#: The bytes of all blocks that are used at a time: a share of a processor's second cache.
_CACHE_BYTES: Final = 1 << 20
#: Fewer elements cost more calls, and some functions compute few elements by another formula. More elements need more
#: cache. Both are multiples of the elements of any vector.
_LEAST_BLOCK, _MOST_BLOCK = 1 << 12, 1 << 15

#: Functions that may write into an operand: results of real numbers are exact or correctly rounded, whatever
#: instructions compute them.
_IN_PLACE: Final = frozenset({np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.absolute, np.sqrt})


class Blocks:
    """A function of NumPy arrays that evaluates a group of elementwise equations.

    Args:
      jaxpr: the equations, whose results have one shape. Operands have this shape, or are scalars.
      functions: evaluates each equation: a ufunc, or a function marked by `lawful.core.by_elements`.

    The operands must be contiguous. For others, and where NumPy is to warn of floating-point errors and finds one, the
    equations are evaluated one by one.

    Law: the results have the bits that the equations give one by one, and their warnings.
    """

    is_numpy = True

    def __init__(self, jaxpr: Jaxpr, functions: Sequence[Any]) -> None:
        self._jaxpr = jaxpr
        self._shape = jaxpr.outvars[0].aval.shape
        self._size = prod(self._shape)
        self._outs = [var.aval.dtype for var in jaxpr.outvars]
        self._ins = [var.aval.dtype if var.aval.shape else None for var in jaxpr.invars]
        writer = _Writer(jaxpr, functions)
        self._lines, self._buffers, values = writer.lines, writer.buffers, writer.values
        self._arguments = ", ".join(writer.arguments)
        bytes_of_one = sum([dtype.itemsize for dtype in (*self._ins, *self._outs, *self._buffers) if dtype is not None])
        block = _LEAST_BLOCK
        while block < _MOST_BLOCK and 2 * block * bytes_of_one <= _CACHE_BYTES:
            block *= 2
        self._block = block
        exec(code_of(self._text("block")), values)
        self._of_block = values["block"]

    def _text(self, name: str) -> str:
        return "\n".join([f"def {name}({self._arguments}):", *[f"    {line}" for line in self._lines], ""])

    def describe(self, name: str) -> tuple[str, LineEquations]:
        """Returns the source of the function of a block, and the equations of its lines."""
        head = f"# {name} calls this for each {self._block:,} of {self._size:,} elements:\n"
        return head + self._text(f"{name}_block"), dict(enumerate(self._jaxpr.eqns, 2))

    @cached_property
    def _one_by_one(self) -> Callable[..., list[Any]]:
        return compile_jaxpr(ClosedJaxpr(self._jaxpr, []), may_group=False)[1]

    def __call__(self, *args: Any) -> list[Any]:
        flat = [x if dtype is None else _flat(x, dtype) for x, dtype in zip(args, self._ins, strict=True)]
        if grouping_hook.use is grouping_hook.plain or any([x is None for x in flat]):
            return self._one_by_one(*args)
        watched: Any = {error: "raise" for error, action in np.geterr().items() if action != "ignore"}
        if not watched:
            return self._by_blocks(flat)
        try:
            with np.errstate(**watched):
                return self._by_blocks(flat)
        except FloatingPointError:
            return self._one_by_one(*args)  # which warns as NumPy does

    def _by_blocks(self, flat: Sequence[Any]) -> list[Any]:
        results = [np.empty(self._shape, dtype) for dtype in self._outs]
        block, size = self._block, self._size
        buffers = [np.empty(block + _LEAST_BLOCK, dtype) for dtype in self._buffers]
        is_array = [dtype is not None for dtype in self._ins]
        outs = [out.reshape(-1) for out in results]
        # The last block takes the elements that are too few for one of their own.
        stops = [*range(block, size - _LEAST_BLOCK, block), size]
        for start, stop in zip([0, *stops], stops, strict=False):
            operands = [x[start:stop] if cut else x for x, cut in zip(flat, is_array, strict=True)]
            length = stop - start
            self._of_block(*operands, *[out[start:stop] for out in outs], *[buffer[:length] for buffer in buffers])
        return results


def _flat(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns the elements of an array in one dimension; None if NumPy would read them by other instructions."""
    if type(x) is not np.ndarray or x.dtype != dtype or not x.flags.aligned:
        return None
    return x.reshape(-1) if x.flags.c_contiguous or not any(x.strides) else None


class _Writer:
    """Writes the function of a block.

    Attributes:
      lines: its statements.
      arguments: its arguments: operands, results, and buffers.
      buffers: the dtypes of the buffers.
      values: its globals.
    """

    def __init__(self, jaxpr: Jaxpr, functions: Sequence[Any]) -> None:
        self.lines: list[str] = []
        self.buffers: list[np.dtype[Any]] = []
        self.values: dict[str, Any] = {}
        self._names: dict[Atom, str] = {var: f"x{i}" for i, var in enumerate(jaxpr.invars)}
        self._outs = {var: f"out{i}" for i, var in enumerate(jaxpr.outvars)}
        self._unused: dict[np.dtype[Any], list[str]] = {}
        self._callees: dict[int, str] = {}
        for eqn, function, dead in zip(jaxpr.eqns, functions, last_uses(jaxpr), strict=True):
            self._write(eqn.invars, eqn.outvars[0], function, [var for var in dead if var not in self._outs])
        self.arguments = [self._names[var] for var in jaxpr.invars]
        self.arguments += [*self._outs.values(), *[f"b{i}" for i in range(len(self.buffers))]]

    def _write(self, operands: Sequence[Atom], result: Var, function: Any, dead: Sequence[Var]) -> None:
        arguments = ", ".join([self._text(atom) for atom in operands])
        callee = self._callee(function)
        out = self._outs.get(result)
        freed = [self._names[var] for var in dead if var in self._names]
        temporaries = [name for name in freed if name.startswith("y")]
        dtype = result.aval.dtype
        if not isinstance(function, np.ufunc):  # it allocates its result
            target = f"y{len(self.lines)}" if out is None else f"{out}[...]"
            line = f"{target} = {callee}({arguments})"
            self._names[result] = out or target
        else:
            if out is None:
                out = self._buffer(dtype, [var for var in dead if self._may_overwrite(function, var, operands, dtype)])
            line = f"{callee}({arguments}, out={out})"
            self._names[result] = out
        if result in dead and self._names[result].startswith("y"):
            temporaries.append(self._names[result])
        self.lines.append("; ".join([line, *[f"{name} = None" for name in temporaries]]))
        kept = None if result in dead else self._names[result]
        # A result that nothing uses may have overwritten an operand: both have one buffer.
        for name, dtype in {self._names[var]: var.aval.dtype for var in dead}.items():
            if name.startswith("b") and name != kept:
                self._unused.setdefault(dtype, []).append(name)

    def _may_overwrite(self, function: Any, var: Var, operands: Sequence[Atom], dtype: np.dtype[Any]) -> bool:
        """Whether the buffer of a variable that dies in an equation may take the result."""
        return (
            function in _IN_PLACE
            and dtype.kind in "iuf"
            and var in operands
            and var.aval.dtype == dtype
            and self._names[var].startswith("b")
        )

    def _buffer(self, dtype: np.dtype[Any], overwritten: Sequence[Var]) -> str:
        if overwritten:
            return self._names[overwritten[0]]
        unused = self._unused.get(dtype)
        if unused:
            return unused.pop()
        self.buffers.append(dtype)
        return f"b{len(self.buffers) - 1}"

    def _text(self, atom: Atom) -> str:
        if type(atom) is Literal:
            name = f"c{len(self.values)}"
            self.values[name] = atom.val
            return name
        return self._names[atom]

    def _callee(self, function: Any) -> str:
        name = self._callees.get(id(function))
        if name is None:
            base = getattr(function, "__name__", "")
            base = base if base.isidentifier() else "op"
            name = self._callees[id(function)] = f"{base}_{len(self._callees)}"
            self.values[name] = function
        return name
