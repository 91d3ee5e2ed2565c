"""Values, sums, products and quotients of polynomials.

Leading zeros are dropped only if asked for: ``numpy.polymul`` and others drop them depending on values.
"""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, ConcretizationTypeError, Tracer, get_aval, is_inexact, to_numpy
from lawful.numpy._dtypes import finfo
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.broadcasting import atleast_1d, broadcast_to

__all__ = ["polyadd", "polydiv", "polymul", "polysub", "polyval"]


_FLOAT = numpy.dtype(numpy.float64)


def inexact(x: Any) -> Any:
    """Returns an array with an inexact dtype: unchanged, or converted to float64."""
    aval = get_aval(x)
    return ops.convert_element_type(x, aval.dtype if is_inexact(aval.dtype) else _FLOAT)


def vector(name: str, p: Any) -> Any:
    """Returns coefficients as a vector."""
    p = atleast_1d(p)
    if get_aval(p).ndim != 1:
        raise ArgumentValueError(f"{name}: expected a vector of coefficients, got {get_aval(p)}; ravel it")
    return p


def _trimmed(name: str, p: Any, tolerance: float = 0.0) -> Any:
    """Returns coefficients without those in front that are zero, or as near to it; the last one stays.

    Raises:
      ConcretizationTypeError: the values are not known.
    """
    aval = get_aval(p)
    known = p.concrete() if isinstance(p, Tracer) else to_numpy(p)
    if known is None:
        raise ConcretizationTypeError(
            f"{name}: expected polynomials whose coefficients are known with trim_leading_zeros=True, got the tracer "
            f"{aval}: how many are zero would decide a shape; slice it"
        )
    positions = numpy.flatnonzero(~(numpy.abs(known) <= tolerance))  # NaN is no zero
    start = int(positions[0]) if len(positions) else aval.size - 1
    return ops.slice_in_dim(p, start, aval.size) if start > 0 else p


def polyval(p: Any, x: Any) -> Any:
    """Returns the values of a polynomial.

    Args:
      p: the coefficients, the highest first: a vector.
      x: an array or number.

    Raises:
      ArgumentValueError: the coefficients are a scalar.

    >>> polyval(numpy.array([3.0, 0.0, 1.0]), 5.0)
    np.float64(76.0)

    Source: ``numpy.polyval``.
    """
    if not get_aval(p).ndim:
        raise ArgumentValueError(f"polyval: expected a vector of coefficients, got {get_aval(p)}; use atleast_1d")
    y: Any = ops.full_like(x, 0)
    for i in range(get_aval(p).shape[0]):
        y = ops.add(ops.mul(y, x), ops.squeeze(ops.slice_in_dim(p, i, i + 1), (0,)))
    return y


def _aligned(a1: Any, a2: Any) -> tuple[Any, Any]:
    """Returns coefficients of equal length, padded in front with zeros; the first dimension is that of the powers."""
    left, right = atleast_1d(a1), atleast_1d(a2)
    (length, *after_left), (other, *after_right) = get_aval(left).shape, get_aval(right).shape
    if length == other:
        return left, right
    if length < other:
        return _in_front(left, other, after_right), right
    return left, _in_front(right, length, after_left)


def _in_front(x: Any, length: int, after: list[int]) -> Any:
    """Returns coefficients with zeros in front, after they are broadcast to the dimensions after the first."""
    aval = get_aval(x)
    if after:
        x = broadcast_to(x, (aval.shape[0], *after))
    return ops.pad(x, aval.dtype.type(0), [(length - aval.shape[0], 0, 0), *[(0, 0, 0)] * len(after)])


def _of_vectors(numpy_function: Any) -> Any:
    """Returns a sum of NumPy's, which pads coefficients that are arrays along another dimension, of vectors only."""

    def function(a1: Any, a2: Any) -> Any:
        if numpy.ndim(a1) > 1 or numpy.ndim(a2) > 1:
            raise ValueError("the function below aligns them")
        return numpy_function(a1, a2)

    return function


@eager(_of_vectors(numpy.polyadd), arrays=2)
def polyadd(a1: Any, a2: Any) -> Any:
    """Returns the sum of two polynomials.

    >>> polyadd(numpy.array([1, 2]), numpy.array([9, 5, 4]))
    array([9, 6, 6])

    Source: ``numpy.polyadd``.
    """
    return ops.add(*_aligned(a1, a2))


