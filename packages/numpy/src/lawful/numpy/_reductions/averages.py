"""Averages, weighted averages, variances and ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, get_aval, is_inexact, promote_dtypes
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._reductions.arguments import require_mask
from lawful.ops import canonical_axes, numpy_reduction, reduced_axes

__all__ = ["average", "mean", "var", "std", "ptp"]


def _count(aval: Any, axes: tuple[int, ...], where: Any, keepdims: bool) -> Any:
    """Returns the number of elements that count: a Python number if all do."""
    if where is None:
        return math.prod([aval.shape[axis] for axis in axes])
    chosen = broadcast_to(where, aval.shape)
    return numpy_reduction.sum(chosen, axes, numpy.int64, keepdims)


def _axes(name: str, aval: Any, axis: Any, where: Any) -> tuple[int, ...]:
    """Returns the dimensions of an average; with ``where``, NumPy accepts axis 0 of a scalar."""
    if where is not None:
        return reduced_axes(name, axis, aval.ndim)
    return tuple(range(aval.ndim)) if axis is None else canonical_axes(name, axis, aval.ndim)


def _only(a: Any, where: Any) -> Any:
    """Returns an array with zeros in place of the elements that do not count."""
    return a if where is None else ops.where(where, a, get_aval(a).dtype.type(0))


@eager(numpy.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Returns the arithmetic mean over some dimensions, NaN if there are no elements.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      dtype: the dtype of the result; by default that of ``a``, or float64 if that is not floating.
      out: None only.
      keepdims: whether the dimensions stay, with length 1.
      where: booleans that broadcast to the shape of ``a``: which elements count.

    Raises:
      AxisError: there is no such dimension.

    >>> mean(numpy.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([2., 3.])

    Source: ``numpy.mean``.
    """
    if where is None:
        return numpy_reduction.mean(a, axis, dtype, keepdims)
    require_mask("mean", where)
    aval = get_aval(a)
    axes = _axes("mean", aval, axis, where)
    result, wide = numpy_reduction.average_dtypes(aval, dtype)
    chosen = ops.convert_element_type(_only(a, where), result) if is_inexact(result) else _only(a, where)
    total = numpy_reduction.sum(chosen, axes, wide if is_inexact(result) else result, keepdims)
    quotient = ops.div(*[ops.convert_element_type(x, wide) for x in (total, _count(aval, axes, where, keepdims))])
    return ops.convert_element_type(quotient, result)


