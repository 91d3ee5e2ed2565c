"""Polynomials as vectors of their coefficients, the highest first.

What ``numpy.polymul`` and others do about leading zeros depends on values; here they are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._broadcasting import atleast_1d
from lawful.numpy._eager import eager
from lawful.ops import static_integers

__all__ = ["polyadd", "polyder", "polyint", "polymul", "polysub", "polyval", "vander"]


@eager(numpy.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Returns the powers of a vector's elements: ``N`` columns, by default as many as rows.

    Args:
      x: a vector.
      N: the number of columns.
      increasing: whether the powers increase from the left to the right.

    Raises:
      ArgumentValueError: it is no vector, or ``N`` is negative.

    >>> vander(numpy.array([1, 2, 3]))
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])

    Source: ``numpy.vander``.
    """
    aval = get_aval(x)
    if aval.ndim != 1:
        raise ArgumentValueError(f"vander: expected a vector, got {aval}; ravel it")
    (size,) = aval.shape
    (columns,) = static_integers("vander", "N", size if N is None else N)
    if columns < 0:
        raise ArgumentValueError(f"vander: expected a number of columns that is not negative, got {columns}")
    (x,) = ops.promote("vander", None, (x,))
    x = ops.convert_element_type(x, numpy.promote_types(aval.dtype, int) if aval.dtype.kind in "biufc" else aval.dtype)
    dtype = get_aval(x).dtype
    if not columns:
        return ops.full((size, 0), 0, dtype)
    repeated = ops.broadcast_in_dim(x, (size, columns - 1), (0,))
    powers = ops.concatenate([ops.full((size, 1), 1, dtype), ops.cumprod(repeated, axis=1)], 1)
    return powers if increasing else ops.rev(powers, (1,))


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
    """Returns coefficients with zeros before the shorter ones."""
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


def _order(name: str, m: Any) -> int:
    (order,) = static_integers(name, "m", m)
    if order < 0:
        raise ArgumentValueError(f"{name}: expected an order that is not negative, got {order}; use the other one")
    return order


def _degrees(n: int, function: Callable[[Any, Any], Any], p: Any) -> Any:
    """Returns coefficients with n, n - 1, …, 1."""
    return function(p, ops.sub(n, ops.iota("int64", n)))


@eager(numpy.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Returns the derivative of a polynomial, of order ``m``.

    Raises:
      ArgumentValueError: the order is negative.

    >>> polyder(numpy.array([1, 1, 1, 1]))
    array([3, 2, 1])

    Source: ``numpy.polyder``.
    """
    p = ops.convert_element_type(p, get_aval(p).dtype)
    for _ in range(_order("polyder", m)):
        n = max(get_aval(p).shape[0] - 1, 0)
        p = _degrees(n, ops.mul, ops.slice_in_dim(p, 0, n))
    return p


@eager(numpy.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Returns the antiderivative of a polynomial, of order ``m``.

    Args:
      p: the coefficients, the highest first: a vector.
      m: the order.
      k: the constants of integration: a number for all, or one for each order; zeros by default.

    Raises:
      ArgumentValueError: the order is negative, or there are not as many constants.

    >>> polyint(numpy.array([3.0, 2.0, 1.0]))
    array([1., 1., 1., 0.])

    Source: ``numpy.polyint``.
    """
    order = _order("polyint", m)
    constants = ops.full((order,), 0.0) if k is None else atleast_1d(k if not isinstance(k, list) else numpy.array(k))
    count = get_aval(constants).shape[0]
    if count == 1 and order > 1:
        constants, count = ops.broadcast_in_dim(constants, (order,), (0,)), order
    if count < order:
        raise ArgumentValueError(f"polyint: expected a constant for each of {order} orders, got {count}; give as many")
    p = ops.convert_element_type(p, get_aval(p).dtype)
    for i in range(order):
        n = get_aval(p).shape[0]
        p = ops.concatenate([_degrees(n, ops.true_divide, p), ops.slice_in_dim(constants, i, i + 1)], 0)
    return p
