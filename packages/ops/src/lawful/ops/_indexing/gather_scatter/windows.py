"""Windows of an array at dynamic positions: the geometry of gather and scatter.

An index vector is the position at which a window of an operand begins. Gather reads windows and scatter writes them,
by the same dimension numbers, which are checked here.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from lawful.core import ArgumentTypeError, ArgumentValueError, Choose, ShapedArray, record
from lawful.ops._support.structural import Shape, static_integers

__all__ = ["GatherDimensionNumbers", "GatherScatterMode", "ScatterDimensionNumbers"]


class GatherDimensionNumbers(NamedTuple):
    """How the dimensions of an operand, of index vectors and of the gathered windows belong together.

    The last dimension of the indices is that of the index vector.

    Attributes:
      offset_dims: the dimensions of the result that count positions in a window, increasing.
      collapsed_slice_dims: the dimensions of the operand in which windows have length 1, and that the result lacks.
      start_index_map: for each number of an index vector the dimension of the operand that it is a position in.
      operand_batching_dims: dimensions of the operand that go along with dimensions of the indices.
      start_indices_batching_dims: those dimensions of the indices.

    >>> import numpy as np
    >>> from lawful import ops
    >>> ops.gather(np.array([10, 11, 12]), np.array([[2], [0]]), GatherDimensionNumbers((), (0,), (0,)), (1,))
    array([12, 10])

    Source: ``jax.lax.GatherDimensionNumbers``.
    """

    offset_dims: Shape
    collapsed_slice_dims: Shape
    start_index_map: Shape
    operand_batching_dims: Shape = ()
    start_indices_batching_dims: Shape = ()


class ScatterDimensionNumbers(NamedTuple):
    """How the dimensions of an operand, of index vectors and of the scattered windows belong together.

    They are those of `GatherDimensionNumbers` in the same order, with the updates in place of the result.

    Attributes:
      update_window_dims: the dimensions of the updates that count positions in a window, increasing.
      inserted_window_dims: the dimensions of the operand in which windows have length 1, and that the updates lack.
      scatter_dims_to_operand_dims: for each number of an index vector the dimension of the operand.
      operand_batching_dims: dimensions of the operand that go along with dimensions of the indices.
      scatter_indices_batching_dims: those dimensions of the indices.

    >>> import numpy as np
    >>> from lawful import ops
    >>> ops.scatter(np.array([1, 2, 3]), np.array([[2]]), np.array([9]), ScatterDimensionNumbers((), (0,), (0,)))
    array([1, 2, 9])

    Source: ``jax.lax.ScatterDimensionNumbers``.
    """

    update_window_dims: Shape
    inserted_window_dims: Shape
    scatter_dims_to_operand_dims: Shape
    operand_batching_dims: Shape = ()
    scatter_indices_batching_dims: Shape = ()


class GatherScatterMode(enum.Enum):
    """The treatment of a window that is not wholly inside of the operand.

    ``CLIP`` moves it inside. ``FILL_OR_DROP`` reads a constant, and writes nothing. ``PROMISE_IN_BOUNDS`` says that
    there is none; otherwise a read is clipped and a write is dropped, and derivatives are wrong.

    >>> GatherScatterMode.from_any("drop")
    <GatherScatterMode.FILL_OR_DROP: 'fill_or_drop'>

    Source: ``jax.lax.GatherScatterMode``.
    """

    CLIP = "clip"
    FILL_OR_DROP = "fill_or_drop"
    PROMISE_IN_BOUNDS = "promise_in_bounds"

    @staticmethod
    def from_any(mode: str | GatherScatterMode | None) -> GatherScatterMode:
        """Returns the mode of a name, ``FILL_OR_DROP`` of None; raises ArgumentValueError if there is none."""
        if isinstance(mode, GatherScatterMode):
            return mode
        try:
            return GatherScatterMode("fill_or_drop" if mode in (None, "fill", "drop") else mode)
        except ValueError:
            raise ArgumentValueError(
                f"mode: expected 'clip', 'fill', 'drop' or 'promise_in_bounds', got {mode!r}; choose one of these"
            ) from None


#: The parameter ``dimension_numbers``: five tuples, in the order of the classes above.
DimensionNumbers = tuple[Shape, Shape, Shape, Shape, Shape]


def plain_dimension_numbers(name: str, numbers: Any) -> DimensionNumbers:
    """Returns dimension numbers as plain tuples; raises ArgumentTypeError for other values."""
    if type(numbers) is tuple and len(numbers) == 5:  # the form of the parameter
        numbers = GatherDimensionNumbers(*numbers)
    if not isinstance(numbers, GatherDimensionNumbers | ScatterDimensionNumbers):
        raise ArgumentTypeError(
            f"{name}: expected dimension_numbers, got {numbers!r}; make them with lawful.ops."
            f"{'Gather' if name == 'gather' else 'Scatter'}DimensionNumbers"
        )
    fields = zip(type(numbers)._fields, numbers, strict=True)
    a, b, c, d, e = (static_integers(name, field, dims) for field, dims in fields)
    return a, b, c, d, e


@record
class Windows:
    """Windows of an operand, one for each index vector.

    Attributes:
      operand: the shape of the operand.
      indices: the shape of the indices, of which the last dimension is the index vector.
      sizes: the shape of each window, with as many dimensions as the operand.
      numbers: the dimension numbers.
    """

    operand: Shape
    indices: Shape
    sizes: Shape
    numbers: GatherDimensionNumbers

    @property
    def batch(self) -> Shape:
        """The shape of the array of windows."""
        return self.indices[:-1]

    @property
    def window_dims(self) -> Shape:
        """The dimensions of the operand that a window keeps."""
        dropped = {*self.numbers.collapsed_slice_dims, *self.numbers.operand_batching_dims}
        return tuple([dim for dim in range(len(self.operand)) if dim not in dropped])

    @property
    def upper(self) -> Shape:
        """For each component of an index vector the last position at which a window is inside."""
        return tuple([self.operand[dim] - self.sizes[dim] for dim in self.numbers.start_index_map])

    @property
    def gathered(self) -> Shape:
        """The shape of a gather's result and of a scatter's updates."""
        offsets = iter([self.sizes[dim] for dim in self.window_dims])
        batch = iter(self.batch)
        ndim = len(self.batch) + len(self.numbers.offset_dims)
        return tuple([next(offsets if dim in self.numbers.offset_dims else batch) for dim in range(ndim)])

    @property
    def batch_dims(self) -> Shape:
        """The dimensions of `gathered` that count windows."""
        ndim = len(self.batch) + len(self.numbers.offset_dims)
        return tuple([dim for dim in range(ndim) if dim not in self.numbers.offset_dims])

    def check(self, name: str) -> None:
        """Raises ArgumentTypeError, in the name of an op, if shapes and dimension numbers do not fit together."""
        problem = self._problem()
        if problem is not None:
            raise ArgumentTypeError(
                f"{name}: expected {problem}, got dimension numbers {tuple(self.numbers)} and windows {self.sizes} "
                f"of an operand of shape {self.operand} at indices of shape {self.indices}; correct them, or index "
                "with x[...] and x.at[...]"
            )

    def _problem(self) -> str | None:
        offset, collapsed, index_map, batching, index_batching = self.numbers
        rank = len(self.operand)
        if not self.indices:
            return "indices with a last dimension for the index vector"
        last = len(self.indices) - 1
        if len(self.sizes) != rank:
            return f"as many slice_sizes as the operand has dimensions, {rank}"
        if not _are_increasing(offset, last + len(offset)):
            return "increasing dimensions of the result as offset_dims"
        if not _are_increasing(collapsed, rank) or not _are_increasing(batching, rank):
            return "increasing dimensions of the operand as those that are dropped or go along with the indices"
        if len(index_map) != self.indices[-1] or not _are_different(index_map, rank):
            return "different dimensions of the operand in the map of an index vector, one for each of its numbers"
        if len(batching) != len(index_batching) or not _are_different(index_batching, last):
            return "as many different dimensions of the indices to go along as of the operand"
        if set(batching) & {*collapsed, *index_map}:
            return "batching dimensions that are not named otherwise"
        if any(self.operand[a] != self.indices[b] for a, b in zip(batching, index_batching, strict=True)):
            return "batching dimensions of the same length in operand and indices"
        if len(offset) != rank - len(collapsed) - len(batching):
            return "a dimension of each window for each of the operand that is kept"
        if any(size < 0 for size in self.sizes):
            return "windows of lengths that are not negative"
        if math.prod(self.indices) and any(size > whole for size, whole in zip(self.sizes, self.operand, strict=True)):
            return "windows that fit into the operand"
        if any(self.sizes[dim] != 1 for dim in collapsed) or any(self.sizes[dim] > 1 for dim in batching):
            return "windows of length 1 in the dimensions that are dropped"
        return None


def _are_increasing(dims: Shape, limit: int) -> bool:
    return all(0 <= dim < limit for dim in dims) and all(a < b for a, b in pairwise(dims))


def _are_different(dims: Shape, limit: int) -> bool:
    return all(0 <= dim < limit for dim in dims) and len(set(dims)) == len(dims)


def check_indices(name: str, indices: ShapedArray) -> None:
    """Raises ArgumentTypeError if index vectors are not of an integer dtype."""
    if indices.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name}: expected integers as indices, got {indices}; convert with astype(int)")


def windows_of_updates(operand: Shape, indices: Shape, updates: Shape, numbers: DimensionNumbers) -> Windows:
    """Returns the windows that updates of a shape are written to, not checked."""
    named = GatherDimensionNumbers(*numbers)
    sizes = []
    offsets = iter(named.offset_dims)
    for dim in range(len(operand)):
        if dim in named.operand_batching_dims:
            sizes.append(min(operand[dim], 1))
        elif dim in named.collapsed_slice_dims:
            sizes.append(1)
        else:
            offset = next(offsets, None)
            sizes.append(updates[offset] if offset is not None and 0 <= offset < len(updates) else -1)
    return Windows(operand, indices, tuple(sizes), named)


# For laws


def window_start(windows: Windows, indices: Any, where: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Returns the start of the window ``where`` in the array of windows, and the last one that is inside."""
    numbers, starts = windows.numbers, [0] * len(windows.operand)
    for dim, start in zip(numbers.start_index_map, indices[where].tolist(), strict=True):
        starts[dim] = start
    for dim, index_dim in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
        starts[dim] = where[index_dim]
    return starts, [size - width for size, width in zip(windows.operand, windows.sizes, strict=True)]


