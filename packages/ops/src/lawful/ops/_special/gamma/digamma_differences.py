"""Differences of the digamma function, and of its derivatives, with all digits also where they are small.

They are derivatives of the logarithm of the beta function.

>>> digamma_difference_p.bind(29.0, 1e-30, order=0)
-3.50841...e-32
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._elementwise.arithmetic.arithmetic import mul, neg
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.gamma.digamma_derivatives import BERNOULLI, cotangent_derivative, numpy_digamma_derivative
from lawful.ops._support.double import (
    REAL_PROMOTION,
    EvaluatedInDouble,
    is_nowhere,
    is_staged,
    lowered_in_double,
    rounding,
    weighted_sum,
)
from lawful.ops._support.number import Number

__all__ = ["digamma_derivative_of_sum_p", "digamma_difference_p"]

_SHIFT = 10
# Up to this many elements, fewer calls of NumPy weigh more than the memory that they need.
_FEW = 4096
_LARGEST = float(np.finfo(np.float64).max)


def _positive_difference(x: Any, h: Any, order: int) -> Any:
    """Returns the absolute value of the difference between ``x`` and ``x + h``, where neither is negative.

    All terms of the recurrence (DLMF 5.15.5) are positive. The rest is a difference of two asymptotic expansions
    (DLMF 5.11.2, 5.15.8), each a polynomial of the reciprocal, divided by the difference of these.
    """
    h = np.minimum(h, _LARGEST)
    y = x + h
    before = math.factorial(order) * _sum_of_changes(x, y, h, order + 1)
    w, z = x + _SHIFT, y + _SHIFT
    s, t = 1 / w, 1 / z
    change = h / z * s  # s - t
    slope = math.factorial(order) / 2 + (s + t) * _quotient_of_tails(s * s, t * t, order)[0]
    if order == 0:
        return before + (np.log1p(h / w) + change * slope)
    value = math.factorial(order - 1) + math.factorial(order) / 2 * t + _quotient_of_tails(s * s, t * t, order)[1]
    power, quotient = s, 1.0  # of s ** order - t ** order, divided by s - t
    for _ in range(order - 1):
        power, quotient = power * s, quotient * t + power
    return before + change * (power * slope + quotient * value)


def _quotient_of_tails(u: Any, v: Any, order: int) -> tuple[Any, Any]:
    """Returns the difference of the terms with Bernoulli numbers over ``u - v``, and the terms at ``v``."""
    slope, value = 0.0, 0.0
    for j in range(len(BERNOULLI), 0, -1):
        coefficient = BERNOULLI[j - 1] * math.factorial(2 * j + order - 1) / math.factorial(2 * j)
        slope, value = slope * u + value, value * v + coefficient
    return slope * u + value, value * v


def _sum_of_changes(x: Any, y: Any, h: Any, power: int) -> Any:
    """Returns the sum of ``(x + k) ** -power - (y + k) ** -power`` over ``k < 10``, given ``h = y - x``."""
    if isinstance(x, Number) or (not is_staged(x) and not 1 < x.size <= _FEW):
        total = 0.0
        for k in range(_SHIFT):
            total = total + _change(x + k, y + k, h, power)
        return total
    # One longer array: fewer calls of NumPy, and a shorter program.
    shifts = np.arange(float(_SHIFT)).reshape((_SHIFT,) + (1,) * x.ndim)
    changes = _change(x + shifts, y + shifts, h, power)
    return changes.sum(0) if is_staged(x) else np.add.reduce(changes, axis=0)


def _change(a: Any, b: Any, h: Any, power: int) -> Any:
    inverse = 1 / a
    out = h / b * inverse
    ratio, quotient = a / b, 1.0
    for _ in range(power - 1):
        out, quotient = out * inverse, quotient * ratio + 1.0
    return out * quotient if power > 1 else out


def _digamma_difference(x: Any, h: Any, *, order: int = 0) -> Any:
    """Returns ``digamma(x) - digamma(x + h)``, or the derivative of an order; of negative numbers by reflection."""
    sign = -1.0 if order % 2 == 0 else 1.0
    y = x + h
    if is_nowhere((x < 0) | (h < 0)):
        out = sign * _positive_difference(x, h, order)
    elif order:
        negative = (x < 0) | (y < 0)
        both, near_x, near_y, distance = _distances(x, h, y)
        reflected = both & (near_x * near_y != 0)
        # One difference, of these numbers or of their reflections.
        is_used = reflected | ~negative
        low = np.where(is_used, np.where(reflected, 1 - np.maximum(x, y), np.minimum(x, y)), 1.0)
        size = _positive_difference(low, np.where(is_used, np.abs(h), 1.0), order)
        waves = _change_of_cotangents(near_x, near_y, distance, order)
        out = np.where(reflected, np.where(h > 0, size, -size) - waves, np.where(h < 0, -sign, sign) * size)
        out = np.where(is_used, out, _difference_of_derivatives(x, h, y, order))
    else:
        out = _reflected_difference(x, h, y)
    # At -0.0 the limit from below, unless the sum is a pole as well.
    out = np.where((x == 0) & (1 / x < 0) & (np.abs(out) == np.inf), np.inf, out)
    if order:
        return out
    return np.where(h == np.inf, np.where(x < np.inf, -np.inf, np.nan), out)


def _reflected_difference(x: Any, h: Any, y: Any) -> Any:
    """Returns ``digamma(x) - digamma(y)``: digamma functions of positive numbers and cotangents, DLMF 5.5.4."""
    of_x, of_y = x < 0, y < 0
    both, near_x, near_y, distance = _distances(x, h, y)
    either = of_x | of_y
    p, q = np.where(of_x, 1 - x, x), np.where(of_y, 1 - y, y)
    falls = np.where(either, np.where(both, h > 0, p > q), h < 0)
    size = _positive_difference(np.where(falls, q, p), np.where(of_x == of_y, np.abs(h), np.abs(p - q)), 0)
    # cot(π x) - cot(π y) = sin(π (y - x)) / (sin(π x) sin(π y)), and the cotangent of π / 2 is 0.
    sines = np.sin(math.pi * near_x) * np.sin(math.pi * near_y)
    cotangents = math.pi * np.sin(math.pi * distance) / sines
    out = np.where(falls, size, -size) - np.where(either, cotangents, 0.0)
    return np.where(either & (near_x * near_y == 0), np.nan, out)


def _distances(x: Any, h: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the distances of two numbers from the nearest integers, and from one another but for an integer.

    Args:
      x: numbers.
      h: the steps from them to others.
      y: the others, rounded.

    Returns:
      Where both are negative; the distances of either from an integer, a half for those that are not negative; the
      difference of the distances.
    """
    of_x, of_y = x < 0, y < 0
    both = of_x & of_y
    near_x = np.where(of_x, x - np.rint(x), 0.5)
    near_y = np.where(of_y, (y - np.rint(y)) + rounding(x, h), 0.5)
    distance, near_h = near_y - near_x, h - np.rint(h)
    odd = np.abs(distance - near_h) > 0.5
    return both, near_x, near_y, np.where(both, np.where(odd, -near_h, near_h), distance)


