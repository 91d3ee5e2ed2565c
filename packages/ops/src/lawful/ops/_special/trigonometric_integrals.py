"""The sine and cosine integrals.

>>> sine_integral(1.0), cosine_integral(1.0)
(np.float64(0.94608307036718...), np.float64(0.33740392290096...))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval, Primitive
from lawful.ops._elementwise.arithmetic.arithmetic import div, mul
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.transcendental.trigonometric import cos
from lawful.ops._special.declaration import special_function
from lawful.ops._support.double import polynomial, rational

__all__ = ["cosine_integral", "cosine_integral_p", "sinc_derivative_p", "sine_integral", "sine_integral_p"]

_EULER = 0.57721566490153286061
_NEAR, _FAR = 4.0, 10.0
_TERMS = 16

# Rational functions that interpolate at Chebyshev nodes, computed with 60 digits; relative errors below 1e-16.
# fmt: off
# Si(x) / x and (Ci(x) - log(x) - γ) / x², of x² for x ≤ 4.
_SI_NEAR = (
    (1.0, -0.04330875937384089, 0.0010607836084711528, -1.1779142856211309e-05, 6.775269026415494e-08,
      -1.9410105407699995e-10, 2.249205577841007e-13),
    (1.0, 0.012246796181714665, 7.449450745530084e-05, 2.9278512359501095e-07, 7.999932626534136e-10,
      1.478175017620508e-12, 1.49431465147862e-15),
)
_CI_NEAR = (
    (-0.25, 0.007624732125041968, -0.00013051794865062572, 1.1012173754704626e-06, -5.038766175460198e-09,
      1.1897903507863955e-11, -1.1656427318773011e-14),
    (1.0, 0.011167738166498797, 6.146829228069349e-05, 2.166046916269928e-07, 5.247143941136932e-10,
      8.473916470887281e-13, 7.3434978212745465e-16),
)
# x f(x) and x² g(x), the auxiliary functions of DLMF 6.2, of 1 / x² for 4 ≤ x ≤ 10 and from 10 on.
_F_MIDDLE = (
    (0.9999999954017949, 299.03316844464405, 30419.107410324556, 1349003.5922933272, 27721293.645651,
      258292477.53271616, 984537428.4568677, 1190302648.4034696, 202010818.84116492),
    (1.0, 301.03316317577514, 30997.176859132654, 1404491.837470463, 29963224.575593628, 298175551.482241,
      1282056144.576248, 1982885367.7613685, 689862746.5189235),
)
_F_FAR = (
    (1.0, 994.8607067116741, 349559.1190825945, 55369803.206793785, 4188057968.9567814, 147611301286.70355,
      2183428954055.2444, 10504275392849.291, 7316844363375.204),
    (1.0, 996.8607067116736, 351528.840496022, 56049656.23080532, 4292398009.007821, 155067441600.78906,
      2419866932163.36, 13338158645565.703, 15625444281687.365),
)
_G_MIDDLE = (
    (0.9999999871356656, 404.61019207401654, 57707.02933503816, 3751511.0261808354, 119911608.15299912,
      1892852070.684218, 14026407279.222927, 42991355343.210785, 40437270212.523796, 3544612729.9698853),
    (1.0, 410.6101744220343, 60050.70305665576, 4067575.508375249, 138820350.5200121, 2430152521.9822197,
      21235876296.471176, 85660692318.61453, 134982229604.80875, 55379801350.275665),
)
_G_FAR = (
    (0.9999999999999999, 1087.1455865240139, 419825.45330065174, 73548935.86891556, 6192484998.194338,
      244237501400.67206, 4042425598783.776, 21259026635221.453, 12527518751781.305),
    (1.0, 1093.145586524008, 426264.32681985956, 75980384.35914922, 6602362159.723621, 276525634998.73956,
      5174964372976.441, 36343041115144.18, 62338615284124.914),
)
# fmt: on


def _auxiliary(x: Any) -> tuple[Any, Any]:
    """Returns ``f(x)`` and ``g(x)`` for ``x ≥ 4``."""
    w = 1 / (x * x)
    near = x < _FAR
    f = np.where(near, rational(w, _F_MIDDLE), rational(w, _F_FAR)) / x
    g = np.where(near, rational(w, _G_MIDDLE), rational(w, _G_FAR)) * w
    return f, g


def _numpy_sine_integral(x: Any) -> Any:
    size = np.abs(x)
    near = np.minimum(size, _NEAR)
    near = near * rational(near * near, _SI_NEAR)
    far = np.maximum(size, _NEAR)
    f, g = _auxiliary(far)
    far = math.pi / 2 - np.where(size == np.inf, 0.0, f * np.cos(far) + g * np.sin(far))
    out = np.where(size <= _NEAR, near, far)
    return np.where(x == 0, x, np.where(x < 0, -out, out))


def _numpy_cosine_integral(x: Any) -> Any:
    size = np.abs(x)
    near = np.minimum(size, _NEAR)
    square = near * near
    near = (_EULER + np.log(near)) + square * rational(square, _CI_NEAR)
    far = np.maximum(size, _NEAR)
    f, g = _auxiliary(far)
    far = np.where(size == np.inf, 0.0, f * np.sin(far) - g * np.cos(far))
    return np.where(size <= _NEAR, near, far)


def _numpy_sinc_derivative(x: Any, *, order: int = 0) -> Any:
    """Returns a derivative of ``sin(x) / x``: by its power series, or by ``x sₙ + n sₙ₋₁ = sin(x + n π / 2)``."""
    size = np.abs(x)
    limit = max(2.0, float(order))
    first = (order + 1) // 2
    coefficients = [(-1) ** k / ((2 * k + 1) * math.factorial(2 * k - order)) for k in range(first, first + _TERMS)]
    near = np.minimum(size, limit)
    near = polynomial(near * near, coefficients=tuple(coefficients)) * (near if order % 2 else 1.0)
    far = np.maximum(size, limit)
    waves = np.sin(far), np.cos(far)
    out = waves[0] / far
    for n in range(1, order + 1):
        wave = waves[n % 2] if n % 4 < 2 else -waves[n % 2]
        out = (wave - n * out) / far
    out = np.where(size <= limit, near, np.where(size == np.inf, 0.0, out))
    return np.where(x < 0, -out, out) if order % 2 else out


#: A derivative of ``sin(x) / x``.
sinc_derivative_p: Primitive = special_function(
    "sinc_derivative",
    "",
    _numpy_sinc_derivative,
    (lambda t, ans, x, *, order: mul(t, sinc_derivative_p.bind(x, order=order + 1)),),
    (Interval(-6.0, 6.0),),
    params=lambda choose: {"order": choose.integer(0, 3)},
).primitive
sine_integral: Elementwise = special_function(
    "sine_integral",
    """Returns the integral of ``sin(t) / t`` from 0 to ``x``.

    >>> sine_integral(np.array([-np.inf, 0.0, 1.0]))
    array([-1.57079633,  0.        ,  0.94608307])

    Source: ``scipy.special.sici``, ``jax.scipy.special.sici``.
    """,
    _numpy_sine_integral,
    (lambda t, ans, x: mul(t, sinc_derivative_p.bind(x, order=0)),),
    (Interval(-12.0, 12.0),),
)
cosine_integral: Elementwise = special_function(
    "cosine_integral",
    """Returns ``γ + log(|x|)`` plus the integral of ``(cos(t) - 1) / t`` from 0 to ``x``: -∞ at 0.

    >>> cosine_integral(np.array([0.0, 1.0, np.inf]))
    array([      -inf, 0.33740392, 0.        ])

    Source: ``scipy.special.sici``, ``jax.scipy.special.sici``.
    """,
    _numpy_cosine_integral,
    (lambda t, ans, x: mul(t, div(cos(x), x)),),
    (Interval(0.5, 12.0),),
)
sine_integral_p, cosine_integral_p = sine_integral.primitive, cosine_integral.primitive
