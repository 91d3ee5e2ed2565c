"""Joining and repeating of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import MOST_DIMENSIONS, ArgumentTypeError, ArgumentValueError, as_dtype, get_aval, promote_dtypes
from lawful.numpy._dtypes import can_cast
from lawful.numpy._eager import direct, eager
from lawful.numpy._integers import array_of_integer, with_dtype
from lawful.numpy._manipulation.broadcasting import atleast_1d, atleast_2d, atleast_3d
from lawful.numpy._manipulation.shape import ravel
from lawful.ops import canonical_axis, static_integers

__all__ = ["concatenate", "concat", "stack", "vstack", "hstack", "column_stack", "tile", "block", "dstack"]

# Joined


def _in_sequence(name: str, arrays: Any, dtype: Any, casting: str = "same_kind") -> list[Any]:
    """Returns the arrays of a sequence, or the rows of one array, converted to a dtype.

    Raises:
      ArgumentTypeError: ``casting`` does not allow the conversion, or ``arrays`` is not a sequence.
      ArgumentValueError: there are no arrays, or there is no such ``casting``.
    """
    if not isinstance(arrays, Sequence) and not get_aval(arrays).ndim:
        raise ArgumentTypeError(f"{name}: expected a sequence of arrays, got {get_aval(arrays)}; put it into a list")
    parts = [*map(with_dtype, arrays)] if isinstance(arrays, Sequence) else list(arrays)
    if not parts:
        raise ArgumentValueError(f"{name}: expected at least one array, got an empty sequence")
    wanted = None if dtype is None else as_dtype(dtype)
    for x in parts if wanted is not None else ():
        if not can_cast(get_aval(x).dtype, wanted, casting):
            raise ArgumentTypeError(
                f"{name}: expected arrays that can be cast to {wanted} by the rule {casting!r}, got {get_aval(x)}; "
                "convert them with astype"
            )
    return parts if wanted is None else [ops.convert_element_type(x, wanted) for x in parts]


@eager(numpy.concatenate, sequence=True, looks=False)
def concatenate(
    arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Returns arrays joined along an existing dimension, promoted to one dtype.

    Args:
      arrays: a sequence of arrays whose shapes are equal but for that dimension.
      axis: the dimension; None joins the flattened arrays.
      out: None only.
      dtype: the dtype of the result.
      casting: which conversions to ``dtype`` are allowed, as in `can_cast`.

    Raises:
      ArgumentValueError: there are no arrays, or their shapes do not fit.
      AxisError: there is no such dimension.

    >>> concatenate([numpy.array([1, 2]), numpy.array([0.5])])
    array([1. , 2. , 0.5])

    Source: ``numpy.concatenate``.
    """
    if axis is None and dtype is None and isinstance(arrays, Sequence) and any([type(x) is int for x in arrays]):
        arrays = _of_common_dtype(arrays)
    parts = _in_sequence("concatenate", arrays, dtype, casting)
    if axis is None:  # Python numbers among the arrays are weak
        common, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in map(get_aval, parts)])
        return ops.concatenate([ravel(ops.convert_element_type(x, common)) for x in parts], 0)
    return ops.concatenate(parts, axis)


def _of_common_dtype(arrays: Sequence[Any]) -> list[Any]:
    """Returns arrays with the Python integers among them in the common dtype, wrapped around as in NumPy."""
    avals = [get_aval(0 if type(x) is int else x) for x in arrays]
    common, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    # Into floats any integer is converted, into integers one of 64 bits.
    by_itself = None if common.kind in "biu" else common
    return [array_of_integer(x, by_itself).astype(common) if type(x) is int else x for x in arrays]


concat = concatenate


