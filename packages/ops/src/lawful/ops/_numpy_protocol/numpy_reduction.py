"""Reductions with NumPy's names, arguments and promotion, composed of the strict ones.

`lawful.numpy` and the methods of tracers and device arrays are these functions. The names ``sum``, ``max``, ``min``,
``all`` and ``any`` shadow the built-in functions here.

>>> sum(np.ones((2, 3), "int8"), axis=0)
array([2, 2, 2])
>>> mean(np.array([True, False]))
np.float64(0.5)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import ArgumentValueError, ShapedArray, as_dtype, get_aval, is_inexact, kind
from lawful.ops._composite import composite
from lawful.ops._elementwise.arithmetic.arithmetic import div, mul, sqrt, square, sub
from lawful.ops._reduction import arg_reduction, reduction
from lawful.ops._reduction.axes import kept_axes
from lawful.ops._reduction.reduction import Reduction
from lawful.ops._shape.reshape import broadcast_in_dim, reshape
from lawful.ops._support.dtypes import accumulation_dtype
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import canonical_axes, canonical_axis, is_axis_of_scalar, reduced_axes

Shape = tuple[int, ...]


def _averaged(name: str, aval: ShapedArray, axis: Any) -> Shape:
    """Returns the axes of an average; in NumPy the axis 0 of a scalar is an error."""
    return tuple(range(aval.ndim)) if axis is None else tuple(sorted(canonical_axes(name, axis, aval.ndim)))


def _with_kept_dims(out: Any, aval: ShapedArray, axes: Shape, keepdims: bool) -> Any:
    """Returns the result of a reduction over ``axes``, with these as dimensions of length 1 if ``keepdims``."""
    if not keepdims:
        return out
    shape = tuple([1 if axis in axes else size for axis, size in enumerate(aval.shape)])
    return broadcast_in_dim(out, shape, kept_axes(aval.ndim, axes))


def _sum_dtype(aval: ShapedArray, dtype: Any) -> np.dtype[Any]:
    """Returns the dtype of a sum or product: for narrow integers and booleans the 64-bit one, as in NumPy."""
    if dtype is not None:
        return as_dtype(dtype)
    if aval.dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if aval.dtype.kind in "bi" else aval.dtype


def _accumulate(
    name: str,
    function: Reduction,
    a: Any,
    axis: Any,
    dtype: Any,
    keepdims: bool,
    *,
    of_bool: Reduction,
) -> Any:
    aval = get_aval(a)
    axes = reduced_axes(name, axis, aval.ndim)
    result = _sum_dtype(aval, dtype)
    out = (of_bool if result.kind == "b" else function)(convert(a, result), axes)
    return _with_kept_dims(out, aval, axes, keepdims)


@composite()
def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Returns the sum over some dimensions.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      dtype: what the elements are converted to before they are added. By default floats keep theirs, and
        booleans and integers become int64, unsigned ones uint64.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: a dimension is named twice.

    Source: ``numpy.sum``.
    """
    return _accumulate("sum", reduction.reduce_sum, a, axis, dtype, keepdims, of_bool=reduction.reduce_or)


@composite()
def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Returns the product over some dimensions; arguments and dtypes are those of :func:`sum`."""
    return _accumulate("prod", reduction.reduce_prod, a, axis, dtype, keepdims, of_bool=reduction.reduce_and)


def _extremum(name: str, function: Reduction, a: Any, axis: Any, keepdims: bool) -> Any:
    aval = get_aval(a)
    axes = reduced_axes(name, axis, aval.ndim)
    if 0 in aval.shape and 0 in [aval.shape[axis] for axis in axes]:
        raise ArgumentValueError(
            f"{name}: expected at least one element to choose from, got a zero-size array of shape {aval.shape} "
            f"reduced over the axes {axes}; concatenate the value that you want in this case"
        )
    return _with_kept_dims(function(a, axes), aval, axes, keepdims)


@composite()
def max(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns the largest element over some dimensions, NaN if one is.

    Args:
      a: an array of bool, integer or floating dtype.
      axis: the dimension, or a tuple of them; all of them if None.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      ArgumentValueError: there is no element to choose from.
      AxisError: there is no such dimension.

    Equal elements share the derivative equally. Source: ``numpy.max``.
    """
    return _extremum("max", reduction.reduce_max, a, axis, keepdims)


