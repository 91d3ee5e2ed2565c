"""The incomplete gamma functions where their first argument is tiny or enormous.

There a power series or a continued fraction would lose all digits beside 1, or take too many steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.ops._special.error_functions.error_function import erfc
from lawful.ops._special.gamma import taylor
from lawful.ops._support.double import polynomial

__all__ = ["TINY", "by_normal_distribution", "upper_of_tiny"]

#: Below this number the upper function is computed without the lower one.
TINY = 0.01

# Coefficients of the power series of -lgamma(1 + a) / a: Euler's constant, then (-1)ᵏ⁺¹ zeta(k) / k for k = 2, 3, ….
_LOG_GAMMA = (
    0.57721566490153286, -0.82246703342411321, 0.40068563438653143, -0.27058080842778455, 0.20738555102867399,
    -0.16955717699740818, 0.14404989676884612, -0.12550966952474304,
)  # fmt: skip
_TERMS = 18
# Coefficients of the power series in η of the two terms of Temme's correction, DLMF 8.12.9 to 8.12.11.
_FIRST = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600)
_FIRST_SLOPE = tuple([k * c for k, c in enumerate(_FIRST)][1:])
_SECOND = (-1 / 540, -1 / 288, 1 / 378)
# Coefficients of the power series of (μ - log(1 + μ)) / μ².
_LOGARITHM = tuple([(-1) ** k / k for k in range(2, 16)])
# Those of (2 (1 + μ) (μ - log(1 + μ)) - μ²) / μ³.
_FALL = tuple([2 * (-1) ** k / ((k + 2) * (k + 3)) for k in range(14)])
_FARTHEST = 0.06


def upper_of_tiny(a: Any, x: Any) -> Any:
    """Returns the upper function for ``a`` below `TINY` and positive ``x`` of at most 1, by DLMF 8.7.1.

    The lower one is the power ``xᵃ / gamma(a + 1)`` times 1 and a sum, of which 1 is subtracted first.
    """
    log_power = a * (np.log(x) + polynomial(a, coefficients=_LOG_GAMMA))
    total: Any = 0.0
    for k in range(_TERMS, 0, -1):
        total = (1 / (a + k) - total / (k + 1)) * x if k < _TERMS else x / (a + k)
    return a * np.exp(log_power) * total - np.expm1(log_power)


def by_normal_distribution(a: Any, x: Any, order: int, upper: bool) -> Any:
    """Returns the lower or the upper function for ``a`` from `ENORMOUS` on, or its derivative by ``a``: Temme (1979).

    With ``η²/2 = μ - log(1 + μ)`` where ``x = a (1 + μ)``, the upper one is half of ``erfc(η sqrt(a/2))``, and a
    correction. Further than ``_FARTHEST`` from 0, the one is 0 and the other 1.

    Args:
      a: the first argument.
      x: the second one, not negative.
      order: that of the derivative.
      upper: which function.
    """
    distance = np.minimum(np.maximum((x - a) / a, -_FARTHEST), _FARTHEST)
    root = np.sqrt(polynomial(distance, coefficients=_LOGARITHM))
    scaled, eta = np.sqrt(a) * distance * root, math.sqrt(2) * distance * root
    density = np.exp(-scaled * scaled) / (math.sqrt(2 * math.pi) * np.sqrt(a))
    correction = polynomial(eta, coefficients=_FIRST) + polynomial(eta, coefficients=_SECOND) / a
    sign = 1.0 if upper else -1.0
    if order == 0:
        return 0.5 * erfc(sign * scaled) + sign * density * correction
    # Minus the derivative of η by a, times a.
    falls = 1 / (math.sqrt(2) * root)
    if order > 1:
        return sign * _higher_derivative(a, distance, eta, falls, density, order)
    slope = polynomial(eta, coefficients=_FIRST_SLOPE)
    change = falls - 0.5 * eta + correction * (np.log1p(distance) - 0.5 / a) - slope * falls / a
    return sign * density * change


def _higher_derivative(a: Any, distance: Any, eta: Any, falls: Any, density: Any, order: int) -> Any:
    """Returns a derivative of the upper function, by power series in a small change of ``a``."""
    orders = order, 0
    inverse = taylor.over(taylor.constant(1.0, orders), a, (1, 0))
    # The derivatives of μ, log(1 + μ), η and of minus that of η times a, f: -(1 + μ) / a, -1 / a, -f / a, -c f³ / a.
    mu = taylor.times(inverse, a * (1 + distance), (0, 0))
    mu[0, 0] = distance
    log, along = {(0, 0): np.log1p(distance)}, {(0, 0): eta}
    fall = {(0, 0): falls}
    coefficient = taylor.product(_of_series(_FALL, mu), inverse)
    for k in range(order):
        cubed = taylor.product(taylor.product(taylor.product(fall, fall), fall), coefficient)
        log[k + 1, 0] = -inverse[k, 0] / (k + 1)
        along[k + 1, 0] = -taylor.product(fall, inverse)[k, 0] / (k + 1)
        fall[k + 1, 0] = -cubed[k, 0] / (k + 1)
    correction = taylor.plus(_of_series(_FIRST, along), taylor.product(_of_series(_SECOND, along), inverse))
    # The derivative of the logarithm of the density.
    growth = taylor.plus(log, taylor.times(inverse, -0.5, (0, 0)))
    change = taylor.plus(taylor.plus(fall, taylor.times(along, -0.5, (0, 0))), taylor.product(correction, growth))
    lower = taylor.indices((order - 1, 0))
    change = {(i, 0): change[i, 0] + (i + 1) * correction[i + 1, 0] for i, _ in lower}
    exponent = {(i, 0): growth[i - 1, 0] / i if i else density for i, _ in lower}
    return math.factorial(order - 1) * taylor.product(taylor.exponential(exponent), change)[order - 1, 0]


def _of_series(coefficients: Sequence[float], x: taylor.Series) -> taylor.Series:
    """Returns a polynomial of a series by Horner's rule; the constant coefficient is first."""
    total = taylor.times(x, coefficients[-1], (0, 0))
    for c in coefficients[-2:0:-1]:
        total[0, 0] = total[0, 0] + c
        total = taylor.product(total, x)
    total[0, 0] = total[0, 0] + coefficients[0]
    return total
