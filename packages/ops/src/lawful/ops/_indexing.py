"""NumPy's basic indexing: integers, slices, ``...`` and ``None``, known before the program runs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lawful.core import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tracer, get_aval, is_array
from lawful.ops._elementwise import is_eager
from lawful.ops._slicing import rev
from lawful.ops._slicing import slice as slice_op
from lawful.ops._squeeze import expand_dims, squeeze

#: An index of one dimension, or None for a new one.
Item = int | slice | None


def getitem(x: Any, index: Any) -> Any:
    """Returns ``x[index]`` by NumPy's basic indexing.

    Args:
      x: an array.
      index: an integer, slice, ``...`` or ``None``, or a tuple of those. Integers are counted from the end if
        negative; a slice may have any step.

    Raises:
      ArgumentIndexError: an integer is outside of the array, there are too many, or something is no index.
      ArgumentTypeError: an index is an array, or a tracer whose value is not known.

    >>> getitem(np.arange(12).reshape(3, 4), (-1, slice(None, None, -2)))
    array([11,  9])
    """
    shape = get_aval(x).shape
    items = _basic_items(shape, index)
    if is_eager(x):
        return np.asarray(x)[items]
    starts, limits, strides, reversed_dims, dropped = [], [], [], [], []
    for dim, item in enumerate(item for item in items if item is not None):
        if isinstance(item, int):
            start, limit, stride = item, item + 1, 1
            dropped.append(dim)
        else:
            start, limit, stride = _span(range(shape[dim])[item])
            if item.step < 0:
                reversed_dims.append(dim)
        starts.append(start)
        limits.append(limit)
        strides.append(stride)
    kept = squeeze(rev(slice_op(x, starts, limits, strides), reversed_dims), dropped)
    result = [item for item in items if not isinstance(item, int)]
    return expand_dims(kept, tuple(dim for dim, item in enumerate(result) if item is None))


def _span(chosen: range) -> tuple[int, int, int]:
    """Returns ``(start, limit, stride)`` of the slice with the indices of a range, in increasing order."""
    if not chosen:
        return 0, 0, 1
    start, last = sorted((chosen[0], chosen[-1]))
    return start, last + 1, abs(chosen.step)


def _basic_items(shape: tuple[int, ...], index: Any) -> tuple[Item, ...]:
    """Returns an item for each dimension of a shape, and None for each new one, all integers in bounds."""
    entries = index if isinstance(index, tuple) else (index,)
    count = sum(entry is not None and entry is not Ellipsis for entry in entries)
    ellipses = sum(entry is Ellipsis for entry in entries)
    if count > len(shape) or ellipses > 1:
        raise ArgumentIndexError(
            f"index: expected at most one ... and an index for each of {len(shape)} dimensions, got {ellipses} ... "
            f"and {count} indices; leave out {'one ...' if ellipses > 1 else count - len(shape)}"
        )
    if not ellipses:
        entries = (*entries, Ellipsis)
    items: list[Item] = []
    dim = 0
    for entry in entries:
        if entry is None:
            items.append(None)
        elif entry is Ellipsis:
            items += [slice(None, None, 1)] * (len(shape) - count)
            dim += len(shape) - count
        else:
            items.append(_slice(entry) if isinstance(entry, slice) else _in_bounds(_static(entry), dim, shape))
            dim += 1
    return tuple(items)


def _slice(entry: slice) -> slice:
    start, stop, step = (None if part is None else _static(part) for part in (entry.start, entry.stop, entry.step))
    if step == 0:
        raise ArgumentValueError("index: expected a slice with a step other than 0, got 0; use None or a number")
    return slice(start, stop, 1 if step is None else step)


def _in_bounds(integer: int, dim: int, shape: tuple[int, ...]) -> int:
    size = shape[dim]
    if not -size <= integer < size:
        raise ArgumentIndexError(
            f"index: expected an integer from {-size} to {size - 1} for dimension {dim} of the shape {shape}, got "
            f"{integer}; choose one inside the array"
        )
    return integer + size if integer < 0 else integer


def _static(entry: Any) -> int:
    """Returns an integer that is known now; raises the error that explains why an index is none."""
    if type(entry) is int:
        return entry
    if isinstance(entry, list | tuple | bool | np.bool):
        raise _unsupported(f"the {type(entry).__name__} {entry!r}")
    if not is_array(entry):
        try:
            return operator.index(entry)
        except TypeError:
            raise _no_index(repr(entry)) from None
    aval = get_aval(entry)
    if aval.dtype.kind not in "iub":
        raise _no_index(str(aval))
    if aval.shape or aval.dtype.kind == "b" or (isinstance(entry, Tracer) and entry.concrete() is None):
        known = "a tracer" if isinstance(entry, Tracer) else "an array"
        raise _unsupported(f"{known} {aval}")
    return operator.index(entry)


def _no_index(got: str) -> ArgumentIndexError:
    return ArgumentIndexError(f"index: expected integers, slices, ... or None, got {got}; convert a number with int")


def _unsupported(got: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"index: expected integers and slices that are known before the program runs, ... or None, got {got}; "
        "indices that are arrays or traced are not supported yet: choose elements with where, or by a product with a "
        "one-hot array, or make the index static (static_argnums of jit)"
    )
