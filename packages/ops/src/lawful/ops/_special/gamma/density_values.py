"""The values of the densities of the gamma and beta distributions, times functions of the parameters and ``x``.

Gamma functions of numbers below 10 are those of numbers larger by 10 over a product, and Stirling's series gives those
(DLMF 5.11.1). Products are not in the exponent, whose rounding errors are relative errors of the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.ops._support.double import LOG_TWO_PI, deviance, log_gamma_correction

_SHIFT = 10
#: A factor below the exponential of the first is computed as a multiple by the second, and keeps its digits.
_LEAST_EXPONENT, _LIFT = -600.0, 2.0**600


def gamma_value(a: Any, x: Any) -> tuple[Any, Any]:
    """Returns ``x ** a exp(-x) / gamma(a + 1)``, as `lifted` does."""
    is_large = a >= _SHIFT
    n = np.where(is_large, a, a + _SHIFT)
    distance = np.where(is_large, -deviance(n, x), a * np.log(x / n) + (n - x))
    value, unlifted = lifted(distance - log_gamma_correction(n) - (LOG_TWO_PI + np.log(n)) / 2)
    return value * np.where(is_large, 1.0, _rising(a) / _tenth_power(n)), unlifted


def beta_value(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """Returns ``x ** a (1 - x) ** b gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1))``, as `lifted` does."""
    large_a, large_b = a >= _SHIFT, b >= _SHIFT
    both_large, both_small = large_a & large_b, ~(large_a | large_b)
    p, q = np.where(large_a, a, a + _SHIFT), np.where(large_b, b, b + _SHIFT)
    n, rest = p + q, 1 - x
    exponent = _log_power(a, np.log(np.where(large_a & ~large_b, x, n * x / p)), n * x, p, q, large_a, large_b)
    log_rest = np.where(large_b & ~large_a, np.log1p(-x), np.log(n * rest / q))
    exponent = exponent + _log_power(b, log_rest, n * rest, q, p, large_b, large_a)
    corrections = log_gamma_correction(n) - log_gamma_correction(p) - log_gamma_correction(q)
    value, unlifted = lifted(exponent + corrections)
    value = value * np.sqrt(n / p / q * (1 / (2 * math.pi)))
    # The powers of n, p and q by which the arguments are shifted, and the products.
    m = np.where(both_small, n, 1.0)
    power = _tenth_power(m / np.where(large_a, 1.0, p) * (m / np.where(large_b, 1.0, q)))
    above = np.where(large_a, 1.0, _rising(a)) * np.where(large_b, 1.0, _rising(b)) * power
    total = a + b
    one_small = _falling(n)
    below = np.where(both_small, _rising(total) * _rising(total + _SHIFT), np.where(both_large, 1.0, one_small))
    return value * (above / below), unlifted


def _log_power(a: Any, log_x: Any, mean: Any, p: Any, q: Any, is_large: Any, other_is_large: Any) -> Any:
    """Returns the logarithm of ``x ** a`` times that of ``((p + q) / p) ** a``, which cancel where both are large.

    Args:
      a: the parameter.
      log_x: ``log(x)`` where ``a`` alone is large, otherwise ``log(mean / p)``.
      mean: ``(p + q) x``.
      p: the parameter, or larger by a shift.
      q: the other one, likewise.
      is_large: whether ``a`` is at least 10.
      other_is_large: whether the other parameter is.
    """
    both, alone = is_large & other_is_large, is_large & ~other_is_large
    ratio = (mean - p) / p
    near = both & (np.abs(ratio) < 0.5)
    ratio = np.where(near, ratio, 0.0)
    growth = np.log1p(np.where(alone, q / p, ratio))
    far = a * log_x + np.where(both, p - mean, 0.0)
    return np.where(near, a * (growth - ratio), np.where(alone, a * (log_x + growth), far))


def _rising(x: Any) -> Any:
    """Returns ``gamma(x + 11) / gamma(x + 1)``."""
    out = x + 1
    for k in range(2, _SHIFT + 1):
        out = out * (x + k)
    return out


def _falling(n: Any) -> Any:
    """Returns ``gamma(n + 1) / gamma(n - 9)`` over the tenth power of ``n``."""
    inverse = 1 / n
    out = 1 - inverse
    for k in range(2, _SHIFT):
        out = out * (1 - k * inverse)
    return out


def _tenth_power(x: Any) -> Any:
    square = x * x
    fourth = square * square
    return fourth * fourth * square


def lifted(exponent: Any) -> tuple[Any, Any]:
    """Returns the exponential, times a power of two where it is tiny, and the inverse of that power."""
    tiny = exponent < _LEAST_EXPONENT
    return np.exp(exponent + np.where(tiny, math.log(_LIFT), 0.0)), np.where(tiny, 1 / _LIFT, 1.0)
