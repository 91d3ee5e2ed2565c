"""Rows of arrays: slices that an unrolled loop takes from an array, one per iteration.

``x[i]`` with a known index is a slice. It cannot be a part of an iteration, since its parameters differ. So slices are
deferred: they are removed from the program and written only where they are used. A loop slices the array itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lawful.core import Atom, Jaxpr, JaxprEqn, ShapedArray, Var
from lawful.ops import broadcast_in_dim_p, reshape_p, slice_p, split_p, squeeze_p

#: For each dimension, where a part of an array begins and ends.
Window = tuple[tuple[int, int], ...]


class Line(NamedTuple):
    """The location of rows up to their start: along an axis, with a size, within a window of the other dimensions.

    Along the axis itself the window is (0, 0).
    """

    axis: int
    size: int
    window: Window


@dataclass(frozen=True, slots=True)
class Row:
    """A part of an array: consecutive indices along an axis, from ``start`` on, possibly reshaped.

    Attributes:
      array: the array.
      line: the axis, the number of indices, and the window in other dimensions.
      start: the first index.
      aval: the type of the part.
    """

    array: Var
    line: Line
    start: int
    aval: ShapedArray

    def steps_to(self, other: Row | None) -> int:
        """Returns the distance in rows to another row of the same line, negative if it comes before; else 0."""
        if other is None or (self.array, self.line, self.aval) != (other.array, other.line, other.aval):
            return 0
        step, rest = divmod(other.start - self.start, self.line.size)
        # Rows of several indices must be adjacent.
        return 0 if rest or (self.line.size > 1 and abs(step) != 1) else step

    def window(self, last: Row | None = None) -> Window:
        """Returns the window from this row to another one, which may come before it."""
        starts = (self.start, self.start if last is None else last.start)
        return within(self.line, min(starts), max(starts) + self.line.size)


def within(line: Line, low: int, high: int) -> Window:
    """Returns the window of a part of a line, from index ``low`` up to ``high``."""
    return tuple([(low, high) if axis == line.axis else extent for axis, extent in enumerate(line.window)])


def lines(whole: Sequence[int], window: Window) -> list[Line]:
    """Returns the lines that a part of an array may be a row of: along each axis that it does not cover."""
    found = []
    for axis, (low, high) in enumerate(window):
        if high - low < whole[axis] and high > low:
            found.append(Line(axis, high - low, (*window[:axis], (0, 0), *window[axis + 1 :])))
    return found


def stack_rows(stack: Var, indices: Mapping[Var, int]) -> dict[Atom, Row]:
    """Returns variables as rows of a stack, given their indices along its first dimension."""
    line = Line(0, 1, ((0, 0), *[(0, size) for size in stack.aval.shape[1:]]))
    return {var: Row(stack, line, index, var.aval) for var, index in indices.items()}


def deferred_slices(jaxpr: Jaxpr, labels: Sequence[int], least: int) -> tuple[dict[Atom, Row], dict[int, JaxprEqn]]:
    """Returns the variables that are rows of arrays, and the equations that make them, by their numbers.

    Args:
      jaxpr: the program.
      labels: the labels of its equations.
      least: the minimal number of rows on a line.
    """
    if not any([eqn.primitive is slice_p or eqn.primitive is split_p for eqn in jaxpr.eqns]):
        return {}, {}
    counts: Counter[tuple[Var, Line]] = Counter()
    repeated = Counter(labels)
    # An array that is computed repeatedly is a part of an iteration, and so are its rows.
    inner = {
        var for eqn, label in zip(jaxpr.eqns, labels, strict=True) if repeated[label] >= least for var in eqn.outvars
    }
    possible = [_rows_of(eqn) if eqn.invars and eqn.invars[0] not in inner else [] for eqn in jaxpr.eqns]
    for alternatives in possible:
        for rows in alternatives:
            counts.update([(row.array, row.line) for row in rows])
    found: dict[Atom, Row] = {}
    eqns = {}
    for number, (eqn, alternatives) in enumerate(zip(jaxpr.eqns, possible, strict=True)):
        rows = max(alternatives, key=lambda rows: counts[rows[0].array, rows[0].line], default=[])
        operand = eqn.invars[0] if len(eqn.invars) == 1 else None
        if rows and counts[rows[0].array, rows[0].line] >= least:
            found.update(zip(eqn.outvars, rows, strict=True))
        elif operand in found and is_view(eqn):
            found[eqn.outvars[0]] = replace(found[operand], aval=eqn.outvars[0].aval)
        else:
            continue
        eqns[number] = eqn
    return found, eqns


def is_view(eqn: JaxprEqn) -> bool:
    """Whether an equation only reshapes its operand."""
    if eqn.primitive is reshape_p or eqn.primitive is squeeze_p:
        return True
    return eqn.primitive is broadcast_in_dim_p and eqn.invars[0].aval.size == eqn.outvars[0].aval.size


def _rows_of(eqn: JaxprEqn) -> list[list[Row]]:
    """Returns the alternatives of the results of an equation as rows: for each alternative a row per result."""
    if eqn.primitive is not slice_p and eqn.primitive is not split_p:
        return []
    array, shape = eqn.invars[0], eqn.invars[0].aval.shape
    if type(array) is not Var:
        return []
    if eqn.primitive is split_p:
        axis = eqn.params["axis"]
        sizes = {var.aval.shape[axis] for var in eqn.outvars}
        if len(sizes) != 1 or 0 in sizes:
            return []
        (size,) = sizes
        line = Line(axis, size, tuple([(0, 0 if i == axis else whole) for i, whole in enumerate(shape)]))
        return [[Row(array, line, i * size, var.aval) for i, var in enumerate(eqn.outvars)]]
    if eqn.params["strides"] is not None:
        return []
    starts, aval = eqn.params["start_indices"], eqn.outvars[0].aval
    window = tuple(zip(starts, eqn.params["limit_indices"], strict=True))
    return [[Row(array, line, starts[line.axis], aval)] for line in lines(shape, window)]
