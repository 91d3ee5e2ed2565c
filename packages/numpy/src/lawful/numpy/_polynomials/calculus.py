"""Derivatives and antiderivatives of polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.broadcasting import atleast_1d
from lawful.ops import static_integers

__all__ = ["polyder", "polyint"]


def _order(name: str, m: Any) -> int:
    (order,) = static_integers(name, "m", m)
    if order < 0:
        raise ArgumentValueError(f"{name}: expected an order that is not negative, got {order}; use the other one")
    return order


def _degrees(n: int, function: Callable[[Any, Any], Any], p: Any) -> Any:
    """Returns ``function(p, d)`` for the degrees d = n, n - 1, …, 1."""
    return function(p, ops.sub(n, ops.iota("int64", n)))


# NumPy's recursion is as deep as the order is large.
_MANY = 500


def _coefficients(name: str, p: Any) -> Any:
    aval = get_aval(p)
    if not aval.ndim:
        raise ArgumentValueError(f"{name}: expected a vector of coefficients, got {aval}; use atleast_1d")
    return ops.convert_element_type(p, aval.dtype)


def _numpy_polyder(p: Any, m: int = 1) -> Any:
    if type(m) is int and m > _MANY:
        raise ValueError("the function below ends when no coefficients are left")
    return numpy.polyder(p, m)


@eager(_numpy_polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Returns the derivative of a polynomial, of order ``m``.

    Raises:
      ArgumentValueError: the order is negative, or the coefficients are a scalar.

    >>> polyder(numpy.array([1, 1, 1, 1]))
    array([3, 2, 1])

    Source: ``numpy.polyder``.
    """
    p = _coefficients("polyder", p)
    for _ in range(min(_order("polyder", m), get_aval(p).shape[0] + 1)):  # then no coefficients are left
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
      ArgumentValueError: the order is negative, there are not as many constants, or the coefficients are a scalar.

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
    p = _coefficients("polyint", p)
    for i in range(order):
        n = get_aval(p).shape[0]
        p = ops.concatenate([_degrees(n, ops.true_divide, p), ops.slice_in_dim(constants, i, i + 1)], 0)
    return p
