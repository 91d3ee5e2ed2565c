"""The Fresnel integrals.

>>> fresnel_sine(1.0), fresnel_cosine(1.0)
(np.float64(0.43825914739035...), np.float64(0.77989340037682...))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._elementwise.arithmetic.arithmetic import mul, round_nearest_even, square, sub
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.transcendental.trigonometric import cos, sin
from lawful.ops._special.declaration import special_function
from lawful.ops._support.double import rational

__all__ = ["fresnel_cosine", "fresnel_cosine_p", "fresnel_sine", "fresnel_sine_p"]

_NEAR, _FAR = 2.0, 3.2

# Rational functions that interpolate at Chebyshev nodes, computed with 60 digits; relative errors below 2e-16.
# fmt: off
# S(x) / x³ and C(x) / x, of x⁴ / 8 - 1 for 0 ≤ x ≤ 2.
_S_NEAR = (
    (0.11918706705710316, -0.15268436063958915, 0.11782499063675088, -0.0387124206147732, 0.006545350305533558,
      -0.0006183464284234767, 3.3360816917948664e-05, -9.742734215155961e-07, 1.2173108458211872e-08),
    (1.0, 0.18377574318003562, 0.016659633522339876, 0.0009751072286296661, 4.024393195176734e-05,
      1.1862885068174247e-06, 2.347554073180208e-08, 2.448809371099437e-10),
)
_C_NEAR = (
    (0.1949232825060342, -0.06947284346415994, 0.3180215135249325, -0.1675691424877429, 0.03659702640436856,
      -0.0038455778642521804, 0.00019658054537588835, -3.982387553831658e-06),
    (1.0, 0.23507613910249017, 0.027748064088402337, 0.0021583201737245925, 0.0001212012200957263,
      4.997577612244205e-06, 1.4297330533779146e-07, 2.243556426597696e-09),
)
# π x f(x) and π² x³ g(x), the auxiliary functions of DLMF 7.2, of 1 / (π x²)² for 2 ≤ x ≤ 3.2 and from 3.2 on.
_F_MIDDLE = (
    (0.9999999999911566, 1588.2991845456645, 836682.0544562989, 183843133.9297781, 17385100644.689144,
      655564978419.4906, 7846526397049.949, 14772918902279.506),
    (1.0, 1591.2991844597877, 841350.9524108976, 186210494.14674982, 17869907634.186348, 695792148490.0371,
      9022760530881.656, 22674153343396.48),
)
_F_FAR = (
    (1.0, 3802.808286750859, 4885787.972805706, 2654366029.2461257, 625468889152.5361, 58787502318227.22,
      1735678156631465.0, 7770317129348863.0),
    (1.0, 3805.808286750859, 4897100.39766596, 2668668115.5689845, 632998232310.0825, 60450132477736.82,
      1870553570342529.8, 1.0421308649034606e+16),
)
_G_MIDDLE = (
    (0.9999999999667518, 2262.0311402729453, 1787878.497682306, 631155375.2628336, 105495274928.87834,
      8142539480214.651, 260357770086785.12, 2631205257888622.5, 3272370648976941.5),
    (1.0, 2277.0311398881536, 1821088.9669600846, 656455042.1408479, 113894442235.60101, 9411926343431.31,
      343387397349218.3, 4630845891274001.0, 1.4796135412045088e+16),
)
_G_FAR = (
    (1.0, 4193.357066227625, 6000110.405981135, 3674929947.415276, 990630753572.9268, 108170122002268.92,
      3723734083945945.5, 1.659577843447242e+16),
    (1.0, 4208.357066227625, 6062290.761974583, 3762022546.4163637, 1041866463920.7765, 120930966916798.98,
      4902569855648741.0, 4.327602208078732e+16),
)
# fmt: on


def _auxiliary(x: Any) -> tuple[Any, Any]:
    """Returns ``f(x)`` and ``g(x)`` for ``x ≥ 2``."""
    area = math.pi * x * x
    w = 1 / (area * area)
    near = x < _FAR
    f = np.where(near, rational(w, _F_MIDDLE), rational(w, _F_FAR)) / (math.pi * x)
    g = np.where(near, rational(w, _G_MIDDLE), rational(w, _G_FAR)) / (area * math.pi * x)
    return f, g


def _waves(x: Any) -> tuple[Any, Any]:
    """Returns the sine and the cosine of ``π x² / 2``."""
    turns = x * x
    angle = (math.pi / 2) * (turns - 4 * np.rint(turns / 4))
    return np.sin(angle), np.cos(angle)


def _integral(x: Any, *, is_sine: bool) -> Any:
    size = np.abs(x)
    near = np.minimum(size, _NEAR)
    fourth = near**4 / 8 - 1
    near = near**3 * rational(fourth, _S_NEAR) if is_sine else near * rational(fourth, _C_NEAR)
    # From the upper bound on the result is 1/2, and the square may overflow.
    far = np.minimum(np.maximum(size, _NEAR), 1e20)
    f, g = _auxiliary(far)
    sine, cosine = _waves(far)
    far = 0.5 - f * cosine - g * sine if is_sine else 0.5 + f * sine - g * cosine
    out = np.where(size <= _NEAR, near, far)
    return np.where(x == 0, x, np.where(x < 0, -out, out))


def _numpy_fresnel_sine(x: Any) -> Any:
    return _integral(x, is_sine=True)


def _numpy_fresnel_cosine(x: Any) -> Any:
    return _integral(x, is_sine=False)


def _angle(x: Any) -> Any:
    """Returns ``π x² / 2``, up to multiples of 2 π."""
    turns = square(x)
    return mul(sub(turns, mul(round_nearest_even(mul(turns, 0.25)), 4)), math.pi / 2)


fresnel_sine: Elementwise = special_function(
    "fresnel_sine",
    """Returns the integral of ``sin(π t² / 2)`` from 0 to ``x``.

    >>> fresnel_sine(np.array([-np.inf, 0.0, 1.0]))
    array([-0.5       ,  0.        ,  0.43825915])

    Source: ``scipy.special.fresnel``, ``jax.scipy.special.fresnel``.
    """,
    _numpy_fresnel_sine,
    (lambda t, ans, x: mul(t, sin(_angle(x))),),
    (Interval(-4.0, 4.0),),
)
fresnel_cosine: Elementwise = special_function(
    "fresnel_cosine",
    """Returns the integral of ``cos(π t² / 2)`` from 0 to ``x``.

    >>> fresnel_cosine(np.array([-np.inf, 0.0, 1.0]))
    array([-0.5      ,  0.       ,  0.7798934])

    Source: ``scipy.special.fresnel``, ``jax.scipy.special.fresnel``.
    """,
    _numpy_fresnel_cosine,
    (lambda t, ans, x: mul(t, cos(_angle(x))),),
    (Interval(-4.0, 4.0),),
)
fresnel_sine_p, fresnel_cosine_p = fresnel_sine.primitive, fresnel_cosine.primitive
