"""NumPy's indexing: ``x[index]`` of tracers and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import Tracer, cached_function, current, get_aval, record, to_numpy
from lawful.ops._composite import Composite
from lawful.ops._elementwise.declaration import is_eager
from lawful.ops._indexing.dynamic_slice import dynamic_slice_p
from lawful.ops._indexing.gather import gather
from lawful.ops._indexing.index import Index, index_vectors, parse_index
from lawful.ops._indexing.windows import GatherDimensionNumbers
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.slicing import rev
from lawful.ops._shape.slicing import slice as slice_op
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.structural import Shape, strong

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

    >>> getitem(np.arange(12).reshape(3, 4), (-1, slice(None, None, -2)))
    array([11,  9])
    >>> getitem(np.arange(12).reshape(3, 4), (slice(None), np.array([0, 3])))
    array([[ 0,  3],
           [ 4,  7],
           [ 8, 11]])
    """
    if type(x) is np.ndarray and is_eager(x) and all(map(_is_plain, index if type(index) is tuple else (index,))):
        try:
            return np.asarray(x[index])
        except (IndexError, TypeError, ValueError):
            pass  # the path below says what is wrong
    shape = get_aval(x).shape
    is_eagerly_traced = current.trace.evaluates_constants and isinstance(x, Tracer)
    if is_eagerly_traced:
        if type(index) is int and shape and -shape[0] <= index < shape[0]:
            return _row(x, shape, index)
        entries = index if type(index) is tuple else (index,)
        if all(map(_is_static, entries)):
            found = _static(shape, entries)
            return found.of(x) if isinstance(found, _Part) else read(x, found)
        if 0 not in shape and all([_is_static(entry) or _is_look_up(entry) for entry in entries]):
            out = _look_up_inside(x, shape, entries)
            if out is not None:
                return out
    parsed = parse_index(shape, index)
    if is_eager(x) and all(not isinstance(where, Tracer) for where in parsed.positions.values()):
        return _eager(np.asarray(x), index)
    if is_eagerly_traced:
        return (_slice_eagerly if parsed.is_basic else _look_up_eagerly)(x, parsed)
    return read(x, parsed)


_START = np.int64(0)


def _row(x: Tracer, shape: Shape, index: int) -> Any:
    """Returns what a `_Part` does, of a number alone: a loop over rows has another one in each turn."""
    if shape[0] == 1:
        return _slice_at.of_integers([x], shape, (), (0,), ())
    starts = [np.int64(index % shape[0])] + [_START] * (len(shape) - 1)
    return _slice_at.of_integers([x, *starts], (1, *shape[1:]), (), (0,), ())


def _is_look_up(entry: Any) -> bool:
    """Whether an entry of an index is an array of integers as most are."""
    return type(entry) is np.ndarray and entry.dtype.kind == "i" and entry.ndim > 0


def _look_up_inside(x: Tracer, shape: Shape, entries: tuple[Any, ...]) -> Any:
    """Returns what ``read`` gives of an index with arrays of integers; None if one is outside of the array."""
    arrays = [entry for entry in entries if type(entry) is np.ndarray]
    layout, sizes = _looked_up_at(shape, tuple([_Lookup(e.shape) if type(e) is np.ndarray else e for e in entries]))
    found = iter(arrays)
    positions: list[Any] = []
    for size, known in sizes:
        if known is not None:
            positions.append(known)
            continue
        where = next(found).astype(np.int64)
        if where.size:
            lowest = np.minimum.reduce(where, None)
            if lowest < -size or np.maximum.reduce(where, None) >= size:
                return None
            if lowest < 0:
                where[where < 0] += size
        positions.append(where)
    return _looked_up.of_integers([x, *positions], *layout)


@record
class _Lookup:
    """What stands for an array of integers of a shape, in an index."""

    shape: Shape


@cached_function("indices with arrays", 1024)
def _looked_up_at(shape: Shape, entries: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[tuple[int, Any]]]:
    """Returns what an index with arrays means whatever they hold, and of each position its length and known value."""
    index = parse_index(shape, tuple([np.zeros(e.shape, np.int64) if type(e) is _Lookup else e for e in entries]))
    known = [np.int64(where) if type(where) is int else None for where in index.positions.values()]
    return _layout_of(index), [(shape[dim], value) for dim, value in zip(index.positions, known, strict=True)]


def _look_up_eagerly(x: Tracer, index: Index) -> Any:
    """Returns what ``read`` gives of an index with arrays, from these as data."""
    if index.inserted or any([isinstance(where, Tracer) for where in index.positions.values()]):
        return read(x, index)
    arrays = [np.asarray(where, np.int64) for where in index.positions.values()]
    return _looked_up.of_integers([x, *arrays], *_layout_of(index))


def _layout_of(index: Index) -> tuple[Any, ...]:
    """Returns what an index says beside its positions, as the settings of ``_looked_up``."""
    slices = tuple([(dim, chosen.start, chosen.stop, chosen.step) for dim, chosen in index.slices.items()])
    return tuple(index.positions), slices, index.looked_up, index.place, index.kept, index.in_bounds


