"""Faddeeva's function, the scaled complementary error function of complex numbers.

>>> wofz(np.array([1j, 1.0]))
array([0.42758358+0.j        , 0.36787944+0.60715771j])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._elementwise.complex_parts import complex, imag, real
from lawful.ops._special.declaration import complex_function
from lawful.ops._special.error_functions.scaled_error_function import BOTH_RULES, STEP
from lawful.ops._special.parts import Parts, plus, scaled, times, where_parts
from lawful.ops._special.quadrature import sum_of_parts_over_nodes
from lawful.ops._support.double import is_staged, stacked
from lawful.ops._support.promotion import promote

__all__ = ["wofz", "wofz_imag_p", "wofz_real_p"]

_SLOPE = 2 / math.sqrt(math.pi)
_GROWTH = 2 * math.pi / STEP
# The inverse of a larger number is subnormal, and XLA takes it as 0.
_LARGE = 2.0**1020
# Nearer to 0 derivatives are those of the differential equation, w' = 2i / √π - 2 z w.
_NEAR = 3.5


def _exponential(x: Any, y: Any) -> Parts:
    size = np.exp(x)
    return size * np.cos(y), np.where(y == 0, 0.0, size * np.sin(y))


def _exponentials(*numbers: Parts) -> list[Parts]:
    """Returns exponentials of complex numbers; a staged program computes them together, and both parts at once."""
    if not is_staged(numbers[0][0]):
        return [_exponential(*z) for z in numbers]
    together = complex(*_exponential(*[stacked(parts, parts[0].ndim) for parts in zip(*numbers, strict=True)]))
    return [(real(z), imag(z)) for z in together]


def _minus_square(z: Parts) -> Parts:
    """Returns ``-z²``."""
    x, y = z
    # An infinite angle would be NaN, also where the exponential vanishes.
    angle = np.minimum(np.maximum(-2 * x * y, -_LARGE), _LARGE)
    return (y - x) * (y + x), np.where(x == 0, 0.0, angle)


def _derivatives_of_gauss(z: Parts, gauss: Parts, order: int) -> list[Parts]:
    """Returns ``exp(-z²)`` and its derivatives."""
    out = [gauss]
    for n in range(order):
        product = times(z, out[n])
        out.append(scaled(plus(product, scaled(out[n - 1], n)) if n else product, -2.0))
    return out


def _correction(wave: Parts, powers: list[Parts], order: int) -> Parts:
    """Returns a derivative of ``2 exp(-z²) / (1 + wave)``, given those of ``exp(-z²)``."""
    inverse = 1 / ((1 + wave[0]) * (1 + wave[0]) + wave[1] * wave[1])
    quotients: list[Parts] = [((1 + wave[0]) * inverse, -wave[1] * inverse)]
    for k in range(order):
        change = quotients[k]
        for j in range(k + 1):
            product = times(quotients[j], quotients[k - j])
            change = change[0] - product[0], change[1] - product[1]
        quotients.append(scaled((-change[1], change[0]), _GROWTH / (k + 1)))
    total: Parts = (0.0, 0.0)
    for k in range(order + 1):
        power = scaled(powers[k], 2.0 * math.comb(order, k) * math.factorial(order - k))
        total = plus(total, times(power, quotients[order - k]))
    return total


def _is_midpoint_rule(x: Any) -> Any:
    """Returns whether the midpoint rule has the farther nodes."""
    steps = np.minimum(np.maximum(x / STEP, -1e3), 1e3)
    return np.abs(steps - np.rint(steps)) <= 0.25


def _wave(z: Parts, at_middle: Any) -> Parts:
    """Returns the logarithm of ``exp(-2πi (z / step + shift))``, with the shift of the rule."""
    x, y = z
    turns = x / STEP + np.where(at_middle, 0.0, 0.5)
    return _GROWTH * y, -2 * math.pi * (turns - np.rint(turns))


def _by_rules(z: Parts, powers: list[Parts], wave: Parts, at_middle: Any, order: int) -> Parts:
    """Returns a derivative in the upper half plane: of ``i/π ∫ exp(-t²) / (z - t) dt`` by the rule with far nodes."""
    x, y = z
    # For large numbers, of their multiples.
    scale = np.minimum(np.maximum(1.0, np.maximum(np.abs(x), y)), _LARGE)
    inverse = 1 / scale
    near_x, near_y = x * inverse, y * inverse

    def of_node(t: Any, weight: Any, middle: Any, middle_weight: Any) -> Parts:
        rest = near_x - np.where(at_middle, middle, t) * inverse
        size = 1 / (rest * rest + near_y * near_y)
        ratio = rest * size, -near_y * size
        out = ratio
        for _ in range(order):
            out = times(out, ratio)
        return scaled(out, np.where(at_middle, middle_weight, weight))

    factor = STEP / math.pi * (-1) ** order * math.factorial(order) * inverse
    for _ in range(order):
        factor = factor * inverse
    total = sum_of_parts_over_nodes(of_node, x, *BOTH_RULES)
    near = (y < _GROWTH / 2) & (np.abs(x) < 30)
    correction = where_parts(near, _correction(wave, powers, order), (0.0, 0.0))
    return plus((-total[1] * factor, total[0] * factor), correction)


def _derivative(x: Any, y: Any, order: int) -> Parts:
    """Returns a derivative of the function; in the lower half plane by ``w(z) = 2 exp(-z²) - w(-z)``."""
    below = y < 0
    upper = np.where(below, -x, x), np.abs(y)
    infinite = (np.abs(x) == np.inf) | (np.abs(y) == np.inf)
    safe = where_parts(infinite, (1.0, 0.0), upper)
    at_middle = _is_midpoint_rule(safe[0])
    gauss, wave = _exponentials(_minus_square(upper), _wave(safe, at_middle))
    powers = _derivatives_of_gauss(upper, gauss, order)
    out = _by_rules(safe, powers, wave, at_middle, order)
    if order:
        near = (safe[0] * safe[0] + safe[1] * safe[1] < _NEAR**2) & (safe[1] < 1)
        before = _by_rules(safe, powers, wave, at_middle, 0)
        product = times(safe, before)
        following = -2 * product[0], _SLOPE - 2 * product[1]
        for n in range(1, order):
            product = plus(times(safe, following), scaled(before, n))
            before, following = following, scaled(product, -2.0)
        out = where_parts(near, following, out)
    out = where_parts(infinite & ((x == x) & (y == y)), (0.0, 0.0), where_parts(infinite, (np.nan, np.nan), out))
    # The exponential has no angle at infinity, but it vanishes there along the real axis.
    vanishes = (np.abs(x) == np.inf) & (np.abs(y) < np.inf)
    reflected = plus(scaled(where_parts(vanishes, (0.0, 0.0), powers[order]), 2.0), scaled(out, -1.0))
    out = where_parts(below, scaled(reflected, (-1) ** order), out)
    # On the imaginary axis the function is real, and so are its derivatives by the imaginary part.
    on_axis = (x == 0) & (y == y)
    if order % 2:
        return np.where(on_axis, 0.0, out[0]), out[1]
    return out[0], np.where(on_axis, 0.0, out[1])


wofz_real_p, wofz_imag_p = complex_function("wofz", _derivative, (Interval(-2.0, 4.0), Interval(-0.5, 4.0)))


def wofz(z: Any) -> Any:
    """Returns ``exp(-z²) erfc(-i z)`` of complex numbers, also where the exponential overflows.

    Args:
      z: complex numbers; real ones are converted.

    >>> wofz(np.array([0j, 1j]))
    array([1.        +0.j, 0.42758358+0.j])

    Source: ``scipy.special.wofz``, ``jax.scipy.special.wofz``.
    """
    (z,) = promote("wofz", np.exp, (z,))
    x, y = real(z), imag(z)
    with np.errstate(all="ignore"):
        return complex(wofz_real_p.bind(x, y, order=0), wofz_imag_p.bind(x, y, order=0))
