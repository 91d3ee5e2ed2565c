"""Indexing of values and of tracers with known values.

Values go to NumPy. For a tracer, the positions of an index become operands of a composite, so that one cached program
serves all positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final

import numpy as np

from lawful.core import Tracer, cached_function, current, get_aval, record, register_dispatch_module
from lawful.ops._composite import Composite
from lawful.ops._indexing.dynamic_slice import dynamic_slice_p
from lawful.ops._indexing.getitem import gathered, getitem_hook, read, sliced, spans
from lawful.ops._indexing.index import Index, parse_index
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.slicing import rev
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.eager import is_eager_array
from lawful.ops._support.structural import Shape, strong

register_dispatch_module(__name__)

_START: Final = np.int64(0)
_INTEGERS: Final = {int}
_ENDS: Final = (int, type(None))


def getitem(x: Any, index: Any) -> Any:
    """Returns ``x[index]`` as `lawful.ops.getitem` does."""
    if isinstance(x, Tracer):
        return _getitem_traced(x, index) if current.trace.evaluates_constants else getitem_hook.plain(x, index)
    if is_eager_array(x) and all(map(_is_plain, index if type(index) is tuple else (index,))):
        try:
            return np.asarray(x[index])
        except (IndexError, TypeError, ValueError):
            pass  # the plain function raises the error
    return getitem_hook.plain(x, index)


def _is_plain(entry: Any) -> bool:
    """Whether NumPy itself takes an entry of an index."""
    return entry is None or type(entry) in (int, slice, np.ndarray, EllipsisType)


def _getitem_traced(x: Tracer, index: Any) -> Any:
    shape = x.aval.shape
    if type(index) is int and shape and -shape[0] <= index < shape[0]:
        return _row(x, shape, index)
    if type(index) is list and set(map(type, index)) == _INTEGERS:
        index = np.array(index)
    if type(index) is np.ndarray and index.ndim and shape and (where := _rows_inside(shape[0], index)) is not None:
        return _rows_at(x, where)
    entries = index if type(index) is tuple else (index,)
    if all(map(_is_static, entries)):
        found = _static(shape, entries)
        return found.of(x) if isinstance(found, _Part) else read(x, found)
    if 0 not in shape and all([_is_static(entry) or _is_look_up(entry) for entry in entries]):
        out = _look_up_inside(x, shape, entries)
        if out is not None:
            return out
    parsed = parse_index(shape, index)
    if not parsed.is_basic:
        return _look_up(x, parsed)
    part = _part(parsed)
    return read(x, parsed) if part is None else part.of(x)


# Indices without arrays


@record
class _Part:
    """The elements that an index without arrays chooses; positions are operands, so that they share one program.

    Attributes:
      starts: the starts of the slices; empty if each dimension is whole.
      layout: the sizes of the slices, and the dimensions that are reversed, dropped, and new.
    """

    starts: tuple[np.int64, ...]
    layout: tuple[Shape, Shape, Shape, Shape]

    def of(self, x: Tracer) -> Any:
        """Returns the part of an array."""
        return _slice_at.of_integers([x, *self.starts], *self.layout)


def _row(x: Tracer, shape: Shape, index: int) -> Any:
    """Returns ``x[index]`` for one integer, without a cache entry for each integer."""
    if shape[0] == 1:
        return _slice_at.of_integers([x], shape, (), (0,), ())
    return _row_at(x, np.int64(index % shape[0]))


def _row_of(x: Any, index: Any) -> Any:
    sizes = (1, *get_aval(x).shape[1:])
    return squeeze(dynamic_slice_p.bind(strong(x), index, *[_START] * (len(sizes) - 1), slice_sizes=sizes), (0,))


_row_at: Final = Composite(_row_of, arrays=2)


def _part(index: Index) -> _Part | None:
    """Returns the part that an index chooses; None if a stride is greater than 1."""
    starts, limits, strides, reversed_dims = spans(index)
    if max(strides, default=1) > 1:
        return None
    sizes = tuple([limit - start for start, limit in zip(starts, limits, strict=True)])
    known = () if sizes == index.shape else tuple(map(np.int64, starts))
    return _Part(known, (sizes, tuple(reversed_dims), tuple(index.positions), index.new_dims))


@cached_function("static indices", 1024)
def _static(shape: Shape, entries: tuple[Any, ...]) -> _Part | Index:
    index = parse_index(shape, entries)
    return _part(index) or index


def _is_static(entry: Any) -> bool:
    """Whether an entry is None, ``...``, an integer or a slice of integers. True equals 1, but means something else."""
    if type(entry) is slice:
        return type(entry.start) in _ENDS and type(entry.stop) in _ENDS and type(entry.step) in _ENDS
    return entry is None or entry is Ellipsis or type(entry) is int


def _slice(arrays: Sequence[Any], sizes: Shape, reversed_dims: Shape, dropped: Shape, new_dims: Shape) -> Any:
    x, *starts = arrays
    x = dynamic_slice_p.bind(strong(x), *starts, slice_sizes=sizes) if starts else x
    return expand_dims(squeeze(rev(x, reversed_dims), dropped), new_dims)


_slice_at: Final = Composite(_slice, sequence=True)


# Indices with arrays


def _is_look_up(entry: Any) -> bool:
    """Whether an entry of an index is an array of signed integers."""
    return type(entry) is np.ndarray and entry.dtype.kind == "i" and entry.ndim > 0


def _rows_inside(size: int, index: np.ndarray[Any, Any]) -> Any:
    """Returns the positions in the first dimension that an array chooses; None unless all are known to be inside."""
    if index.dtype.kind == "i":
        where = index.astype(np.int64)
        if where.size and np.maximum.reduce(where.view(np.uint64), None) >= size:  # a negative number is a large one
            return None
    elif index.dtype.kind == "b" and index.shape == (size,):
        where = index.nonzero()[0].copy()  # of its own memory, to be kept as it is
    else:
        return None
    where.flags.writeable = False
    return where


def _rows_of(x: Any, where: Any, dims: int = 1) -> Any:
    shape = get_aval(x).shape
    sizes = (math.prod(shape[:dims]), *shape[dims:])
    rest = range(1, len(sizes))
    index = Index(
        shape=sizes,
        inserted=(),
        slices={dim: range(sizes[dim]) for dim in rest},
        positions={0: where},
        looked_up=get_aval(where).shape,
        lookup_start=0,
        kept=tuple(rest),
        in_bounds=True,
    )
    return read(reshape(x, sizes), index)


_rows_at: Final = Composite(_rows_of, arrays=2)
#: The same of several first dimensions as one.
_points_at: Final = Composite(lambda arrays, dims: _rows_of(arrays[0], arrays[1], dims), sequence=True)


def _look_up_inside(x: Tracer, shape: Shape, entries: tuple[Any, ...]) -> Any:
    """Returns ``x[entries]`` for an index with arrays of integers; None if a position is outside of the array."""
    arrays = [entry for entry in entries if type(entry) is np.ndarray]
    entries = tuple([entry.shape if type(entry) is np.ndarray else entry for entry in entries])
    layout, is_of_first, sizes = _looked_up_at(shape, entries)
    found = iter(arrays)
    positions: list[Any] = []
    for size, known in sizes:
        if known is not None:
            positions.append(known)
            continue
        where = next(found).astype(np.int64)
        if where.size and np.maximum.reduce(where.view(np.uint64), None) >= size:  # a negative number is a large one
            if np.minimum.reduce(where, None) < -size or np.maximum.reduce(where, None) >= size:
                return None
            where[where < 0] += size
        positions.append(where)
    if not is_of_first:
        return _at_vectors(x, positions, layout)
    where = positions[0]
    for (size, _), position in zip(sizes[1:], positions[1:], strict=True):
        where = where * size + position
    where.flags.writeable = False
    return _rows_at(x, where) if len(positions) == 1 else _points_at.of_integers([x, where], len(positions))


@cached_function("indices with arrays", 1024)
def _looked_up_at(shape: Shape, entries: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool, list[tuple[int, Any]]]:
    """Returns the layout of an index, whether it is of the first dimensions alone, and of each its length and position.

    Args:
      shape: of the array.
      entries: the index, with the shapes of arrays of positions. None is the position of a dimension that has one.
    """
    index = parse_index(shape, tuple([np.zeros(e, np.int64) if type(e) is tuple else e for e in entries]))
    known = [np.int64(where) if type(where) is int else None for where in index.positions.values()]
    count = len(known)
    is_of_first = tuple(index.positions) == tuple(range(count))
    is_of_first &= index.kept == tuple(range(count, len(shape)))
    is_of_first &= all([chosen == range(shape[dim]) for dim, chosen in index.slices.items()])
    sizes = [(shape[dim], value) for dim, value in zip(index.positions, known, strict=True)]
    return _layout_of(index), is_of_first, sizes


def _look_up(x: Tracer, index: Index) -> Any:
    """Returns the result of `read` for an index with arrays, which are operands of a composite if none is traced."""
    if index.inserted or any([isinstance(where, Tracer) for where in index.positions.values()]):
        return read(x, index)
    return _at_vectors(x, [*index.positions.values()], _layout_of(index))


def _at_vectors(x: Tracer, positions: Sequence[Any], layout: tuple[Any, ...]) -> Any:
    looked_up = layout[2]
    vectors = np.empty((*looked_up, len(positions)), np.int64)
    for i, where in enumerate(positions):
        vectors[..., i] = where
    vectors.flags.writeable = False
    return _looked_up.of_integers([x, vectors], *layout)


def _layout_of(index: Index) -> tuple[Any, ...]:
    """Returns an index without its positions, as the settings of ``_looked_up``."""
    slices = tuple([(dim, chosen.start, chosen.stop, chosen.step) for dim, chosen in index.slices.items()])
    return tuple(index.positions), slices, index.looked_up, index.lookup_start, index.kept, index.in_bounds


def _read_at(
    arrays: Sequence[Any],
    dims: Shape,
    slices: tuple[tuple[int, int, int, int], ...],
    looked_up: Shape,
    lookup_start: int,
    kept: tuple[int | None, ...],
    in_bounds: bool,
) -> Any:
    x, vectors = arrays
    index = Index(
        shape=get_aval(x).shape,
        inserted=(),
        slices={dim: range(start, stop, step) for dim, start, stop, step in slices},
        positions={},
        looked_up=looked_up,
        lookup_start=lookup_start,
        kept=kept,
        in_bounds=in_bounds,
    )
    mode = "promise_in_bounds" if in_bounds else "clip"
    return expand_dims(gathered(sliced(x, index), index, dims, vectors, mode=mode), index.new_dims)


_looked_up: Final = Composite(_read_at, sequence=True)
