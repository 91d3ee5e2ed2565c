"""The incomplete gamma functions where their first argument is tiny or enormous.

There a power series or a continued fraction would lose all digits beside 1, or take too many steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.ops._special.error_functions.error_function import erfc
from lawful.ops._support.double import polynomial

__all__ = ["ENORMOUS", "TINY", "by_normal_distribution", "upper_of_tiny"]

#: Below this number the upper function is computed without the lower one.
TINY = 0.01
#: From this number on the function is close to a normal distribution.
ENORMOUS = 1e6

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
      order: that of the derivative, 0 or 1.
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
    slope = polynomial(eta, coefficients=_FIRST_SLOPE)
    # Minus the derivative of η by a, times a.
    falls = 1 / (math.sqrt(2) * root)
    change = falls - 0.5 * eta + correction * (np.log1p(distance) - 0.5 / a) - slope * falls / a
    return sign * density * change
