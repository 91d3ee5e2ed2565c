"""The scaled complementary error function, Dawson's integral, and the inverse of the complementary error function.

>>> erfcx(np.array([0.0, 1e3])), dawsn(1.0)
(array([1.00000000e+00, 5.64189301e-04]), np.float64(0.53807950691276...))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import Interval, Primitive
from lawful.ops._elementwise.arithmetic.arithmetic import abs, div, mul, sub
from lawful.ops._elementwise.comparison import eq, gt
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._special.declaration import special_function
from lawful.ops._special.error_functions.error_function import normal_quantile
from lawful.ops._special.quadrature import sum_over_nodes
from lawful.ops._support.double import polynomial

__all__ = [
    "dawsn",
    "dawsn_derivative_p",
    "dawsn_p",
    "erfc_inv",
    "erfc_inv_p",
    "erfcx",
    "erfcx_derivative_p",
    "erfcx_p",
]

_SLOPE = 2 / math.sqrt(math.pi)
#: The step of the midpoint rule for ``∫ exp(-t²) x / (x² + t²) dt``, whose correction for the pole is exact up to
#: ``exp(-π² / step²) = 3e-19``; see Al Azah and Chandler-Wilde, SIAM J. Numer. Anal. 59 (2021).
STEP = 0.48
MIDPOINTS = tuple([STEP * (k + 0.5) for k in range(14)])
WEIGHTS = tuple([math.exp(-t * t) for t in MIDPOINTS])
_GROWTH = 2 * math.pi / STEP


def _both_rules() -> tuple[tuple[float, ...], ...]:
    rules = [[STEP * (k + shift) for k in range(-14, 14)] for shift in (0.0, 0.5)]
    return tuple([tuple(column) for rule in rules for column in (rule, [math.exp(-t * t) for t in rule])])


#: Nodes and weights of the trapezoidal rule, and those of the midpoint rule, for the whole line.
BOTH_RULES = _both_rules()


def by_recurrence(x: Any, value: Any, first: Any, order: int, sign: float) -> Any:
    """Returns a derivative of ``f`` with ``f' = sign 2 x f + constant``, given ``f`` and ``f'``."""
    before, out = value, first
    for n in range(1, order):
        before, out = out, sign * 2 * (x * out + n * before)
    return value if order == 0 else out


def _correction(x: Any, order: int) -> Any:
    """Returns a derivative of ``2 exp(x²) / (1 + exp(2 π x / step))``, for ``x ≥ 1`` by powers of the exponential."""
    if order == 0:
        return 2 * np.exp(x * x - _GROWTH * x) / (1 + np.exp(-_GROWTH * x))
    total: Any = 0.0
    for k in (3, 2, 1):
        slope = 2 * x - k * _GROWTH
        before, out = 0.0, (-1) ** (k + 1) * 2 * np.exp(x * x - k * _GROWTH * x)
        for n in range(order):
            before, out = out, slope * out + 2 * n * before
        total = total + out
    return total


def _by_midpoints(x: Any, order: int) -> Any:
    """Returns a derivative of `erfcx`, for ``x ≥ 0``, and ``x ≥ 1`` unless it is that of order 0."""
    safe = np.maximum(x, 1e-300)

    def term(t: Any, weight: Any) -> Any:
        # The real part of (x / (x + i t))^(n + 1), over x for x < 1.
        if order == 0:
            return weight * np.where(x < 1, x / (x * x + t * t), 1 / (1 + (t / safe) ** 2))
        tangent = t / safe
        size = 1 / (1 + tangent * tangent)
        re, im = size, -tangent * size
        for _ in range(order):
            re, im = size * (re + tangent * im), size * (im - tangent * re)
        return weight * re

    total = (2 * STEP / math.pi) * sum_over_nodes(term, x, MIDPOINTS, WEIGHTS)
    near = x < _GROWTH / 2
    correction = np.where(near, _correction(np.where(near, x, 1.0), order), 0.0)
    if order == 0:
        return np.where(x < 1, total, total / safe) + correction
    for k in range(1, order + 1):
        total = total * (-k / safe)
    return total / safe + correction


def _numpy_erfcx(x: Any) -> Any:
    size = np.abs(x)
    out = _by_midpoints(size, 0)
    return np.where(x < 0, 2 * np.exp(x * x) - out, out)


def _numpy_erfcx_derivative(x: Any, *, order: int = 1) -> Any:
    near = np.minimum(x, 1.0)
    value = _numpy_erfcx(near)
    near = by_recurrence(near, value, 2 * near * value - _SLOPE, order, 1.0)
    return np.where(x < 1, near, _by_midpoints(np.maximum(x, 1.0), order))


# Dawson's integral is the sum of exp(-(x - n h)²) / (n √π) over odd n, by Rybicki (1989), with an error of
# exp(-(π / (2 h))²). The numbers n are counted from the even one for which n h is nearest to x.
_RYBICKI_STEP = 0.25
_ODD = tuple([float(n) for n in range(-25, 26, 2)])
_SERIES = tuple([(-2.0) ** k / math.prod(range(1, 2 * k + 2, 2)) for k in range(16)])
# From here on derivatives are those of a rule for the integral of exp(-t²) / (x - t), and of its correction.
_FAR = 3.5


def _numpy_dawsn(x: Any) -> Any:
    size = np.abs(x)
    square = np.minimum(size, 0.5) ** 2
    near = x * polynomial(square, coefficients=_SERIES)
    far = np.minimum(np.maximum(size, 0.5), 1e10)
    nearest = 2 * np.rint(far / (2 * _RYBICKI_STEP))
    rest = far - nearest * _RYBICKI_STEP

    def term(n: Any) -> Any:
        return np.exp(-((rest - n * _RYBICKI_STEP) ** 2)) / (nearest + n)

    far = sum_over_nodes(term, x, _ODD) / math.sqrt(math.pi)
    far = np.where(size > 1e10, 0.5 / size, far)
    return np.where(size <= 0.5, near, np.where(x < 0, -far, far))


def _wave(x: Any, shift: Any, order: int) -> Any:
    """Returns a derivative of ``exp(-x²) tan(π (x / step + shift))``, by power series."""
    slope = math.pi / STEP
    angle = x / STEP + shift
    tangents = [np.tan(math.pi * (angle - np.rint(angle)))]
    powers = [np.exp(-x * x)]
    for k in range(order):
        square = sum([tangents[j] * tangents[k - j] for j in range(1, k + 1)], start=tangents[0] * tangents[k])
        tangents.append((square + 1.0 if k == 0 else square) * (slope / (k + 1)))
        powers.append((x * powers[k] + (powers[k - 1] if k else 0.0)) * (-2 / (k + 1)))
    total = powers[0] * tangents[order]
    for k in range(1, order + 1):
        total = total + powers[k] * tangents[order - k]
    return total * math.factorial(order)


def _numpy_dawsn_derivative(x: Any, *, order: int = 1) -> Any:
    size = np.abs(x)
    near = np.minimum(size, _FAR)
    value = _numpy_dawsn(near)
    near = by_recurrence(near, value, 1 - 2 * near * value, order, -1.0)
    # The rule whose nodes are not close to x.
    far = np.maximum(size, _FAR)
    finite = np.minimum(far, 1e100)
    steps = np.minimum(far, 30.0) / STEP
    at_middle = np.abs(steps - np.rint(steps)) <= 0.25

    def term(t: Any, weight: Any, middle: Any, middle_weight: Any) -> Any:
        ratio = finite / (finite - np.where(at_middle, middle, t))
        return np.where(at_middle, middle_weight, weight) * ratio ** (order + 1)

    total = sum_over_nodes(term, x, *BOTH_RULES) * (STEP / (2 * math.sqrt(math.pi)))
    for k in range(1, order + 1):
        total = total * (-k / far)
    shift = np.where(at_middle, 0.0, 0.5)
    far = total / far + _wave(np.minimum(far, 30.0), shift, order) * (math.sqrt(math.pi) / 2)
    out = np.where(size <= _FAR, near, far)
    return np.where(x < 0, -out, out) if order % 2 == 0 else out


def _scaled(
    name: str, doc: str, algorithm: Callable[..., Any], derivative: Callable[..., Any]
) -> tuple[Elementwise, Primitive]:
    """Declares a function and the primitive of its derivatives."""
    factor: Primitive = special_function(
        f"{name}_derivative",
        "",
        derivative,
        (lambda t, ans, x, *, order: mul(t, factor.bind(x, order=order + 1)),),
        (Interval(-1.5, 9.0),),
        params=lambda choose: {"order": choose.integer(1, 3)},
    ).primitive
    doc = f"{doc}\n\n    Source: ``scipy.special.{name}``, ``jax.scipy.special.{name}``.\n    "
    slope = (lambda t, ans, x: mul(t, factor.bind(x, order=1)),)
    return special_function(name, doc, algorithm, slope, (Interval(-1.5, 9.0),)), factor


erfcx, erfcx_derivative_p = _scaled(
    "erfcx",
    """Returns ``exp(x²) erfc(x)`` of real numbers, also where the exponential overflows.

    >>> erfcx(np.array([-1.0, 0.0, 1e10]))
    array([5.00898008e+00, 1.00000000e+00, 5.64189584e-11])
    """,
    _numpy_erfcx,
    _numpy_erfcx_derivative,
)
dawsn, dawsn_derivative_p = _scaled(
    "dawsn",
    """Returns ``exp(-x²)`` times the integral of ``exp(t²)`` from 0 to ``x``.

    >>> dawsn(np.array([0.0, 1.0, 1e10]))
    array([0.00000000e+00, 5.38079507e-01, 5.00000000e-11])
    """,
    _numpy_dawsn,
    _numpy_dawsn_derivative,
)


def _numpy_erfc_inv(y: Any) -> Any:
    return normal_quantile((1 - y) / 2, np.minimum(y, 2 - y), -math.log(2)) / math.sqrt(2)


def _slope_of_inverse(t: Any, ans: Any, y: Any) -> Any:
    """Returns the derivative by ``exp(x²) = erfcx(x) / erfc(x)``, in which no error of ``x`` is magnified."""
    tail = where(gt(y, 1), sub(2, y), y)
    at_end = eq(tail, 0)
    growth = div(erfcx(where(at_end, 0, abs(ans))), tail)
    return mul(t, mul(growth, -1 / _SLOPE))


erfc_inv: Elementwise = special_function(
    "erfc_inv",
    """Returns the inverse of `erfc`, exact where that is small: ±∞ at 0 and 2, NaN outside.

    >>> erfc_inv(np.array([0.0, 1e-300, 1.0, 1.5]))
    array([        inf, 26.20946996,  0.        , -0.47693628])

    Source: ``scipy.special.erfcinv``, ``jax.scipy.special.erfcinv``.
    """,
    _numpy_erfc_inv,
    (_slope_of_inverse,),
    (Interval(0.1, 1.9),),
)
erfcx_p, dawsn_p, erfc_inv_p = erfcx.primitive, dawsn.primitive, erfc_inv.primitive
