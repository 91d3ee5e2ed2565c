"""Indices by NumPy's rules: their slices, the positions to look up, and the dimensions of the result."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentValueError,
    IndexTypeError,
    Tracer,
    TracerMaskError,
    get_aval,
    is_array,
    record,
    to_numpy,
)
from lawful.ops._indexing.dynamic_slice_functions import from_start
from lawful.ops._support.array_like import from_array_like
from lawful.ops._support.promotion import broadcast_to, convert
from lawful.ops._support.structural import Shape

#: An integer, an array of integers, or a tracer of either; counted from the start.
Positions = Any


@record
class Index:
    """An index of an array.

    Attributes:
      shape: the shape of the indexed array, with a new dimension of length 1 for each scalar boolean.
      inserted: those dimensions.
      slices: the chosen positions of each dimension that is sliced.
      positions: the positions that are looked up, of each other dimension.
      looked_up: the shape that all positions broadcast to.
      lookup_start: how many entries of ``kept`` come before the dimensions of that shape.
      kept: the sliced dimensions and None for each new one, in the order of the result.
      in_bounds: whether all positions are known to be inside the array.
    """

    shape: Shape
    inserted: Shape
    slices: dict[int, range]
    positions: dict[int, Positions]
    looked_up: Shape
    lookup_start: int
    kept: tuple[int | None, ...]
    in_bounds: bool

    @property
    def is_basic(self) -> bool:
        """Whether all positions are Python integers."""
        return not self.inserted and all(type(where) is int for where in self.positions.values())

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        sizes = [1 if dim is None else len(self.slices[dim]) for dim in self.kept]
        return (*sizes[: self.lookup_start], *self.looked_up, *sizes[self.lookup_start :])

    @property
    def new_dims(self) -> Shape:
        """The dimensions of the result that are new."""
        shift = len(self.looked_up)
        return tuple([i + (shift if i >= self.lookup_start else 0) for i, dim in enumerate(self.kept) if dim is None])


def parse_index(shape: Shape, index: Any, *, strict: bool = True, wrap: bool = True) -> Index:
    """Returns the parsed index of an array of a shape.

    Args:
      shape: the shape.
      index: integers, slices, ``...``, ``None``, arrays of integers or booleans, or a tuple of those.
      strict: whether known positions must be inside.
      wrap: whether negative positions are counted from the end.

    Raises:
      ArgumentIndexError: as NumPy's IndexError.
      ArgumentTypeError: a slice has ends that are not known.
      ArgumentValueError: a step is 0, or the shapes of arrays do not broadcast together.
      TracerBoolConversionError: a boolean array is traced.
    """
    entries = list(_entries(index))
    count = sum(_dims_of(entry) for entry in entries)
    ellipses = sum(entry is Ellipsis for entry in entries)
    if count > len(shape) or ellipses > 1:
        raise ArgumentIndexError(
            f"index: expected at most one ... and an index for each of {len(shape)} dimensions, got {ellipses} ... "
            f"and {count} indices; leave out {'one ...' if ellipses > 1 else count - len(shape)}"
        )
    if not ellipses:
        entries.append(Ellipsis)
    return _Parser(shape, strict, wrap).parse(entries, len(shape) - count)


class _Parser:
    """Reads the entries of an index together with the dimensions that they index."""

    def __init__(self, shape: Shape, strict: bool, wrap: bool) -> None:
        self.shape, self.strict, self.wrap = shape, strict, wrap
        self.sizes: list[int] = []
        self.read = 0
        self.inserted: list[int] = []
        self.slices: dict[int, range] = {}
        self.positions: dict[int, Positions] = {}
        self.kept: list[int | None] = []
        self.in_bounds = True
        # The error of an array with positions outside; as in NumPy, ignored if the arrays broadcast to no elements.
        self.outside: ArgumentIndexError | None = None
        # The start of the integers and arrays among the entries, and whether slices separate them.
        self.lookup_start: int | None = None
        self.ended = self.is_split = False

    def parse(self, entries: list[Any], rest: int) -> Index:
        for entry in entries:
            if entry is None:
                self._keep(None)
            elif entry is Ellipsis:
                self.ended = self.lookup_start is not None
                for _ in range(rest):
                    self._keep_slice(slice(None))
            elif isinstance(entry, slice):
                self._keep_slice(entry)
            else:
                self._look_up(entry)
        arrays = [where for where in self.positions.values() if type(where) is not int]
        shapes = [get_aval(where).shape for where in arrays]
        has_arrays = any(shapes) or bool(self.inserted)
        try:
            looked_up = np.broadcast_shapes(*shapes)
        except ValueError as error:
            raise ArgumentIndexError(
                f"index: expected arrays whose shapes broadcast together, got {' and '.join(map(str, shapes))}; "
                "reshape one, or index with numpy.ix_ for all combinations"
            ) from error
        if self.outside is not None and 0 not in looked_up:
            raise self.outside
        return Index(
            shape=tuple(self.sizes),
            inserted=tuple(self.inserted),
            slices=self.slices,
            positions=self.positions,
            looked_up=looked_up,
            lookup_start=0 if self.lookup_start is None or (has_arrays and self.is_split) else self.lookup_start,
            kept=tuple(self.kept),
            in_bounds=self.in_bounds,
        )

    def _next(self) -> tuple[int, int]:
        """Returns the number and length of the next dimension."""
        size = self.shape[self.read]
        self.read += 1
        self.sizes.append(size)
        return len(self.sizes) - 1, size

    def _keep(self, dim: int | None) -> None:
        self.ended = self.lookup_start is not None
        self.kept.append(dim)

    def _keep_slice(self, chosen: slice) -> None:
        dim, size = self._next()
        self.slices[dim] = range(size)[chosen]
        self._keep(dim)

    def _look_up(self, entry: Any) -> None:
        if self.lookup_start is None:
            self.lookup_start = len(self.kept)
        elif self.ended:
            self.is_split = True
        if type(entry) is bool:
            self.sizes.append(1)
            dim = len(self.sizes) - 1
            self.inserted.append(dim)
            self.positions[dim] = np.zeros(int(entry), np.int64)
        elif isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
            self._mask(entry)
        else:
            dim, size = self._next()
            # Errors name the dimension of the user's array.
            self.positions[dim] = self._position(entry, self.read - 1, size)

    def _mask(self, mask: np.ndarray[Any, Any]) -> None:
        require_mask_shape(mask.shape, self.shape[self.read : self.read + mask.ndim])
        for where in mask.nonzero():
            dim, _ = self._next()
            self.positions[dim] = where

    def _position(self, entry: Any, dim: int, size: int) -> Positions:
        if isinstance(entry, Tracer):
            if not size and get_aval(entry).size and self.strict:
                raise ArgumentIndexError(
                    f"index: expected a dimension with elements, got dimension {dim} of the shape {self.shape}; "
                    "there is nothing to choose"
                )
            self.in_bounds = False
            narrow = get_aval(entry).dtype
            if narrow.itemsize < 4 or (narrow.itemsize < 8 and size > np.iinfo(narrow).max):
                entry = convert(entry, np.dtype(np.int32 if size <= np.iinfo(np.int32).max else np.int64))
            return from_start(entry, size) if self.wrap else entry
        lowest = -size if self.wrap else 0
        if type(entry) is int and lowest <= entry < size:
            return entry + size if entry < 0 else entry
        values = np.asarray(entry)
        outside = (values < lowest) | (values >= size)
        if outside.any():
            if self.strict:
                error = _outside(values[outside].reshape(-1)[0], lowest, dim, self.shape)
                if type(entry) is int:
                    raise error
                self.outside = self.outside or error
            self.in_bounds = False
        values = np.clip(values, -size - 1, size) if values.dtype.kind == "u" else values
        values = values.astype(np.int64) if type(entry) is not int else np.asarray(min(max(entry, -size - 1), size))
        return np.where(values < 0, values + size, values) if self.wrap else values


def _outside(found: Any, lowest: int, dim: int, shape: Shape) -> ArgumentIndexError:
    return ArgumentIndexError(
        f"index: expected an integer from {lowest} to {shape[dim] - 1} for dimension {dim} of the shape {shape}, got "
        f"{found}; choose one inside the array"
    )


# Entries


def _entries(index: Any) -> Iterator[Any]:
    """Yields the entries of an index: None, ``...``, slices, numbers, booleans, NumPy arrays and tracers."""
    for entry in index if isinstance(index, tuple) else (index,):
        if entry is None or entry is Ellipsis or type(entry) is int:
            yield entry
        elif isinstance(entry, slice):
            yield _slice(entry)
        else:
            yield _array(entry)


def _array(entry: Any) -> Any:
    """Returns an entry that is an array or a number as a number, a NumPy array or a tracer."""
    if isinstance(entry, list | tuple):
        values: Any = np.asarray(entry)
        entry = values if values.size else values.astype(np.int64)
    entry = from_array_like(entry)
    if not is_array(entry):
        try:
            return operator.index(entry)
        except TypeError:
            raise _no_index(repr(entry)) from None
    if isinstance(entry, Tracer):
        value = entry.concrete()
        if value is None:
            return _traced(entry)
        entry = value
    aval = get_aval(entry)
    if aval.dtype.kind not in "iub":
        raise _no_index(str(aval))
    values = np.asarray(to_numpy(entry))
    return values if values.shape else values.item()


def _traced(entry: Tracer) -> Tracer:
    dtype_kind = entry.dtype.kind
    if dtype_kind == "b":
        raise TracerMaskError(
            f"index: expected a boolean array whose values are known, got the tracer {entry.aval}: how many elements "
            "it chooses would decide a shape; choose with lawful.numpy.where(mask, x, y), update with "
            "x.at[mask].set(1), or give a number of positions, lawful.numpy.nonzero(mask, size=n)"
        )
    if dtype_kind not in "iu":
        raise _no_index(str(entry.aval))
    return entry


def _dims_of(entry: Any) -> int:
    if entry is None or entry is Ellipsis or type(entry) is bool:
        return 0
    return entry.ndim if isinstance(entry, np.ndarray) and entry.dtype == np.bool_ else 1


def _slice(entry: slice) -> slice:
    start, stop, step = (None if part is None else _end(part) for part in (entry.start, entry.stop, entry.step))
    if step == 0:
        raise ArgumentValueError("index: expected a slice with a step other than 0, got 0; use None or a number")
    return slice(start, stop, step)


def _end(part: Any) -> int:
    """Returns the end or step of a slice as an integer; raises an error if it is not one."""
    if type(part) is int:
        return part
    if isinstance(part, Tracer) and part.dtype.kind in "iu" and not part.shape and part.concrete() is None:
        raise IndexTypeError(
            f"index: expected a slice with ends that are known before the program runs, got a tracer {part.aval}: "
            "they decide a shape; use lawful.ops.dynamic_slice, which has a static length, or make the end static "
            "(static_argnums of jit)"
        )
    try:
        return operator.index(part)
    except TypeError:
        raise _no_index(repr(part)) from None


def _no_index(got: str) -> ArgumentIndexError:
    return ArgumentIndexError(
        f"index: expected integers, slices, ..., None, or arrays of integers or booleans, got {got}; convert a number "
        "with int, and an array with astype(int)"
    )


def require_mask_shape(mask: Shape, chosen_from: Shape) -> None:
    """Raises ArgumentIndexError unless a boolean array has the shape of the dimensions that it indexes."""
    if mask != chosen_from:
        raise ArgumentIndexError(
            f"index: expected a boolean array of the shape of the dimensions that it chooses from, {chosen_from}, got "
            f"one of {mask}; compare the array that is indexed"
        )


# For gather and scatter


def index_vectors(positions: list[Positions], shape: Shape) -> Any:
    """Returns index vectors of a shape, made of positions that broadcast to it; traced if one of them is."""
    if not positions:
        return np.zeros((*shape, 0), np.int64)
    if not any(isinstance(where, Tracer) for where in positions):
        return np.stack([np.broadcast_to(np.asarray(where, np.int64), shape) for where in positions], axis=-1)
    dtypes = {get_aval(where).dtype for where in positions if isinstance(where, Tracer)}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64)
    if any(
        not isinstance(where, Tracer) and np.size(where) and np.max(where) > np.iinfo(dtype).max for where in positions
    ):
        dtype = np.dtype(np.int64)
    columns = [broadcast_to(convert(_as_array(where, dtype), dtype), shape) for where in positions]
    return ops.concatenate([ops.expand_dims(column, (len(shape),)) for column in columns], len(shape))


def _as_array(where: Positions, dtype: np.dtype[Any]) -> Any:
    return where if isinstance(where, Tracer) else np.asarray(where).astype(dtype)
