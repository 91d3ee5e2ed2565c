"""Indices of primitives that read or write windows of an array: where a window starts, and where it may at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy

from lawful import numpy as lawful_numpy
from lawful.core import ShapedArray, get_aval
from lawful.ops import GatherDimensionNumbers


class Starts(NamedTuple):
    """The first positions of windows.

    Attributes:
      indices: int64 of shape ``(windows, dimensions)``.
      dims: the dimensions of the array that they count in.
      greatest: for each of these the last position at which a window is inside.
    """

    indices: Any
    dims: tuple[int, ...]
    greatest: tuple[int, ...]


def _of_slice(sizes: Sequence[int], shape: Sequence[int], starts: Sequence[Any]) -> Starts:
    indices = (
        lawful_numpy.stack([lawful_numpy.asarray(x, numpy.int64) for x in starts]) if starts else numpy.zeros(0, int)
    )
    greatest = tuple([length - size for length, size in zip(shape, sizes, strict=True)])
    return Starts(lawful_numpy.reshape(indices, (1, len(shape))), tuple(range(len(shape))), greatest)


def _dynamic_slice(x: Any, *starts: Any, slice_sizes: Sequence[int], **_: Any) -> Starts:
    return _of_slice(slice_sizes, get_aval(x).shape, starts)


def _dynamic_update_slice(x: Any, update: Any, *starts: Any, **_: Any) -> Starts:
    return _of_slice(get_aval(update).shape, get_aval(x).shape, starts)


def _of_windows(x: Any, indices: Any, sizes: Sequence[int], dims: tuple[int, ...]) -> Starts:
    shape = get_aval(x).shape
    flat = lawful_numpy.reshape(lawful_numpy.asarray(indices, numpy.int64), (-1, len(dims)) if dims else (0, 0))
    return Starts(flat, dims, tuple([shape[dim] - sizes[dim] for dim in dims]))


def _gather(x: Any, indices: Any, *, dimension_numbers: Any, slice_sizes: Sequence[int], **_: Any) -> Starts:
    return _of_windows(x, indices, slice_sizes, GatherDimensionNumbers(*dimension_numbers).start_index_map)


def _scatter(x: Any, indices: Any, updates: Any, *, dimension_numbers: Any, **_: Any) -> Starts:
    numbers = GatherDimensionNumbers(*dimension_numbers)  # those of a scatter have the same order
    offsets, lengths = iter(numbers.offset_dims), get_aval(updates).shape
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    sizes = [1 if dim in dropped else lengths[next(offsets)] for dim in range(get_aval(x).ndim)]
    return _of_windows(x, indices, sizes, numbers.start_index_map)


#: By primitive, the first positions of the windows that an equation reads or writes, from its operands and parameters.
STARTS: Final[dict[str, Callable[..., Starts]]] = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    **{f"scatter{suffix}": _scatter for suffix in ("", "_add", "_sub", "_mul", "_min", "_max")},
}


#: The types of an index that is outside, its dimension, and the length of that.
OUTSIDE_AVALS: Final = [ShapedArray((), numpy.dtype(numpy.int64))] * 3


def first_outside(starts: Starts, shape: Sequence[int]) -> tuple[Any, tuple[Any, Any, Any]]:
    """Returns whether all windows are inside, and else the first index that is not, its dimension and the length of it.

    >>> starts = Starts(numpy.array([[1, 0], [5, 0]]), (0, 1), (2, 0))
    >>> first_outside(starts, (3, 1))
    (np.False_, (array(5), array(0), array(3)))
    """
    indices, dims, greatest = starts
    if not get_aval(indices).size:
        zero = numpy.int64(0)
        return numpy.True_, (zero, zero, zero)
    is_outside = lawful_numpy.reshape((indices < 0) | (indices > numpy.array(greatest)), -1)
    position = lawful_numpy.argmax(is_outside)
    column = position % len(dims)
    lengths = numpy.array([shape[dim] for dim in dims])
    taken = [(lawful_numpy.reshape(indices, -1), position), (numpy.array(dims), column), (lengths, column)]
    index, dim, length = [lawful_numpy.take(values, at, mode="clip") for values, at in taken]
    return lawful_numpy.logical_not(lawful_numpy.any(is_outside)), (index, dim, length)
