"""The different elements of an array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    ConcretizationTypeError,
    Tracer,
    get_aval,
    is_inexact,
    is_of_ml_dtypes,
    to_numpy,
)
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.shape import moveaxis
from lawful.ops import static_integers

__all__ = ["unique"]


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Returns the different elements of an array, sorted.

    Args:
      ar: an array.
      return_index: whether to return, for each of them, the position in the flattened array where it is first.
      return_inverse: whether to return, for each element of the array, which of them it is.
      return_counts: whether to return how often each occurs.
      axis: the dimension whose parts are told apart, in the order of their elements; None for single elements.
      equal_nan: whether NaNs are one element.
      sorted: accepted, without effect: they always are.
      size: how many are given; it has to be known where ``ar`` is traced. The largest ones are left out if there are
        more; elements among them have an inverse that is no position.
      fill_value: the value for missing elements; by default the smallest element, or the first part.

    Raises:
      ConcretizationTypeError: ``ar`` is traced, and there is no ``size``.
      AxisError: there is no such dimension.

    >>> unique(numpy.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    >>> unique(numpy.array([3, 1, 3]), size=4, fill_value=0)
    array([1, 3, 0, 0])

    Source: ``numpy.unique``, ``jax.numpy.unique``.
    """
    aval = get_aval(ar)
    if axis is not None:
        axis = ops.canonical_axis("unique", axis, aval.ndim)
    if isinstance(ar, Tracer) and size is None:
        size = count_different("unique", ar, equal_nan, axis)
    if size is None:
        flags: tuple[Any, ...] = (return_index, return_inverse, return_counts, axis)
        return of_sorted(numpy.unique, to_numpy(ar), *flags, equal_nan=equal_nan)
    (size,) = static_integers("unique", "size", size)
    parts = ops.reshape(ar, (aval.size,)) if axis is None else moveaxis(ar, axis, 0)
    count, *part_shape = get_aval(parts).shape
    inverse_shape = aval.shape if axis is None else (count,)
    if not count:
        values = ops.full((size, *part_shape), 0 if fill_value is None else fill_value, aval.dtype)
        empty = ops.full((size,), 0, "int64")
        extra = [empty] * return_index + [ops.full(inverse_shape, 0, "int64")] * return_inverse
        extra += [empty] * return_counts
        values = values if axis is None else moveaxis(values, 0, axis)
        return (values, *extra) if extra else values
    ordered, index, is_new = _ordered_parts(parts, equal_nan)
    group = ops.sub(ops.cumsum(ops.convert_element_type(is_new, "int64")), 1)
    target = ops.where(is_new, ops.min(group, size), size)  # all others are written behind the end
    fill = ops.getitem(ordered, 0) if fill_value is None else ops.convert_element_type(fill_value, aval.dtype)
    values = _within(ops.at(broadcast_to(fill, (size + 1, *part_shape)))[target].set(ordered))
    out = [values if axis is None else moveaxis(values, 0, axis)]
    if return_index:
        first = ops.broadcast_in_dim(ops.getitem(index, 0), (size + 1,), ())
        out.append(_within(ops.at(first)[target].set(index)))
    if return_inverse:
        out.append(ops.reshape(ops.sort((index, group))[1], inverse_shape))
    if return_counts:
        one, counts = ops.full((count,), 1, "int64"), ops.full((size + 1,), 0, "int64")
        out.append(_within(ops.at(counts)[ops.min(group, size)].add(one)))
    return tuple(out) if len(out) > 1 else out[0]


def _within(written: Any) -> Any:
    """Returns all but the last part, which is behind the end: no write is out of bounds."""
    return ops.slice_in_dim(written, 0, -1)


def _ordered_parts(parts: Any, equal_nan: bool) -> tuple[Any, Any, Any]:
    """Returns the parts along the first dimension in order, their positions, and which differ from the one before."""
    count, *part_shape = get_aval(parts).shape
    columns = ops.reshape(parts, (count, math.prod(part_shape)))
    keys = [ops.getitem(columns, (slice(None), i)) for i in range(math.prod(part_shape))]
    *keys, index = ops.sort((*keys, ops.iota("int64", count)), num_keys=max(1, len(keys)))
    is_new = ops.eq(ops.iota("int64", count), 0)
    for key in keys:
        is_new = ops.bitwise_or(is_new, _differs(key, equal_nan))
    ordered = keys[0] if not part_shape else ops.take(parts, index, axis=0)
    return ordered, index, is_new


def count_different(name: str, x: Tracer, equal_nan: bool, axis: int | None = None) -> int:
    """Returns how many different elements, or parts along a dimension, a traced array has, if its value is known.

    Raises:
      ConcretizationTypeError: it is not known.
    """
    known = x.concrete()
    if known is None:
        raise ConcretizationTypeError(
            f"{name}: expected an array whose values are known, got the tracer {get_aval(x)}: how many are different "
            f"would decide a shape; give their number, {name}(x, size=n)"
        )
    found = of_sorted(numpy.unique, known, axis=axis, equal_nan=equal_nan)
    return int(found.size if axis is None else found.shape[axis])


def of_sorted(function: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of NumPy that sorts, for an array of any dtype.

    NumPy does not sort NaNs of bfloat16 and float8 correctly, so these are converted to float32, without rounding.

    Args:
      function: returns an array of the elements of ``x``, or a tuple with one first.
      x: an array.
      args: more arguments.
      kwargs: more arguments by name.
    """
    dtype = numpy.asarray(x).dtype
    out = function(widened(x), *args, **kwargs)
    if not is_of_ml_dtypes(dtype):
        return out
    return (out[0].astype(dtype), *out[1:]) if isinstance(out, tuple) else out.astype(dtype)


def widened(x: Any) -> Any:
    """Returns an array in a dtype that NumPy sorts correctly: unchanged, or in float32."""
    x = numpy.asarray(x)
    return x.astype(numpy.float32) if is_of_ml_dtypes(x.dtype) else x


def _differs(ordered: Any, equal_nan: bool) -> Any:
    """Returns a mask of the elements of a sorted array that differ from the one before."""
    size = get_aval(ordered).shape[0]
    before, after = ops.slice_in_dim(ordered, 0, size - 1), ops.slice_in_dim(ordered, 1, size)
    differs = ops.ne(before, after)
    if equal_nan and is_inexact(get_aval(ordered).dtype):
        both_nan = ops.bitwise_and(ops.ne(before, before), ops.ne(after, after))
        differs = ops.bitwise_and(differs, ops.bitwise_not(both_nan))
    return ops.concatenate([ops.full((1,), True, "bool"), differs], 0)