@composite()
def min(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns the smallest element over some dimensions, NaN if one is; arguments are those of :func:`max`."""
    return _extremum("min", reduction.reduce_min, a, axis, keepdims)


amax, amin = max, min


@composite()
def all(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns whether all elements over some dimensions are true, that is, not zero.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      keepdims: whether the dimensions stay, with length 1.

    Source: ``numpy.all``.
    """
    return _accumulate("all", reduction.reduce_and, a, axis, bool, keepdims, of_bool=reduction.reduce_and)


@composite()
def any(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns whether any element over some dimensions is not zero; arguments are those of :func:`all`."""
    return _accumulate("any", reduction.reduce_or, a, axis, bool, keepdims, of_bool=reduction.reduce_or)


# Averages


def average_dtypes(aval: ShapedArray, dtype: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Returns the dtype of an average, and the one to compute it in."""
    result = as_dtype(dtype) if dtype is not None else aval.dtype if is_inexact(aval.dtype) else np.dtype(np.float64)
    return result, accumulation_dtype(result) if is_inexact(result) else np.dtype(np.float64)


def _count(aval: ShapedArray, axes: Shape) -> int:
    return math.prod([aval.shape[axis] for axis in axes])


@composite()
def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Returns the arithmetic mean over some dimensions, NaN if there are no elements.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      dtype: the dtype of the result; by default that of ``a``, or float64 if that is not floating.
      keepdims: whether the dimensions stay, with length 1.

    Source: ``numpy.mean``.
    """
    aval = get_aval(a)
    axes = _averaged("mean", aval, axis)
    result, wide = average_dtypes(aval, dtype)
    x = convert(a, result)
    total = reduction.reduce_sum(convert(x, wide), axes) if is_inexact(result) else convert(sum(x, axes, result), wide)
    return _with_kept_dims(convert(div(total, _count(aval, axes)), result), aval, axes, keepdims)


@composite()
def var(a: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Returns the variance over some dimensions: the mean of the squared distances from the mean.

    Args:
      a: an array. Of a complex one, the squares of absolute values are taken, and the result is real.
      axis: the dimension, or a tuple of them; all of them if None.
      dtype: that of the mean, of the sum of squares and of the result; by default float64 unless ``a`` is floating.
        With a real one, the distances of complex elements are those from the mean of the real parts.
      ddof: what is subtracted from the number of elements in the division.
      keepdims: whether the dimensions stay, with length 1.

    Source: ``numpy.var``.
    """
    aval = get_aval(a)
    axes = _averaged("var", aval, axis)
    result, wide = average_dtypes(aval, dtype)
    divisor = _count(aval, axes) - ddof
    if keeps_elements(aval.dtype, result):
        total = convert(sum(squared_absolute(sub(a, mean(a, axes, result, keepdims=True))), axes, result), wide)
    else:
        x = convert(convert(a, result), wide)
        total = reduction.reduce_sum(squared_absolute(sub(x, mean(x, axes, keepdims=True))), axes)
    out = div(total, divisor if divisor > 0 else 0)
    return _with_kept_dims(out if dtype is None and result.kind == "c" else convert(out, result), aval, axes, keepdims)


def keeps_elements(dtype: np.dtype[Any], result: np.dtype[Any]) -> bool:
    """Returns whether a variance of the dtype ``result`` takes the distances of the elements as they are, as in NumPy.

    In the other cases they are converted first, which gives the same up to rounding.

    >>> keeps_elements(np.dtype("complex64"), np.dtype("float32")), keeps_elements(np.dtype("f4"), np.dtype("f8"))
    (True, False)
    """
    return (kind(dtype) == "c" and kind(result) != "c") or not is_inexact(result)


@composite()
def std(a: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Returns the standard deviation over some dimensions, with the arguments of :func:`var`."""
    variance = var(a, axis, dtype, ddof, keepdims)
    out = sqrt(variance)
    return out if dtype is None else convert(out, get_aval(variance).dtype)


def squared_absolute(x: Any) -> Any:
    """Returns ``abs(x)**2``, of complex numbers without a square root."""
    if get_aval(x).dtype.kind != "c":
        return square(x)
    return ops.real(mul(x, ops.conj(x)))


# Positions


def _position(function: arg_reduction.ArgReduction, a: Any, axis: Any, keepdims: bool) -> Any:
    aval = get_aval(a)
    if axis is None or is_axis_of_scalar(axis, aval.ndim):
        out = function(reshape(a, (aval.size,)), 0, np.int64)
        return _with_kept_dims(out, aval, tuple(range(aval.ndim)), keepdims)
    axis = canonical_axis(function.__name__, axis, aval.ndim)  # type: ignore[attr-defined]  # a function
    return _with_kept_dims(function(a, axis, np.int64), aval, (axis,), keepdims)


def argmax(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns the position of the largest element, the first of equal ones; that of a NaN if there is one.

    Args:
      a: an array of bool, integer or floating dtype.
      axis: the dimension along which to look; None to look in all elements in row-major order.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      ArgumentValueError: there is no element to choose from.
      AxisError: there is no such dimension.

    Source: ``numpy.argmax``.
    """
    return _position(arg_reduction.argmax, a, axis, keepdims)


def argmin(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns the position of the smallest element; all else is as in :func:`argmax`."""
    return _position(arg_reduction.argmin, a, axis, keepdims)
