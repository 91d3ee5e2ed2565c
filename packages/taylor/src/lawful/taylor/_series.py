"""Truncated power series ``x(t) = x₀ + x₁ t + x₂ t² + … + x_K t^K``.

A series is the list of its K + 1 coefficients, arrays of one shape and dtype. A zero coefficient is None, which saves
work; that of order 0 is never None. These functions only apply ops to coefficients, so they run under any
transformation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import ops
from lawful.core import get_aval

Series = list[Any]


def constant(x: Any, order: int) -> Series:
    """Returns the series of a constant."""
    return [x, *[None] * order]


def moves(series: Series) -> bool:
    """Whether a series has a coefficient besides its first one."""
    return any([x is not None for x in series[1:]])


def plus(x: Any, y: Any) -> Any:
    """Returns the sum of two coefficients."""
    if x is None:
        return y
    return x if y is None else x + y


def total(terms: Sequence[Any]) -> Any:
    """Returns the sum of coefficients; None if all are zero."""
    found = None
    for term in terms:
        found = plus(found, term)
    return found


def times(x: Any, y: Any) -> Any:
    """Returns the product of two coefficients."""
    return None if x is None or y is None else x * y


def scaled(number: float, x: Any) -> Any:
    """Returns a coefficient times a number."""
    if x is None or number == 0:
        return None
    if number == 1:
        return x
    # ops.mul keeps the dtype; NumPy's operator makes float32 of a number times bfloat16.
    return number * x if is_number(x) else ops.mul(x, number)


def divided(x: Any, y: Any) -> Any:
    """Returns the quotient of two coefficients; division by zero gives infinity or NaN, also for Python numbers."""
    if x is None:
        return None
    found = ops.div(x, y)
    return found.item() if is_number(x) and is_number(y) else found


def is_number(x: Any) -> bool:
    """Whether a coefficient is a Python number, with Python's arithmetic."""
    return type(x) is float or type(x) is complex


def product(a: Series, b: Series, multiply: Callable[[Any, Any], Any] = times) -> Series:
    """Returns the series of a product, which is linear in both factors."""
    return [
        total([multiply(a[j], b[k - j]) for j in range(k + 1) if a[j] is not None and b[k - j] is not None])
        for k in range(len(a))
    ]


def convolved(a: Series, b: Series, k: int, first: int, last: int, weight: Callable[[int], float]) -> Any:
    """Returns the sum of ``weight(j) a[j] b[k - j]`` over j from ``first`` to ``last``; weights of 0 are left out."""
    return total([scaled(weight(j), times(a[j], b[k - j])) for j in range(first, last + 1) if weight(j)])


def with_derivative(value: Any, derivative: Callable[[Series, int], Any], order: int) -> Series:
    """Returns the series with a first coefficient and a given k-th coefficient of its derivative.

    Args:
      value: the coefficient of order 0.
      derivative: ``derivative(series, k)`` gives the coefficient of order ``k - 1`` of the derivative of the series,
        whose coefficients below ``k`` are there already.
      order: up to which coefficient.
    """
    series: Series = [value]
    for k in range(1, order + 1):
        series.append(scaled(1 / k, derivative(series, k)))
    return series


def chained(derivative: Series, inner: Series, k: int) -> Any:
    """Returns the coefficient of order ``k - 1`` of ``derivative(t) inner'(t)``, the chain rule."""
    return total([scaled(j, times(inner[j], derivative[k - j])) for j in range(1, k + 1)])


def dense(series: Series) -> Series:
    """Returns a series with zeros as arrays."""
    first = get_aval(series[0])
    return [ops.full(first.shape, 0, first.dtype) if x is None else x for x in series]
