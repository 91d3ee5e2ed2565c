"""Exponentials without overflow: `logsumexp`, `softmax`, `log_softmax`, `expit`, `logit`."""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.core import get_aval
from lawful.special._arguments import floats, inexact, silent

_reduce = ops.numpy_reduction


@silent
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False, where: Any = None
) -> Any:
    """Returns ``log(sum(b * exp(a)))`` over some dimensions, without overflow.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      b: factors, broadcast with ``a``; 1 if None.
      keepdims: whether the dimensions stay, with length 1.
      return_sign: whether to return the logarithm of the absolute value of the sum, and its sign. Without it the
        logarithm of a negative sum of real numbers is NaN.
      where: which elements are added, broadcast with ``a``; all of them if None.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: shapes do not broadcast together.

    The sum of no elements is 0. Its logarithm -∞ has derivatives NaN, as in JAX. Where an element has nearly the whole
    sum, second derivatives by it are ``p - p ** 2`` of its share ``p``: an absolute error of 1e-16, as in JAX.
    ``logaddexp`` has all digits.

    >>> logsumexp(numpy.array([1000.0, 1000.0]))
    np.float64(1000.6931471805599)
    >>> logsumexp(numpy.array([1.0, 2.0]), b=numpy.array([1.0, -1.0]), return_sign=True)
    (np.float64(1.54132485461291...), np.float64(-1.0))

    Source: ``scipy.special.logsumexp``, ``jax.scipy.special.logsumexp``.
    """
    if b is None and where is None:
        return _logsumexp(a, axis, None, keepdims, return_sign, None)
    return _compute_logsumexp(a, axis, b, keepdims, return_sign, where)


def _compute_logsumexp(a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool, where: Any) -> Any:
    a = inexact("logsumexp", a)
    if b is not None:
        a, b = ops.promote("logsumexp", None, (a, inexact("logsumexp", b)))
        weightless = ops.eq(b, 0)
    if where is not None:
        a = ops.where(where, a, -numpy.inf)
    is_complex = get_aval(a).dtype.kind == "c"
    sizes = ops.real(a) if is_complex else a
    if b is not None:
        sizes = ops.where(weightless, -numpy.inf, sizes)
    largest = _largest(sizes, axis)
    shifted = ops.sub(a, largest)
    if b is not None:
        # The derivative by a factor of 0 is its exponential, unless that overflows.
        limit = math.log(float(numpy.finfo(get_aval(sizes).dtype).max))
        fits = ops.le(ops.real(shifted) if is_complex else shifted, limit)
        shifted = ops.where(ops.bitwise_and(weightless, ops.bitwise_not(fits)), -numpy.inf, shifted)
    weights = ops.exp(shifted)
    if b is not None:
        weights = ops.mul(b, weights)
    total = _reduce.sum(weights, axis=axis, keepdims=True)
    sign = ops.sign(total)
    if return_sign or not is_complex:
        out = ops.add(ops.log(ops.abs(total)), largest)
        if not return_sign and b is not None:
            out = ops.where(ops.lt(sign, 0), numpy.nan, out)
    else:
        out = ops.add(ops.log(total), largest)
    if not keepdims:
        out, sign = (_without(x, a, axis) for x in (out, sign))
    return (out, sign) if return_sign else out


_logsumexp = ops.Composite(_compute_logsumexp)


def _largest(x: Any, axis: Any) -> Any:
    """Returns the largest elements, with reduced dimensions of length 1; 0 if there is none or it is not finite."""
    aval = get_aval(x)
    axes = tuple(range(aval.ndim)) if axis is None else ops.canonical_axes("logsumexp", axis, aval.ndim)
    largest = ops.reduce_max(stop_gradient(x), axes)
    largest = ops.where(ops.is_finite(largest), largest, 0)
    return ops.expand_dims(largest, tuple(sorted(axes)))


def _without(x: Any, a: Any, axis: Any) -> Any:
    """Returns ``x`` without the reduced dimensions of length 1."""
    ndim = get_aval(a).ndim
    return ops.squeeze(x, tuple(range(ndim)) if axis is None else ops.canonical_axes("logsumexp", axis, ndim))


@silent
@ops.composite()
def softmax(x: Any, axis: Any = None) -> Any:
    """Returns ``exp(x) / sum(exp(x))`` over some dimensions, without overflow.

    Args:
      x: an array of real numbers.
      axis: the dimension, or a tuple of them; all of them if None.

    Raises:
      AxisError: there is no such dimension.

    The derivative of the largest element has an absolute error of 1e-16, as in JAX; that of `expit` has all digits.

    >>> softmax(numpy.array([0.0, 1000.0]))
    array([0., 1.])

    Source: ``scipy.special.softmax``; ``jax.nn.softmax`` has ``axis=-1``.
    """
    (x,) = floats("softmax", x)
    weights = ops.exp(ops.sub(x, _largest(x, axis)))
    return ops.div(weights, _reduce.sum(weights, axis=axis, keepdims=True))


@silent
@ops.composite()
def log_softmax(x: Any, axis: Any = None) -> Any:
    """Returns the logarithm of `softmax`, exact where that is small.

    The derivative of the largest element has an absolute error of 1e-16, as in JAX; that of ``log_sigmoid`` has all
    digits.

    >>> log_softmax(numpy.array([0.0, 1000.0]))
    array([-1000.,     0.])

    Source: ``scipy.special.log_softmax``; ``jax.nn.log_softmax`` has ``axis=-1``.
    """
    (x,) = floats("log_softmax", x)
    shifted = ops.sub(x, _largest(x, axis))
    return ops.sub(shifted, ops.log(_reduce.sum(ops.exp(shifted), axis=axis, keepdims=True)))


@silent
def expit(x: Any) -> Any:
    """Returns the logistic function ``1 / (1 + exp(-x))``, without overflow.

    >>> expit(0)
    np.float64(0.5)

    Source: ``scipy.special.expit``, ``jax.scipy.special.expit``.
    """
    return ops.logistic(inexact("expit", x))


@silent
@ops.composite()
def logit(x: Any) -> Any:
    """Returns ``log(x / (1 - x))``, the inverse of `expit`: ±∞ at 0 and 1, NaN outside.

    >>> logit(numpy.array([0.0, 0.5, 1.0]))
    array([-inf,   0.,  inf])

    Source: ``scipy.special.logit``, ``jax.scipy.special.logit``.
    """
    (x,) = floats("logit", x)
    return ops.sub(ops.log(x), ops.log1p(ops.neg(x)))