def draw_windows(choose: Choose) -> Windows:
    """Draws windows of a small operand, with batching dimensions and dimensions of every role."""
    rank = choose.one_of((1, 2, 3, 2, 3, 0))
    roles = [choose.one_of(("collapsed", "window", "full", "batching")) for _ in range(rank)]
    if roles.count("batching") > 1:
        roles = [role if role != "batching" or dim == roles.index(role) else "full" for dim, role in enumerate(roles)]
    operand = tuple([choose.one_of((2, 3, 4, 1, 1 if role in ("collapsed", "window") else 0)) for role in roles])
    sizes = tuple([_draw_width(choose, role, size) for role, size in zip(roles, operand, strict=True)])
    mapped = [
        dim for dim, role in enumerate(roles) if role == "collapsed" or (role == "window" and choose.integer(0, 3))
    ]
    if len(mapped) > 1 and choose.integer(0, 1):
        mapped.reverse()
    # Most samples have windows, so that they test something.
    batch = [choose.one_of((1, 2, 3, 2, 3, 0)) for _ in range(choose.integer(0, 2))]
    batching = tuple([dim for dim, role in enumerate(roles) if role == "batching"])
    index_batching: Shape = ()
    for dim in batching:
        position = choose.integer(0, len(batch))
        batch.insert(position, operand[dim])
        index_batching = (position,)
    kept = sum(role in ("window", "full") for role in roles)
    offsets: list[int] = []
    for dim in range(kept + len(batch)):
        left = kept + len(batch) - dim
        if len(offsets) < kept and choose.integer(1, left) <= kept - len(offsets):
            offsets.append(dim)
    collapsed = tuple([dim for dim, role in enumerate(roles) if role == "collapsed"])
    numbers = GatherDimensionNumbers(tuple(offsets), collapsed, tuple(mapped), batching, index_batching)
    return Windows(operand, (*batch, len(mapped)), sizes, numbers)


def _draw_width(choose: Choose, role: str, size: int) -> int:
    if role == "window":
        return choose.one_of((1, size, max(size - 1, 0), 0))
    return size if role == "full" else min(size, 1)


def has_one_window(windows: Windows) -> bool:
    """Returns whether each batch element has at most one window, so that its indices are sorted and unique."""
    counted = [size for dim, size in enumerate(windows.batch) if dim not in windows.numbers.start_indices_batching_dims]
    return math.prod(counted) <= 1


def shifted(dims: Sequence[int]) -> Shape:
    """Returns dimensions after the insertion of a batch dimension in front."""
    return tuple([dim + 1 for dim in dims])