@eager(numpy.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """Returns the variance over some dimensions: the mean of the squared distances from the mean.

    Args:
      a: an array. Of a complex one, the squares of absolute values are taken, and the result is real.
      axis: the dimension, or a tuple of them; all of them if None.
      dtype: that of the mean, of the sum of squares and of the result; by default float64 unless ``a`` is floating.
        With a real one, the distances of complex elements are those from the mean of the real parts.
      out: None only.
      ddof: the number subtracted from the number of elements in the division.
      keepdims: whether the dimensions stay, with length 1.
      where: booleans that broadcast to the shape of ``a``: which elements count.
      mean: the mean, with the dimensions that are reduced, if it is known.
      correction: another name of ``ddof``.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: both ``ddof`` and ``correction`` are given.

    >>> var(numpy.array([1.0, 3.0]))
    np.float64(1.0)

    Source: ``numpy.var``.
    """
    if correction is not None:
        if ddof != 0:
            raise ArgumentValueError(f"var: expected ddof or correction, got {ddof} and {correction}; give one of them")
        ddof = correction
    if where is None and mean is None:
        return numpy_reduction.var(a, axis, dtype, ddof, keepdims)
    require_mask("var", where)
    aval = get_aval(a)
    axes = _axes("var", aval, axis, where)
    result = as_dtype(dtype) if dtype is not None else aval.dtype if is_inexact(aval.dtype) else _FLOAT
    keeps_elements = numpy_reduction.keeps_elements(aval.dtype, result)
    x = _only(a, where) if keeps_elements else ops.convert_element_type(_only(a, where), result)
    center = _mean(a, axes, dtype, None, True, where=where) if mean is None else mean
    squares = numpy_reduction.squared_absolute(_only(ops.sub(x, center), where))
    total = numpy_reduction.sum(squares, axes, result if keeps_elements else None, keepdims)
    divided = total if is_inexact(get_aval(total).dtype) else ops.convert_element_type(total, _FLOAT)
    count = ops.max(ops.sub(_count(aval, axes, where, keepdims), ddof), 0)
    return ops.convert_element_type(ops.div(divided, count), get_aval(total).dtype if dtype is None else result)


@eager(numpy.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """Returns the standard deviation over some dimensions; arguments are those of :func:`var`.

    >>> std(numpy.array([1.0, 3.0]))
    np.float64(1.0)
    """
    variance = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    out = ops.sqrt(variance)  # in the given dtype, also an integer dtype
    return out if dtype is None else ops.convert_element_type(out, get_aval(variance).dtype)


_mean = mean  # arguments of the functions above shadow the name
_FLOAT = numpy.dtype(numpy.float64)


@eager(numpy.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Returns the largest element minus the smallest over some dimensions.

    Args:
      a: an array of real numbers.
      axis: the dimension, or a tuple of them; all of them if None.
      out: None only.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      ArgumentValueError: there is no element to choose from.
      AxisError: there is no such dimension.

    >>> ptp(numpy.array([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    array([4., 1.])

    Source: ``numpy.ptp``.
    """
    high = numpy_reduction.max(a, axis, keepdims)
    low = numpy_reduction.min(a, axis, keepdims)
    if get_aval(high).dtype.kind == "b":
        raise ArgumentTypeError(f"ptp: expected numbers, got {get_aval(a)}; convert with astype")
    return ops.sub(high, low)


def _numpy_average(a: Any, axis: Any = None, weights: Any = None, *args: Any, **kwargs: Any) -> Any:
    if weights is None and not numpy.size(a):
        raise ValueError("NumPy divides the numbers of elements, Python's integers")
    return numpy.average(a, axis, weights, *args, **kwargs)


@eager(_numpy_average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Returns the weighted average over some dimensions.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      weights: how much each element counts: of the shape of ``a``, or of that of its dimensions ``axis``.
      returned: whether the sum of the weights is returned too: ``(average, sum)``.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      ArgumentTypeError: the weights have another shape, and there is no ``axis``.
      ArgumentValueError: the weights do not fit the dimensions.
      AxisError: there is no such dimension.

    NumPy raises ZeroDivisionError where weights add up to zero; traced or compiled, they give NaN or infinity.

    >>> average(numpy.array([1.0, 4.0]), weights=numpy.array([3.0, 1.0]))
    np.float64(1.75)

    Source: ``numpy.average``.
    """
    aval = get_aval(a)
    axes = tuple(range(aval.ndim)) if axis is None else canonical_axes("average", axis, aval.ndim)
    if weights is None:
        mean = numpy_reduction.mean(a, axes, None, keepdims)
        count = math.prod([aval.shape[axis] for axis in axes])
        total = ops.full(get_aval(mean).shape, count, get_aval(mean).dtype)
        return (mean, total) if returned else mean
    weights = aligned_weights("average", weights, aval, None if axis is None else axes)
    dtype, _ = promote_dtypes(*[(x.dtype, x.weak_type) for x in (aval, get_aval(weights))])
    if not is_inexact(aval.dtype) and not is_inexact(dtype):
        dtype = numpy.dtype(numpy.float64)
    elif not is_inexact(aval.dtype):
        dtype, _ = promote_dtypes((dtype, False), (numpy.dtype(numpy.float64), False))
    weights = ops.convert_element_type(weights, dtype)
    total = numpy_reduction.sum(weights, axes, None, keepdims)
    out = ops.div(
        numpy_reduction.sum(ops.mul(ops.convert_element_type(a, dtype), weights), axes, None, keepdims), total
    )
    return (out, total) if returned else out


def aligned_weights(name: str, weights: Any, aval: Any, axes: tuple[int, ...] | None) -> Any:
    """Returns weights broadcast to the shape of an array; weights may have some of its dimensions only."""
    given = get_aval(weights)
    if given.shape == aval.shape:
        return weights
    if axes is None:
        raise ArgumentTypeError(
            f"{name}: expected weights of the shape {aval.shape} where there is no axis, got {given}; give the axis"
        )
    if given.shape != tuple([aval.shape[axis] for axis in axes]):
        raise ArgumentValueError(
            f"{name}: expected weights of the lengths of the axes {axes} of {aval}, got {given}; slice them"
        )
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    shape = [aval.shape[axis] if axis in axes else 1 for axis in range(aval.ndim)]
    return broadcast_to(ops.reshape(ops.transpose(weights, order), shape), aval.shape)