@eager(numpy.stack, sequence=True, looks=False)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Returns arrays of one shape joined along a new dimension, promoted to one dtype.

    Args:
      arrays: a sequence of arrays.
      axis: where in the result the new dimension stands.
      out: None only.
      dtype: the dtype of the result.
      casting: which conversions to ``dtype`` are allowed, as in `can_cast`.

    Raises:
      ArgumentValueError: there are no arrays, or their shapes differ.
      AxisError: there is no such position.

    >>> stack([numpy.array([1, 2]), numpy.array([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]])

    Source: ``numpy.stack``.
    """
    parts = _in_sequence("stack", arrays, dtype, casting)
    shapes = {get_aval(x).shape for x in parts}
    if len(shapes) > 1:
        raise ArgumentValueError(
            f"stack: expected arrays of one shape, got {', '.join(map(str, sorted(shapes)))}; reshape or broadcast them"
        )
    axis = canonical_axis("stack", axis, len(shapes.pop()) + 1)
    return ops.concatenate([ops.expand_dims(x, (axis,)) for x in parts], axis)


@eager(numpy.vstack, sequence=True, looks=False)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Returns arrays joined along the first dimension; vectors are rows.

    >>> vstack([numpy.array([1, 2]), numpy.array([3, 4])])
    array([[1, 2],
           [3, 4]])

    Source: ``numpy.vstack``.
    """
    return concatenate([atleast_2d(x) for x in _in_sequence("vstack", tup, dtype, casting)], 0)


@eager(numpy.hstack, sequence=True, looks=False)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Returns arrays joined along the second dimension, vectors along their only one.

    >>> hstack([numpy.array([1, 2]), numpy.array([3])])
    array([1, 2, 3])

    Source: ``numpy.hstack``.
    """
    parts = [atleast_1d(x) for x in _in_sequence("hstack", tup, dtype, casting)]
    return concatenate(parts, 0 if get_aval(parts[0]).ndim == 1 else 1)


@eager(numpy.column_stack, sequence=True, looks=False)
def column_stack(tup: Any) -> Any:
    """Returns arrays joined along the second dimension; vectors are columns.

    >>> column_stack([numpy.array([1, 2]), numpy.array([3, 4])])
    array([[1, 3],
           [2, 4]])

    Source: ``numpy.column_stack``.
    """
    parts = _in_sequence("column_stack", tup, None)
    return concatenate([x if get_aval(x).ndim > 1 else ops.reshape(x, (get_aval(x).size, 1)) for x in parts], 1)


@eager(numpy.dstack, sequence=True, looks=False)
def dstack(tup: Any) -> Any:
    """Returns arrays joined along the third dimension; vectors are first rows.

    >>> dstack([numpy.array([1, 2]), numpy.array([3, 4])])
    array([[[1, 3],
            [2, 4]]])

    Source: ``numpy.dstack``.
    """
    return concatenate([atleast_3d(x) for x in _in_sequence("dstack", tup, None)], 2)


def block(arrays: Any) -> Any:
    """Returns an array put together of blocks: those of the innermost lists along the last dimension, and so on.

    Args:
      arrays: nested lists of arrays and numbers, all as deep.

    Raises:
      ArgumentTypeError: there is a tuple.
      ArgumentValueError: a list is empty, the lists are not all as deep, or blocks do not fit.

    >>> block([[numpy.eye(2), numpy.zeros((2, 1))], [numpy.ones((1, 2)), 5]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 5.]])

    Source: ``numpy.block``.
    """
    depth = _depth(arrays)
    arrays = _with_dtypes(arrays)
    ndim = max([depth, *[get_aval(x).ndim for x in _blocks(arrays)]])
    return ops.convert_element_type(_block(arrays, depth, ndim), _common_dtype(_blocks(arrays)))


def _depth(arrays: Any, outer: int = 0) -> int:
    """Returns the depth of nested lists; raises if it is not uniform, or beyond the dimensions of arrays."""
    if outer > MOST_DIMENSIONS:
        raise ArgumentValueError(
            f"block: expected lists nested at most {MOST_DIMENSIONS} deep, got more levels; nest them less deeply"
        )
    if isinstance(arrays, tuple):
        raise ArgumentTypeError("block: expected lists, got a tuple; write a list")
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(x, outer + 1) for x in arrays}
    if len(depths) != 1:
        raise ArgumentValueError(
            f"block: expected lists that are all as deep, none of them empty, got {arrays!r:.60}; nest them alike"
        )
    return 1 + depths.pop()


def _with_dtypes(arrays: Any) -> Any:
    """Returns nested lists with arrays for Python numbers, which NumPy converts before promotion."""
    if isinstance(arrays, list):
        return [*map(_with_dtypes, arrays)]
    return numpy.asarray(with_dtype(arrays)) if isinstance(arrays, bool | int | float | complex) else arrays


def _blocks(arrays: Any) -> list[Any]:
    return [x for row in arrays for x in _blocks(row)] if isinstance(arrays, list) else [arrays]


def _common_dtype(arrays: Sequence[Any]) -> Any:
    return promote_dtypes(*[(get_aval(x).dtype, get_aval(x).weak_type) for x in arrays])[0]


def _block(arrays: Any, depth: int, ndim: int) -> Any:
    if not isinstance(arrays, list):
        shape = get_aval(arrays).shape
        return ops.reshape(arrays, (1,) * (ndim - len(shape)) + shape)
    return ops.concatenate([_block(x, depth - 1, ndim) for x in arrays], ndim - depth)


# Repeated


def _numpy_tile(A: Any, reps: Any) -> Any:
    if type(reps) is int and reps >= 0:
        return numpy.tile(A, reps)
    raise TypeError(reps)


@direct(_numpy_tile, most=2)
def tile(A: Any, reps: Any) -> Any:
    """Returns the array repeated as a whole.

    Args:
      A: an array.
      reps: how often along each dimension, static integers. If there are fewer than dimensions, those before them
        are not repeated; if there are more, the array gets new first dimensions.

    >>> tile(numpy.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])

    Source: ``numpy.tile``.
    """
    times = static_integers("tile", "reps", reps)
    shape = get_aval(A).shape
    ndim = max(len(times), len(shape))
    times, shape = (1,) * (ndim - len(times)) + times, (1,) * (ndim - len(shape)) + shape
    pairs = [size for pair in zip(times, shape, strict=True) for size in pair]
    repeated = ops.broadcast_in_dim(ops.reshape(A, shape), pairs, tuple(range(1, 2 * ndim, 2)))
    return _owned(ops.reshape(repeated, tuple(n * size for n, size in zip(times, shape, strict=True))))


def _owned(x: Any) -> Any:
    """Returns a writable array: a copy of a broadcast view."""
    return x.copy() if type(x) is numpy.ndarray and x.base is not None else x
