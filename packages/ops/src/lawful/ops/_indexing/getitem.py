"""NumPy's indexing: ``x[index]`` of tracers and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful import ops
from lawful.core import Hook, Tracer, get_aval, register_dispatch_module, to_numpy
from lawful.ops._indexing.gather_scatter.gather import gather
from lawful.ops._indexing.gather_scatter.windows import GatherDimensionNumbers
from lawful.ops._indexing.index import Index, index_vectors, parse_index
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.slicing import rev
from lawful.ops._shape.slicing import slice as slice_op
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.eager import is_eager

register_dispatch_module(__name__)

__all__ = ["getitem"]


def getitem(x: Any, index: Any) -> Any:
    """Returns ``x[index]`` by NumPy's indexing.

    Args:
      x: an array.
      index: an integer, slice, ``...``, ``None``, an array of integers or booleans, or a tuple of those. The
        integers may be traced, also those of arrays; what decides the shape of the result may not: the ends of
        slices, and booleans.

    Known integers are inside of the array, or it is an error. A traced one that is outside is moved inside, as in
    JAX; ``x.at[index].get(mode="fill")`` gives NaN there.

    Raises:
      ArgumentIndexError: an integer is outside of the array, there are too many, or something is no index.
      ArgumentTypeError: the end of a slice is a tracer whose value is not known.
      TracerBoolConversionError: a boolean array is a tracer whose values are not known.

    >>> import numpy as np
    >>> getitem(np.arange(12).reshape(3, 4), np.s_[-1, ::-2])
    array([11,  9])
    >>> getitem(np.arange(12).reshape(3, 4), np.s_[:, np.array([0, 3])])
    array([[ 0,  3],
           [ 4,  7],
           [ 8, 11]])
    """
    return getitem_hook.use(x, index)


def _getitem(x: Any, index: Any) -> Any:
    parsed = parse_index(get_aval(x).shape, index)
    if is_eager(x) and not any([isinstance(where, Tracer) for where in parsed.positions.values()]):
        return _read_numpy(np.asarray(x), index)
    return read(x, parsed)


getitem_hook: Final[Hook[Callable[[Any, Any], Any]]] = Hook("indexing", _getitem)


def _read_numpy(x: np.ndarray[Any, Any], index: Any) -> Any:
    """Returns NumPy's result for an index without traced values; device arrays in it become NumPy arrays."""

    def known(entry: Any) -> Any:
        if isinstance(entry, Tracer):
            return entry.concrete()
        is_plain = entry is None or entry is Ellipsis or isinstance(entry, slice | list | tuple | int | np.ndarray)
        return entry if is_plain else np.asarray(to_numpy(entry))[()]

    return np.asarray(x[tuple(map(known, index)) if isinstance(index, tuple) else known(index)])


def read(
    x: Any,
    index: Index,
    *,
    mode: str | None = None,
    fill_value: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
) -> Any:
    """Returns the elements of ``x`` at a parsed index.

    Args:
      x: an array.
      index: the index.
      mode: the mode of `gather` for positions that may be outside; by default the nearest position is read.
      fill_value: as in `gather`.
      unique_indices: a promise that no position is repeated.
      indices_are_sorted: a promise.
    """
    x = sliced(reshape(x, index.shape) if index.inserted else x, index)
    known = {dim: where for dim, where in index.positions.items() if type(where) is int and dim not in index.inserted}
    if len(known) == len(index.positions):
        return expand_dims(squeeze(x, tuple(known)), index.new_dims)
    x = squeeze(x, tuple(known))
    dims = [dim for dim in range(len(index.shape)) if dim not in known]
    looked_up = {dims.index(dim): where for dim, where in index.positions.items() if dim not in known}
    mode = mode or ("promise_in_bounds" if index.in_bounds else "clip")
    if mode == "clip" and not index.looked_up and all(get_aval(where).shape == () for where in looked_up.values()):
        out = _at_scalars(x, looked_up)
    else:
        read_at = tuple(sorted(looked_up))
        vectors = index_vectors([looked_up[dim] for dim in read_at], index.looked_up)
        out = gathered(
            x,
            index,
            read_at,
            vectors,
            mode=mode,
            fill_value=fill_value,
            unique_indices=unique_indices,
            indices_are_sorted=indices_are_sorted,
        )
    return expand_dims(out, index.new_dims)


def sliced(x: Any, index: Index) -> Any:
    """Returns the slices of ``x``; a known position is a slice of length 1."""
    starts, limits, strides, reversed_dims = spans(index)
    return rev(slice_op(x, starts, limits, strides), reversed_dims)


def spans(index: Index) -> tuple[list[int], list[int], list[int], list[int]]:
    """Returns the starts, limits and strides of the slices of each dimension, and which are reversed afterwards."""
    starts, limits, strides, reversed_dims = [], [], [], []
    for dim, size in enumerate(index.shape):
        where = index.positions.get(dim)
        chosen = range(where, where + 1) if type(where) is int else index.slices.get(dim, range(size))
        start, limit, stride = _span(chosen)
        starts.append(start)
        limits.append(limit)
        strides.append(stride)
        if chosen.step < 0:
            reversed_dims.append(dim)
    return starts, limits, strides, reversed_dims


def _span(chosen: range) -> tuple[int, int, int]:
    """Returns ``(start, limit, stride)`` of the slice with the indices of a range, in increasing order."""
    if not chosen:
        return 0, 0, 1
    start, last = sorted((chosen[0], chosen[-1]))
    return start, last + 1, abs(chosen.step)


def _at_scalars(x: Any, positions: dict[int, Any]) -> Any:
    """Returns the elements at scalar positions of some dimensions."""
    shape = get_aval(x).shape
    starts = [positions.get(dim, 0) for dim in range(len(shape))]
    sizes = [1 if dim in positions else size for dim, size in enumerate(shape)]
    return squeeze(ops.dynamic_slice(x, starts, sizes, allow_negative_indices=False), tuple(positions))


def gathered(x: Any, index: Index, dims: tuple[int, ...], vectors: Any, **settings: Any) -> Any:
    """Returns the elements of ``x`` at index vectors, without new dimensions.

    Args:
      x: an array without the dimensions that have one known position.
      index: the index.
      dims: the dimensions of ``x`` that the vectors are positions in.
      vectors: the vectors, of the shape ``(*index.looked_up, len(dims))``.
      settings: the keyword arguments of `gather`.
    """
    shape = get_aval(x).shape
    start = sum(dim is not None for dim in index.kept[: index.lookup_start])
    windows = len(shape) - len(dims)
    offsets = tuple([dim + (len(index.looked_up) if dim >= start else 0) for dim in range(windows)])
    sizes = tuple([1 if dim in dims else size for dim, size in enumerate(shape)])
    return gather(x, vectors, GatherDimensionNumbers(offsets, dims, dims), sizes, **settings)


# A wrapper of it has no frame of this module: see `register_dispatch_module`.
getitem.__module__ = "lawful.ops"