@eager(_of_vectors(numpy.polysub), arrays=2)
def polysub(a1: Any, a2: Any) -> Any:
    """Returns the difference of two polynomials.

    >>> polysub(numpy.array([9, 5, 4]), numpy.array([1, 2]))
    array([9, 4, 2])

    Source: ``numpy.polysub``.
    """
    return ops.sub(*_aligned(a1, a2))


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Returns the product of two polynomials; leading zeros stay.

    Args:
      a1: the coefficients, the highest first: a vector.
      a2: those of the other polynomial.
      trim_leading_zeros: whether their leading zeros are dropped first. Then their values have to be known: the
        derivative may be taken, the function may not be compiled or mapped.

    Raises:
      ArgumentValueError: one has no coefficient.
      ConcretizationTypeError: the values are not known, but zeros are to be dropped.

    >>> polymul(numpy.array([1.0, 2.0]), numpy.array([1.0, 3.0]))
    array([1., 5., 6.])
    >>> polymul(numpy.array([0.0, 1.0, 2.0]), numpy.array([1.0, 3.0]), trim_leading_zeros=True)
    array([1., 5., 6.])

    Source: ``numpy.polymul``, which drops leading zeros; ``jax.numpy.polymul``.
    """
    left, right = atleast_1d(a1), atleast_1d(a2)
    if trim_leading_zeros:
        left, right = (_trimmed("polymul", vector("polymul", x)) for x in (left, right))
    sizes = get_aval(left).shape[0], get_aval(right).shape[0]
    if 0 in sizes:
        raise ArgumentValueError("polymul: expected polynomials with coefficients, got none; give a zero")
    kernel = ops.rev(right, (0,))
    product = ops.conv_general_dilated(
        ops.reshape(left, (1, 1, sizes[0])), ops.reshape(kernel, (1, 1, sizes[1])), (1,), [(sizes[1] - 1,) * 2]
    )
    return ops.reshape(product, (sizes[0] + sizes[1] - 1,))


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
    """Returns the quotient of two polynomials, and the remainder, with leading zeros if it has any.

    Args:
      u: the coefficients of the dividend, the highest first: a vector.
      v: the coefficients of the divisor; the first one must not be zero.
      trim_leading_zeros: whether leading coefficients of the remainder are dropped that are at most the square root of
        the dtype's epsilon. Then values have to be known, as for :func:`polymul`.

    Raises:
      ArgumentValueError: one has more than one dimension, or no coefficient.
      ConcretizationTypeError: the values are not known, but zeros are to be dropped.

    >>> polydiv(numpy.array([3.0, 5.0, 2.0]), numpy.array([2.0, 1.0]))
    (array([1.5 , 1.75]), array([0.25]))
    >>> divided = numpy.array([1.0, 3.0, 3.0, 2.0])
    >>> polydiv(divided, numpy.array([1.0, 1.0, 1.0]), trim_leading_zeros=True)
    (array([1., 2.]), array([0.]))

    Source: ``numpy.polydiv``, which drops leading zeros of the remainder; ``jax.numpy.polydiv``.
    """
    left, right = (inexact(vector("polydiv", x)) for x in (u, v))
    dtype = numpy.result_type(get_aval(left).dtype, get_aval(right).dtype)
    left, right = ops.convert_element_type(left, dtype), ops.convert_element_type(right, dtype)
    sizes = get_aval(left).shape[0], get_aval(right).shape[0]
    if 0 in sizes:
        raise ArgumentValueError("polydiv: expected polynomials with coefficients, got none; give a zero")
    steps = sizes[0] - sizes[1] + 1
    if steps < 1:
        quotient, remainder = [ops.full((1,), dtype.type(0))], left
    else:
        quotient, remainder = _divided(left, right, steps)
    if trim_leading_zeros:
        remainder = _trimmed("polydiv", remainder, float(finfo(dtype).eps) ** 0.5)
    return ops.concatenate(quotient, 0), remainder


def _divided(left: Any, right: Any, steps: int) -> tuple[list[Any], Any]:
    """Returns the coefficients of a quotient, and those of the remainder."""
    dtype, length = get_aval(right).dtype, get_aval(right).shape[0]
    lead, rest = ops.slice_in_dim(right, 0, 1), ops.slice_in_dim(right, 1, length)
    quotient = []
    for _ in range(steps):
        factor = ops.div(ops.slice_in_dim(left, 0, 1), lead)
        quotient.append(factor)
        size = get_aval(left).shape[0]
        reduced = ops.sub(ops.slice_in_dim(left, 1, length), ops.mul(factor, rest))
        left = ops.concatenate([reduced, ops.slice_in_dim(left, length, size)], 0)
    return quotient, left if get_aval(left).shape[0] else ops.full((1,), dtype.type(0))
