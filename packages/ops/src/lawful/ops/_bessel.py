"""Modified Bessel functions of the first kind, scaled by the exponential.

>>> bessel_i0e(np.array([0.0, 1.0]))
array([1.        , 0.46575961])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._arithmetic import abs, add, div, mul, sign, sub
from lawful.ops._comparison import le
from lawful.ops._double import REAL_PROMOTION, EvaluatedInDouble, lowered_in_double
from lawful.ops._elementwise import Elementwise
from lawful.ops._elementwise import pure_elementwise as elementwise
from lawful.ops._select import where

# Below it the power series is taken, of which all terms are positive; beyond it the asymptotic one is exact enough.
_FAR = 25.0
_POWERS, _FAR_TERMS = 62, 25


def _scaled_bessel(order: int, size: Any) -> Any:
    """Returns ``exp(-size)`` times the function of a positive ``size``: DLMF 10.25.2 and 10.40.1."""
    near, far = np.minimum(size, _FAR), np.maximum(size, _FAR)
    by_series = _series(near, order=order) * np.exp(-near)
    return np.where(size < _FAR, by_series, _tail(far, order=order) / np.sqrt(2 * math.pi * far))


def _series(x: Any, *, order: int) -> Any:
    y = x * x / 4
    total = 1.0
    for k in range(_POWERS, 0, -1):
        total = 1 + y / (k * (k + order)) * total
    return x / 2 * total if order else total


def _tail(x: Any, *, order: int) -> Any:
    total = 1.0
    for k in range(_FAR_TERMS, 0, -1):
        total = 1 + ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * x) * total
    return total


def _numpy_i0e(x: Any) -> Any:
    return np.where(x == x, _scaled_bessel(0, np.abs(x)), x)


def _numpy_i1e(x: Any) -> Any:
    size = _scaled_bessel(1, np.abs(x))
    return np.where(x > 0, size, np.where(x < 0, -size, x))


def _slope_of_i1e(t: Any, ans: Any, x: Any) -> Any:
    # At 0 the quotient of both is 1/2.
    is_small = le(abs(x), 1e-6)
    safe = where(is_small, 1.0, x)
    slope = sub(bessel_i0e(x), mul(ans, add(sign(x), div(1.0, safe))))
    return mul(t, where(is_small, sub(0.5, abs(x)), slope))


bessel_i0e: Elementwise = elementwise(
    "bessel_i0e",
    """Returns ``exp(-|x|)`` times the modified Bessel function of order 0, as ``scipy.special.i0e``.

    >>> bessel_i0e(1.0)
    np.float64(0.46575960759364043)

    Source: ``jax.lax.bessel_i0e``.
    """,
    EvaluatedInDouble("bessel_i0e", _numpy_i0e),
    lowered_in_double(_numpy_i0e),
    promote_as=REAL_PROMOTION[1],
    derivatives=(lambda t, ans, x: mul(t, sub(bessel_i1e(x), mul(sign(x), ans))),),
    domain=(Interval(excluded=(0.0,)),),
)
bessel_i1e: Elementwise = elementwise(
    "bessel_i1e",
    """Returns ``exp(-|x|)`` times the modified Bessel function of order 1, as ``scipy.special.i1e``.

    >>> bessel_i1e(1.0)
    np.float64(0.2079104153497085)

    Source: ``jax.lax.bessel_i1e``.
    """,
    EvaluatedInDouble("bessel_i1e", _numpy_i1e),
    lambda ctx, x: ctx.chlo.bessel_i1e(x),
    promote_as=REAL_PROMOTION[1],
    derivatives=(_slope_of_i1e,),
    domain=(Interval(excluded=(0.0,)),),
)
bessel_i0e_p, bessel_i1e_p = bessel_i0e.primitive, bessel_i1e.primitive
