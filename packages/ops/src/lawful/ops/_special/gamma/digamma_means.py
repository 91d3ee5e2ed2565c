"""Means of derivatives of the digamma function over an interval: differences divided by the length, which may be tiny.

Derivatives of the beta function are sums of positive products of them.

>>> digamma_mean_p.bind(1e200, 1e-200, order=1, power=0)
1e-200
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval, Unequal
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.gamma.digamma_derivatives import BERNOULLI
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, lowered_in_double

__all__ = ["digamma_mean_p"]

_SHIFT = 10
# So many terms of a power series in up to 1/2 are exact.
_TERMS = 50


def _digamma_mean(x: Any, h: Any, *, order: int, power: int) -> Any:
    """Returns the integral over ``0 < t < 1`` of ``t ** power`` times a derivative of the digamma function.

    It is taken at ``x + t h``. All terms of the recurrence (DLMF 5.15.5) and of its rest (DLMF 5.15.8) are integrals of
    powers, which have one sign.

    Args:
      x: positive numbers.
      h: numbers that are not negative.
      order: the order of the derivative, above ``power``.
      power: the exponent.
    """
    x = np.where(x == 0, 0.0, x)  # the pole is approached from above, also at -0.0
    total: Any = 0.0
    for k in range(_SHIFT):
        total = total + math.factorial(order) * _mean_of_power(x + k, (x + h) + k, order + 1, power)
    w, z = x + _SHIFT, (x + h) + _SHIFT
    for j in range(len(BERNOULLI), 0, -1):
        coefficient = BERNOULLI[j - 1] * math.factorial(2 * j + order - 1) / math.factorial(2 * j)
        total = total + coefficient * _mean_of_power(w, z, order + 2 * j, power)
    total = total + math.factorial(order) / 2 * _mean_of_power(w, z, order + 1, power)
    lowest = _mean_of_power(w, z, order, power) if order > power + 1 else _mean_of_last_power(w, z, h, power)
    total = total + math.factorial(order - 1) * lowest
    return total if order % 2 else -total


def _mean_of_power(w: Any, z: Any, exponent: int, power: int) -> Any:
    """Returns the integral of ``t ** power * (w + t (z - w)) ** -exponent``, for ``exponent > power + 1``.

    By the formula of Hermite and Genocchi it is a divided difference of a power.
    """
    count = exponent - 1 - power
    ratio, total = w / z, 0.0
    for i in range(count - 1, -1, -1):
        total = total * ratio + float(math.comb(i + power, power))
    scale = math.factorial(power) * math.factorial(count - 1) / math.factorial(exponent - 1)
    return scale * total * _power(1 / w, count) * _power(1 / z, power + 1)


def _mean_of_last_power(w: Any, z: Any, h: Any, power: int) -> Any:
    """Returns the integral of ``t ** power * (w + t h) ** -(power + 1)``, where ``z = w + h``.

    It is the logarithm of ``z / w`` without the first terms of its series in ``h / z``.
    """
    ratio = h / z
    series: Any = 0.0
    for k in range(_TERMS, 0, -1):
        series = series * ratio + 1 / (k + power)
    far = ratio > 0.5
    safe = np.where(far, ratio, 0.5)
    rest: Any = np.log1p(np.where(far, h / w, 1.0))
    for k in range(1, power + 1):
        rest = rest - _power(safe, k) / k
    return np.where(far, rest / _power(safe, power + 1), series) * _power(1 / z, power + 1)


def _power(x: Any, exponent: int) -> Any:
    out = x
    for _ in range(exponent - 1):
        out = out * x
    return out


def _by_start(t: Any, ans: Any, x: Any, h: Any, *, order: int, power: int) -> Any:
    return mul(t, digamma_mean_p.bind(x, h, order=order + 1, power=power))


def _by_length(t: Any, ans: Any, x: Any, h: Any, *, order: int, power: int) -> Any:
    return mul(t, digamma_mean_p.bind(x, h, order=order + 1, power=power + 1))


_NEGATIVE = Unequal(
    "xla",
    lambda x, h, **_: (x < 0) | (h < 0),
    "the arguments are not negative; between negative ones and poles, rounding decides the sign of infinity",
)

#: The mean of a derivative of the digamma function between the first argument and the sum of both, weighted by a power
#: of the distance from the first; the order of the derivative is above the power.
digamma_mean_p = elementwise(
    "digamma_mean",
    "",
    EvaluatedInDouble("digamma_mean", _digamma_mean),
    lowered_in_double(_digamma_mean, inlined=False),
    arity=2,
    promote_as=REAL_PROMOTION[2],
    derivatives=(_by_start, _by_length),
    domain=(Interval(0.3, 4.0), Interval(0.1, 4.0)),
    unequal=(_NEGATIVE,),
    params=lambda choose: {"order": choose.integer(2, 3), "power": choose.integer(0, 1)},
).primitive