def _change_of_cotangents(near_x: Any, near_y: Any, distance: Any, order: int) -> Any:
    """Returns the difference that reflection adds to that of a derivative from order 1 on, DLMF 5.15.6.

    Args:
      near_x: the distance of the first number from an integer.
      near_y: that of the second.
      distance: the difference of the distances.
      order: the order.
    """
    sines = [np.sin(math.pi * near) for near in (near_x, near_y)]
    first, second = (np.cos(math.pi * near) / sine for near, sine in zip((near_x, near_y), sines, strict=True))
    slope, value = 0.0, 0.0  # of a polynomial of the cotangent between both, and its value at the second
    for coefficient in reversed(cotangent_derivative(order)):
        slope, value = slope * first + value, value * second + coefficient
    return math.pi * (np.sin(math.pi * distance) / (sines[0] * sines[1])) * slope


def _difference_of_derivatives(x: Any, h: Any, y: Any, order: int) -> Any:
    """Returns the difference of a derivative from order 1 on at two numbers, of which one is negative."""
    near_y = _distance_of_sum(x, h, y)
    derivative = partial(numpy_digamma_derivative, order=order)
    out = weighted_sum(derivative, (1, x, x - np.rint(x)), (-1, y, near_y))
    return np.where((y < 0) & (near_y == 0), np.nan, out)


def _distance_of_sum(x: Any, h: Any, y: Any) -> Any:
    """Returns the distance of ``x + h``, which is ``y`` rounded, from the nearest integer."""
    return (y - np.rint(y)) + np.where(y < 0, rounding(x, h), 0.0)


def _derivative_of_sum(x: Any, h: Any, *, order: int = 1) -> Any:
    """Returns a derivative of the digamma function at ``x + h``, which is rounded; NaN at the poles left of 0."""
    y = x + h
    near = _distance_of_sum(x, h, y)
    return np.where((y < 0) & (near == 0), np.nan, numpy_digamma_derivative(y, near, order=order))


def _by_start(t: Any, ans: Any, x: Any, h: Any, *, order: int) -> Any:
    return mul(t, digamma_difference_p.bind(x, h, order=order + 1))


def _by_step(t: Any, ans: Any, x: Any, h: Any, *, order: int) -> Any:
    return mul(t, neg(digamma_derivative_of_sum_p.bind(x, h, order=order + 1)))


def _of_sum(t: Any, ans: Any, x: Any, h: Any, *, order: int) -> Any:
    return mul(t, digamma_derivative_of_sum_p.bind(x, h, order=order + 1))


#: A derivative of the digamma function at the first argument, less that at the sum of both.
digamma_difference_p = elementwise(
    "digamma_difference",
    "",
    EvaluatedInDouble("digamma_difference", _digamma_difference),
    lowered_in_double(_digamma_difference, inlined=False),
    arity=2,
    promote_as=REAL_PROMOTION[2],
    derivatives=(_by_start, _by_step),
    domain=(Interval(0.3, 4.0), Interval(0.1, 4.0)),
    params=lambda choose: {"order": choose.integer(0, 2)},
).primitive
#: The derivative of an order from 1 on of the digamma function, at the sum of both arguments.
digamma_derivative_of_sum_p = elementwise(
    "digamma_derivative_of_sum",
    "",
    EvaluatedInDouble("digamma_derivative_of_sum", _derivative_of_sum),
    lowered_in_double(_derivative_of_sum, inlined=False),
    arity=2,
    commutes=True,
    promote_as=REAL_PROMOTION[2],
    derivatives=(_of_sum, _of_sum),
    domain=(Interval(0.3, 4.0), Interval(0.3, 4.0)),
    params=lambda choose: {"order": choose.integer(1, 3)},
).primitive
