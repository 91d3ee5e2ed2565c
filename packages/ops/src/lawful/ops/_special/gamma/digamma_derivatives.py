"""The derivatives of the digamma function, each of a known order, so that its powers are products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval, cached_function
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.double import EvaluatedInDouble, is_staged, lowered_in_double

_SHIFT = 10
#: The Bernoulli numbers of even indices from 2 on.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


@cached_function("derivatives of the cotangent", 64)
def cotangent_derivative(order: int) -> tuple[float, ...]:
    """Returns the coefficients, the constant one first, of a derivative of ``cot(π x)`` as a polynomial of itself."""
    coefficients = [0.0, 1.0]
    for _ in range(order):
        slope = [k * c * -math.pi for k, c in enumerate(coefficients)][1:]
        coefficients = [*slope, 0.0, 0.0]
        for k, c in enumerate(slope):
            coefficients[k + 2] += c
    return tuple(coefficients)


def _power(x: Any, exponent: int) -> Any:
    """Returns a positive integer power, by products."""
    out, square = None, x
    while exponent:
        exponent, odd = divmod(exponent, 2)
        if odd:
            out = square if out is None else out * square
        if exponent:
            square = square * square
    return out


def _sum_of_powers(x: Any, order: int) -> Any:
    """Returns the sum of ``(x + k) ** -(order + 1)`` over ``k = 0, 1, …``: Euler and Maclaurin, DLMF 25.11.9."""
    total: Any = 0.0
    if is_staged(x):  # one longer array makes a shorter program
        shifts = np.arange(float(_SHIFT)).reshape((_SHIFT,) + (1,) * x.ndim)
        total = _power(1 / (x + shifts), order + 1).sum(0)
    else:
        for k in range(_SHIFT):
            total = total + _power(1 / (x + k), order + 1)
    inverse = 1 / (x + _SHIFT)
    square = inverse * inverse
    terms = [b * math.prod(range(order + 1, order + 2 * j)) / math.factorial(2 * j) for j, b in enumerate(BERNOULLI, 1)]
    rest: Any = terms[-1]
    for term in terms[-2::-1]:
        rest = rest * square + term
    last = _power(inverse, order)
    return total + last * (1 / order + inverse * (0.5 + inverse * rest))


def numpy_digamma_derivative(x: Any, rest: Any = None, *, order: int = 1) -> Any:
    """Returns the derivative; that of a negative number by reflection, DLMF 5.15.6.

    Args:
      x: numbers.
      rest: their differences from the nearest integers, where these are known with more digits.
      order: from 1 on.
    """
    negative = x < 0
    size = math.factorial(order) * _sum_of_powers(np.where(negative, 1 - x, x), order)
    if rest is None:
        rest = x - np.rint(x)
    # At half integers it is 0, to which even derivatives are proportional.
    is_far = np.abs(rest) > 0.25
    tangent = np.tan(math.pi * np.where(is_far, np.where(rest > 0, 0.5, -0.5) - rest, rest))
    cotangent = np.where(is_far, tangent, 1 / tangent)
    coefficients = cotangent_derivative(order)
    wave: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        wave = wave * cotangent + c
    sign = 1.0 if order % 2 else -1.0
    out = np.where(negative, -math.pi * wave - size, sign * size)
    return np.where((x <= 0) & (x > -np.inf) & (x == np.floor(x)), sign * np.inf, out)


def _next(t: Any, ans: Any, x: Any, *, order: int) -> Any:
    return mul(t, digamma_derivative_p.bind(x, order=order + 1))


#: The derivative of an order from 1 on of the digamma function.
digamma_derivative_p = elementwise(
    "digamma_derivative",
    "",
    EvaluatedInDouble("digamma_derivative", numpy_digamma_derivative),
    lowered_in_double(numpy_digamma_derivative),
    derivatives=(_next,),
    domain=(Interval(0.3, 4.0),),
    params=lambda choose: {"order": choose.integer(1, 3)},
).primitive
