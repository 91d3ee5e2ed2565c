"""Functions that read and write a slice at a dynamic position."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ShapedArray,
    Tracer,
    get_aval,
    promote_dtypes,
    python_scalar_types,
)
from lawful.ops._indexing.dynamic_slice import check_sizes_within, check_update, dynamic_slice_p, dynamic_update_slice_p
from lawful.ops._shape.reshape import reshape
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import Shape, canonical_axis, static_integers, strong

__all__ = [
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
]

# Reading


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Any, *, allow_negative_indices: bool | Sequence[bool] = True
) -> Any:
    """Returns a slice of ``operand`` at a position that may be traced.

    A slice that would be partly outside is moved inside.

    Args:
      operand: an array.
      start_indices: for each dimension an integer scalar, or all of them as one array; for one dimension a scalar.
      slice_sizes: for each dimension the length, which is static.
      allow_negative_indices: whether negative indices are counted from the end; for all dimensions or for each.

    Raises:
      ArgumentTypeError: an index is no integer scalar, or the slice is longer than the array.
      ArgumentValueError: there are not as many indices as dimensions.

    >>> dynamic_slice(np.arange(10), (np.int64(7),), (4,))
    array([6, 7, 8, 9])

    Source: ``jax.lax.dynamic_slice``.
    """
    operand = strong(operand)
    aval = get_aval(operand)
    starts = _starts("dynamic_slice", aval.shape, start_indices, allow_negative_indices)
    sizes = static_integers("dynamic_slice", "slice_sizes", slice_sizes)
    check_sizes_within("dynamic_slice", aval, sizes)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=sizes)


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: Any, axis: int = 0, *, allow_negative_indices: bool = True
) -> Any:
    """Returns a slice of ``operand`` at a position, that may be traced, in one dimension.

    >>> dynamic_slice_in_dim(np.arange(10), np.int64(3), 2)
    array([3, 4])

    Source: ``jax.lax.dynamic_slice_in_dim``.
    """
    shape = get_aval(operand).shape
    axis = canonical_axis("dynamic_slice_in_dim", axis, len(shape))
    sizes = [operator.index(slice_size) if dim == axis else size for dim, size in enumerate(shape)]
    starts = _in_dimension(len(shape), axis, start_index)
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Any:
    """Returns what stands at a position, that may be traced, of one dimension, which stays with length 1 if asked for.

    >>> dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), np.int64(1), keepdims=False)
    array([3, 4])

    Source: ``jax.lax.dynamic_index_in_dim``.
    """
    out = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return out if keepdims else ops.squeeze(out, (axis,))


# Writing


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: bool | Sequence[bool] = True
) -> Any:
    """Returns ``operand`` with a slice of it replaced, at a position that may be traced.

    A slice that would be partly outside is moved inside.

    Args:
      operand: an array.
      update: what is written: with as many dimensions, and of the dtype of the operand or a Python number's.
      start_indices: for each dimension an integer scalar, or all of them as one array; for one dimension a scalar.
      allow_negative_indices: whether negative indices are counted from the end; for all dimensions or for each.

    Raises:
      ArgumentTypeError: an index is no integer scalar, or the update does not fit into the array.
      ArgumentValueError: there are not as many indices as dimensions.

    >>> dynamic_update_slice(np.zeros(4), np.array([1.0, 2.0]), (np.int64(1),))
    array([0., 1., 2., 0.])

    Source: ``jax.lax.dynamic_update_slice``.
    """
    operand = strong(operand)
    aval, update_aval = get_aval(operand), get_aval(update)
    starts = _starts("dynamic_update_slice", aval.shape, start_indices, allow_negative_indices)
    update = convert(update, aval.dtype) if update_aval.weak_type else update
    check_update(aval, get_aval(update))
    return dynamic_update_slice_p.bind(operand, update, *starts)


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """Returns ``operand`` with a slice of it replaced, at a position, that may be traced, in one dimension.

    >>> dynamic_update_slice_in_dim(np.zeros(4), np.array([1.0, 2.0]), np.int64(1), 0)
    array([0., 1., 2., 0.])

    Source: ``jax.lax.dynamic_update_slice_in_dim``.
    """
    ndim = get_aval(operand).ndim
    axis = canonical_axis("dynamic_update_slice_in_dim", axis, ndim)
    starts = _in_dimension(ndim, axis, start_index)
    return dynamic_update_slice(operand, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """Returns ``operand`` with what stands at a position, that may be traced, of one dimension replaced.

    The update has that dimension with length 1, or lacks it.

    >>> dynamic_update_index_in_dim(np.zeros(3), 5.0, np.int64(1), 0)
    array([0., 5., 0.])

    Source: ``jax.lax.dynamic_update_index_in_dim``.
    """
    aval, update_aval = get_aval(operand), get_aval(update)
    axis = canonical_axis("dynamic_update_index_in_dim", axis, aval.ndim)
    if update_aval.ndim != aval.ndim:
        update = ops.expand_dims(convert(update, aval.dtype) if update_aval.weak_type else update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis, allow_negative_indices=allow_negative_indices)


# Positions


def _in_dimension(ndim: int, axis: int, index: Any) -> list[Any]:
    starts: list[Any] = [0] * ndim
    starts[axis] = index
    return starts


def _starts(name: str, shape: Shape, indices: Any, allow_negative: bool | Sequence[bool]) -> list[Any]:
    """Returns integer scalars of one dtype that holds every position of an array, all counted from the start."""
    if not isinstance(indices, Sequence):
        aval = get_aval(indices)
        if not aval.ndim and len(shape) == 1:
            return _starts(name, shape, [indices], allow_negative)
        if aval.ndim != 1:
            raise ArgumentValueError(f"{name}: expected start_indices in one dimension, got {aval}; reshape them")
        indices = [reshape(ops.slice(indices, (i,), (i + 1,)), ()) for i in range(aval.shape[0])]
    allowed = [allow_negative] * len(shape) if isinstance(allow_negative, bool) else list(allow_negative)
    if not len(indices) == len(shape) == len(allowed):
        raise ArgumentValueError(
            f"{name}: expected an index for each of {len(shape)} dimensions, got {len(indices)}; give {len(shape)}"
        )
    avals = [get_aval(index) for index in indices]
    for aval in avals:
        if aval.shape or aval.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"{name}: expected integer scalars as start_indices, got {aval}; convert or index it"
            )
    dtype = _position_dtype(shape, avals)
    return [
        _from_start(index, size, dtype, is_allowed)
        for index, size, is_allowed in zip(indices, shape, allowed, strict=True)
    ]


def _position_dtype(shape: Shape, avals: Sequence[ShapedArray]) -> np.dtype[Any]:
    dtype, weak = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals]) if avals else (np.dtype(int), True)
    if weak or dtype.kind not in "iu":
        return np.dtype(np.int64)
    if dtype.itemsize < 8 and (dtype.itemsize < 4 or max(shape) > np.iinfo(dtype).max):
        return np.dtype(np.int64) if max(shape) > np.iinfo(np.int32).max else np.dtype(np.int32)
    return dtype


def _from_start(index: Any, size: int, dtype: np.dtype[Any], allow_negative: bool) -> Any:
    if type(index) in python_scalar_types:
        counted = index + size if index < 0 and allow_negative else index
        return dtype.type(min(max(counted, 0), size))
    index = convert(index, dtype)
    if not allow_negative or dtype.kind == "u":
        return index
    return from_start(index, size)


def from_start(index: Any, size: int) -> Any:
    """Returns integers of which negative ones are counted from the end of a dimension, all counted from its start."""
    dtype = get_aval(index).dtype
    if dtype.kind == "u":
        return index
    if not isinstance(index, Tracer):
        index = np.asarray(index)
        return np.where(index < 0, index + dtype.type(size), index)[()]
    return ops.select_n(ops.lt(index, dtype.type(0)), index, ops.add(index, dtype.type(size)))
