"""The logarithm of the gamma function of complex numbers.

>>> loggamma(np.array([1j, -0.5]))
array([-0.6509232 -1.87243665j,  1.26551212-3.14159265j])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Excluded, Interval, get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.comparison import lt
from lawful.ops._elementwise.complex_parts import complex, imag, real
from lawful.ops._elementwise.select import where
from lawful.ops._special.declaration import complex_function
from lawful.ops._special.gamma.log_gamma import lgamma
from lawful.ops._special.parts import Parts, inverse, logarithm, plus, power, scaled, times, where_parts
from lawful.ops._special.quadrature import sum_of_parts_over_nodes
from lawful.ops._support.double import LOG_TWO_PI, STIRLING
from lawful.ops._support.promotion import convert, promote

__all__ = ["loggamma", "loggamma_imag_p", "loggamma_real_p"]

# Smaller arguments are shifted up by this.
_SHIFT = 10
# Numbers below the first are multiplied by the second where they are squared.
_TINY, _LIFT = 1e-100, 2.0**600
_STEPS = tuple(map(float, range(_SHIFT)))


def _stirling(w: Parts, order: int) -> Parts:
    """Returns a derivative by Stirling's series, DLMF 5.11.1, for ``|w| ≥ 10`` in the right half plane."""
    inverted = inverse(w)
    square = times(inverted, inverted)
    slopes = [math.prod(range(-2 * k - 1, -2 * k - 1 - order, -1)) * c for k, c in enumerate(STIRLING)]
    total: Parts = (slopes[-1], 0.0)
    for slope in slopes[-2::-1]:
        total = times(total, square)
        total = total[0] + slope, total[1]
    total = times(total, power(inverted, order + 1))
    if order == 0:
        out = times((w[0] - 0.5, w[1]), logarithm(w))
        return plus(total, (out[0] - w[0] + LOG_TWO_PI / 2, out[1] - w[1]))
    half = scaled(power(inverted, order), -0.5 * (-1) ** (order - 1) * math.factorial(order - 1))
    if order == 1:
        return plus(plus(total, half), logarithm(w))
    first = scaled(power(inverted, order - 1), float((-1) ** order * math.factorial(order - 2)))
    return plus(plus(total, half), first)


def _right(z: Parts, order: int) -> Parts:
    """Returns a derivative in the right half plane, from ``Re z = 1/2`` on."""
    x, y = z
    small = x * x + y * y < _SHIFT**2
    out = _stirling((np.where(small, x + _SHIFT, x), y), order)

    def of_step(k: Any) -> Parts:
        return logarithm((x + k, y)) if order == 0 else power(inverse((x + k, y)), order)

    scale = 1.0 if order == 0 else float((-1) ** (order - 1) * math.factorial(order - 1))
    moved = where_parts(small, scaled(sum_of_parts_over_nodes(of_step, x, _STEPS), scale), (0.0, 0.0))
    return out[0] - moved[0], out[1] - moved[1]


def _reflection(z: Parts, order: int) -> Parts:
    """Returns a derivative of ``log(2π) + iπ (z - 1/2) - log(1 - exp(2πi z))`` in the upper half plane."""
    x, y = z
    rest = x - np.rint(x)
    decay = np.exp(-2 * math.pi * y)
    sine = np.sin(math.pi * rest)
    wave = decay * np.cos(2 * math.pi * rest), decay * np.sin(2 * math.pi * rest)
    turned = -np.expm1(-2 * math.pi * y) * np.cos(2 * math.pi * rest) + 2 * sine * sine, -wave[1]
    tiny = np.maximum(np.abs(turned[0]), np.abs(turned[1])) < _TINY  # whose squares underflow
    lift = np.where(tiny, _LIFT, 1.0)
    lifted = turned[0] * lift, turned[1] * lift
    size = lifted[0] * lifted[0] + lifted[1] * lifted[1]
    if order == 0:
        log = np.log(size) / 2 - np.where(tiny, math.log(_LIFT), 0.0), np.arctan2(turned[1], turned[0])
        return LOG_TWO_PI - math.pi * y - log[0], math.pi * (x - 0.5) - log[1]
    # The series of 1 / (1 - q) and q / (1 - q), with q = exp(2πi z): the derivative of each is 2πi times their product.
    quotients: list[Parts] = [(lifted[0] / size * lift, -lifted[1] / size * lift)]
    others: list[Parts] = [times(wave, quotients[0])]
    for k in range(order - 1):
        change: Parts = (0.0, 0.0)
        for j in range(k + 1):
            change = plus(change, times(quotients[j], others[k - j]))
        quotients.append(scaled((-change[1], change[0]), 2 * math.pi / (k + 1)))
        others.append(quotients[-1])
    last = scaled(quotients[-1], 2 * math.pi * math.factorial(order - 1))
    return -last[1], last[0] - (math.pi if order == 1 else 0.0)


def _derivative(x: Any, y: Any, order: int) -> Parts:
    """Returns a derivative; in the lower half plane it is the conjugate of that above, in the left one reflected."""
    below = (y < 0) | ((y == 0) & (1 / y < 0))
    upper = x, np.abs(y)
    left = x < 0.5
    # The reflected number, 1 - z, is in the lower half plane: this is its conjugate.
    right = _right((np.where(left, 1 - x, x), upper[1]), order)
    sign = -float((-1) ** order)
    reflected = plus(_reflection(where_parts(left, upper, (0.25, 1.0)), order), (sign * right[0], -sign * right[1]))
    re, im = where_parts(left, reflected, right)
    im = np.where((y == 0) & ((x > 0) | (order > 0)), 0.0, im)
    return re, np.where(below, -im, im)


loggamma_real_p, loggamma_imag_p = complex_function(
    "loggamma",
    _derivative,
    (Interval(-2.4, 3.0), Interval(0.3, 3.0)),
    excluded=(Excluded(lambda x, y, **_: (y == 0) & (x <= 0), "a branch cut, and poles", order=0),),
)


def loggamma(x: Any) -> Any:
    """Returns the logarithm of the gamma function, continued along the real axis from positive numbers.

    It has a branch cut along the negative real axis. Of negative real numbers it is NaN.

    Args:
      x: real or complex numbers.

    >>> loggamma(np.array([1j, -0.5 + 0j]))
    array([-0.6509232 -1.87243665j,  1.26551212-3.14159265j])

    Source: ``scipy.special.loggamma``, ``jax.scipy.special.loggamma``.
    """
    (x,) = promote("loggamma", np.exp, (x,))
    with np.errstate(all="ignore"):
        if get_aval(x).dtype.kind != "c":
            factor = convert(where(lt(x, 0), np.nan, 1.0), get_aval(x).dtype)
            return mul(lgamma(x), factor)  # not a choice: derivatives are NaN there too
        re, im = real(x), imag(x)
        return complex(loggamma_real_p.bind(re, im, order=0), loggamma_imag_p.bind(re, im, order=0))
