"""Values, sums, products and quotients of polynomials.

Leading zeros are never dropped: ``numpy.polymul`` and others drop them depending on values.
"""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval, is_inexact
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.broadcasting import atleast_1d

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


def polyval(p: Any, x: Any) -> Any:
    """Returns the values of a polynomial.

    Args:
      p: the coefficients, the highest first: a vector.
      x: an array or number.

    >>> polyval(numpy.array([3.0, 0.0, 1.0]), 5.0)
    np.float64(76.0)

    Source: ``numpy.polyval``.
    """
    y: Any = ops.full_like(x, 0)
    for i in range(get_aval(p).shape[0]):
        y = ops.add(ops.mul(y, x), ops.squeeze(ops.slice_in_dim(p, i, i + 1), (0,)))
    return y


def _aligned(a1: Any, a2: Any) -> tuple[Any, Any]:
    """Returns coefficients of equal length, padded in front with zeros."""
    left, right = atleast_1d(a1), atleast_1d(a2)
    sizes = get_aval(left).shape[0], get_aval(right).shape[0]
    length = max(sizes)
    padded = [
        ops.pad(x, get_aval(x).dtype.type(0), [(length - size, 0, 0)])
        for x, size in zip((left, right), sizes, strict=True)
    ]
    return padded[0], padded[1]


@eager(numpy.polyadd, arrays=2)
def polyadd(a1: Any, a2: Any) -> Any:
    """Returns the sum of two polynomials.

    >>> polyadd(numpy.array([1, 2]), numpy.array([9, 5, 4]))
    array([9, 6, 6])

    Source: ``numpy.polyadd``.
    """
    return ops.add(*_aligned(a1, a2))


@eager(numpy.polysub, arrays=2)
def polysub(a1: Any, a2: Any) -> Any:
    """Returns the difference of two polynomials.

    >>> polysub(numpy.array([9, 5, 4]), numpy.array([1, 2]))
    array([9, 4, 2])

    Source: ``numpy.polysub``.
    """
    return ops.sub(*_aligned(a1, a2))


def polymul(a1: Any, a2: Any) -> Any:
    """Returns the product of two polynomials; leading zeros stay.

    >>> polymul(numpy.array([1.0, 2.0]), numpy.array([1.0, 3.0]))
    array([1., 5., 6.])

    Source: ``numpy.polymul``, which drops leading zeros.
    """
    left, right = atleast_1d(a1), atleast_1d(a2)
    sizes = get_aval(left).shape[0], get_aval(right).shape[0]
    if 0 in sizes:
        raise ArgumentValueError("polymul: expected polynomials with coefficients, got none; give a zero")
    kernel = ops.rev(right, (0,))
    product = ops.conv_general_dilated(
        ops.reshape(left, (1, 1, sizes[0])), ops.reshape(kernel, (1, 1, sizes[1])), (1,), [(sizes[1] - 1,) * 2]
    )
    return ops.reshape(product, (sizes[0] + sizes[1] - 1,))


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Returns the quotient of two polynomials, and the remainder, with leading zeros if it has any.

    Args:
      u: the coefficients of the dividend, the highest first: a vector.
      v: the coefficients of the divisor; the first one must not be zero.

    Raises:
      ArgumentValueError: one has more than one dimension, or no coefficient.

    >>> polydiv(numpy.array([3.0, 5.0, 2.0]), numpy.array([2.0, 1.0]))
    (array([1.5 , 1.75]), array([0.25]))

    Source: ``numpy.polydiv``, which drops leading zeros of the remainder.
    """
    left, right = (inexact(vector("polydiv", x)) for x in (u, v))
    dtype = numpy.result_type(get_aval(left).dtype, get_aval(right).dtype)
    left, right = ops.convert_element_type(left, dtype), ops.convert_element_type(right, dtype)
    sizes = get_aval(left).shape[0], get_aval(right).shape[0]
    if 0 in sizes:
        raise ArgumentValueError("polydiv: expected polynomials with coefficients, got none; give a zero")
    steps = sizes[0] - sizes[1] + 1
    if steps < 1:
        return ops.full((1,), dtype.type(0)), left
    lead, rest = ops.slice_in_dim(right, 0, 1), ops.slice_in_dim(right, 1, sizes[1])
    quotient = []
    for _ in range(steps):
        factor = ops.div(ops.slice_in_dim(left, 0, 1), lead)
        quotient.append(factor)
        size = get_aval(left).shape[0]
        reduced = ops.sub(ops.slice_in_dim(left, 1, sizes[1]), ops.mul(factor, rest))
        left = ops.concatenate([reduced, ops.slice_in_dim(left, sizes[1], size)], 0)
    remainder = left if get_aval(left).shape[0] else ops.full((1,), dtype.type(0))
    return ops.concatenate(quotient, 0), remainder