def _looked_up_plainly(
    arrays: Sequence[Any],
    dims: Shape,
    slices: tuple[tuple[int, int, int, int], ...],
    looked_up: Shape,
    place: int,
    kept: tuple[int | None, ...],
    in_bounds: bool,
) -> Any:
    x, *positions = arrays
    index = Index(
        shape=get_aval(x).shape,
        inserted=(),
        slices={dim: range(start, stop, step) for dim, start, stop, step in slices},
        positions=dict(zip(dims, positions, strict=True)),
        looked_up=looked_up,
        place=place,
        kept=kept,
        in_bounds=in_bounds,
    )
    return read(x, index)


_looked_up = Composite(_looked_up_plainly, sequence=True)


def _slice_eagerly(x: Tracer, index: Index) -> Any:
    """Returns what ``read`` gives, from positions as data where it can be."""
    part = _part(index)
    return read(x, index) if part is None else part.of(x)


@record
class _Part:
    """What an index without arrays chooses, with its positions as data: what is derived of one does for all.

    Attributes:
      starts: where the slices start; none where all of each dimension is chosen.
      layout: the sizes of the slices, which are reversed, which are dropped, and which dimensions are new.
    """

    starts: tuple[np.int64, ...]
    layout: tuple[Shape, Shape, Shape, Shape]

    def of(self, x: Tracer) -> Any:
        """Returns the part of an array."""
        return _slice_at.of_integers([x, *self.starts], *self.layout)


def _part(index: Index) -> _Part | None:
    """Returns what an index chooses; None if it leaves elements out between others."""
    starts, limits, strides, reversed_dims = _spans(index)
    if max(strides, default=1) > 1:
        return None
    sizes = tuple([limit - start for start, limit in zip(starts, limits, strict=True)])
    known = () if sizes == index.shape else tuple(map(np.int64, starts))
    return _Part(known, (sizes, tuple(reversed_dims), tuple(index.positions), index.new_dims))


@cached_function("static indices", 1024)
def _static(shape: Shape, entries: tuple[Any, ...]) -> _Part | Index:
    index = parse_index(shape, entries)
    return _part(index) or index


def _slice_plainly(arrays: Sequence[Any], sizes: Shape, reversed_dims: Shape, dropped: Shape, new_dims: Shape) -> Any:
    x, *starts = arrays
    x = dynamic_slice_p.bind(strong(x), *starts, slice_sizes=sizes) if starts else x
    return expand_dims(squeeze(rev(x, reversed_dims), dropped), new_dims)


_slice_at = Composite(_slice_plainly, sequence=True)


def _is_static(entry: Any) -> bool:
    """Whether an entry of an index is told by its value: of others, such as True, equal ones may mean another thing."""
    if type(entry) is slice:
        return type(entry.start) in _ENDS and type(entry.stop) in _ENDS and type(entry.step) in _ENDS
    return entry is None or entry is Ellipsis or type(entry) is int


_ENDS = (int, type(None))


def _is_plain(entry: Any) -> bool:
    """Whether NumPy itself takes an entry of an index; it asks a tracer for its value, which then is known."""
    return entry is None or type(entry) in (int, slice, np.ndarray, EllipsisType)


def _eager(x: np.ndarray[Any, Any], index: Any) -> Any:
    """Returns what NumPy gives, of an index without tracers; device arrays are seen as NumPy's."""

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
      mode: what is read at positions that may be outside, as in `gather`; by default the nearest.
      fill_value: as in `gather`.
      unique_indices: a promise that no position is repeated.
      indices_are_sorted: a promise.
    """
    x = _sliced(reshape(x, index.shape) if index.inserted else x, index)
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
        out = _gathered(x, index, looked_up, mode, fill_value, unique_indices, indices_are_sorted)
    return expand_dims(out, index.new_dims)


def _sliced(x: Any, index: Index) -> Any:
    """Returns the slices of ``x``; a known position is a slice of one element."""
    starts, limits, strides, reversed_dims = _spans(index)
    return rev(slice_op(x, starts, limits, strides), reversed_dims)


def _spans(index: Index) -> tuple[list[int], list[int], list[int], list[int]]:
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
    """Returns what stands at scalar positions of some dimensions."""
    shape = get_aval(x).shape
    starts = [positions.get(dim, 0) for dim in range(len(shape))]
    sizes = [1 if dim in positions else size for dim, size in enumerate(shape)]
    return squeeze(ops.dynamic_slice(x, starts, sizes, allow_negative_indices=False), tuple(positions))


def _gathered(
    x: Any,
    index: Index,
    positions: dict[int, Any],
    mode: str,
    fill_value: Any,
    unique_indices: bool,
    indices_are_sorted: bool,
) -> Any:
    shape = get_aval(x).shape
    batch = index.looked_up
    place = sum(dim is not None for dim in index.kept[: index.place])
    windows = len(shape) - len(positions)
    offsets = tuple([dim + (len(batch) if dim >= place else 0) for dim in range(windows)])
    dims = tuple(sorted(positions))
    return gather(
        x,
        index_vectors([positions[dim] for dim in dims], batch),
        GatherDimensionNumbers(offsets, dims, dims),
        tuple([1 if dim in positions else size for dim, size in enumerate(shape)]),
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
        mode=mode,
        fill_value=fill_value,
    )
