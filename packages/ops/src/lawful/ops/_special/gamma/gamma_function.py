"""The gamma function itself, with all digits also where its logarithm is large.

>>> gamma(np.array([0.5, 5.0]))
array([ 1.77245385, 24.        ])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import Excluded, Interval
from lawful.ops._elementwise.arithmetic.arithmetic import add, div, mul
from lawful.ops._elementwise.arithmetic.signs import signbit
from lawful.ops._elementwise.comparison import bitwise_and, eq
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.gamma.log_gamma import digamma, polygamma
from lawful.ops._support.double import (
    REAL_PROMOTION,
    STIRLING,
    EvaluatedInDouble,
    each,
    log_gamma_correction,
    lowered_in_double,
    power,
)

__all__ = ["gamma", "gamma_p", "log_gamma_quotient", "log_gamma_quotient_derivative_p", "log_gamma_quotient_p"]

# Above this the gamma function overflows float64.
_LARGEST = 171.6243769563027
# Beyond this bound of compiled arguments one of the factors below would be 0 and another infinite.
_BOUND = 200.0
# For m and 1 below this many times x, (x - 1/2) log(1 + m / x) is m.
_TINY = 1e-20
# Below this it is 1 / x, which may overflow.
_LEAST = 1e-300
_SHIFT = 10


def _of_size(x: Any) -> Any:
    """Returns the gamma function for ``x ≥ 0``: Stirling's series, DLMF 5.11.3, after a shift up of small arguments."""
    small = x < _SHIFT
    w = np.where(small, x + _SHIFT, x)
    # As two different powers: XLA makes a fusion of its own of a power that is used twice.
    out = w ** (w / 2) * (np.exp(log_gamma_correction(w) - w) * math.sqrt(2 * math.pi)) * w ** (w / 2 - 0.5)
    # The product of x + k for k = 0 to 9, in pairs: (x + k) (x + 9 - k) = pair + k (9 - k).
    pair = rising = x * (x + (_SHIFT - 1))
    for k in range(1, _SHIFT // 2):
        rising = rising * (pair + k * (_SHIFT - 1 - k))
    # The sum x + _SHIFT is rounded.
    change = (x - (w - _SHIFT)) * np.log(w)
    return np.where(small, out * (1 + change) / rising, out)


def _numpy_gamma(x: Any) -> Any:
    pole, inverse = (x < 0) & (x == np.floor(x)), np.abs(x) < _LEAST
    value = each(math.gamma, np.where(pole | inverse | (x > _LARGEST), 1.0, x))
    return np.where(inverse, 1 / x, np.where(pole, np.nan, np.where(x > _LARGEST, np.inf, value)))


def _compiled_gamma(x: Any) -> Any:
    size = np.abs(x)
    value = _of_size(np.minimum(size, _BOUND))
    # A negative argument is reflected: sin(π x) is exact at and near 0 only.
    nearest = np.rint(size)
    rest = size - nearest
    sign = np.where(nearest != 2 * np.rint(nearest / 2), -1.0, 1.0)
    reflected = -math.pi / (size * (sign * np.sin(math.pi * rest) * value))
    reflected = np.where(rest == 0, np.nan, reflected)
    return np.where(size < _LEAST, 1 / x, np.where(x < 0, reflected, np.where(x > _LARGEST, np.inf, value)))


def _logarithmic_derivative(x: Any) -> Any:
    """Returns the digamma function, which is -∞ at -0.0, but there its limit from below, that of ``-1 / x``."""
    is_below = bitwise_and(eq(x, 0), signbit(x))
    return ops.where(is_below, div(-1.0, ops.where(is_below, x, 1.0)), digamma(ops.where(is_below, 1.0, x)))


gamma: Elementwise = elementwise(
    "gamma",
    """Returns the gamma function: NaN at the negative integers and -∞, ±∞ at ±0.

    Its derivatives at ±0 are the limits from the side of the sign.

    >>> gamma(np.array([-0.5, 0.0, 5.0]))
    array([-3.5449077,        inf, 24.       ])

    Source: ``scipy.special.gamma``, ``jax.scipy.special.gamma``.
    """,
    EvaluatedInDouble("gamma", _numpy_gamma),
    lowered_in_double(_compiled_gamma),
    promote_as=REAL_PROMOTION[1],
    derivatives=(lambda t, ans, x: mul(t, mul(ans, _logarithmic_derivative(x))),),
    domain=(Interval(0.3, 4.0),),
)
gamma_p = gamma.primitive


def _log_quotient(x: Any, m: Any, *, order: int = 0) -> Any:
    """Returns the derivative by ``x`` of the logarithm of ``gamma(x + m) / gamma(x)``, by differences of powers."""
    log_ratio = np.log1p(m / x)
    if order == 0:
        end = x + m
        # XLA takes subnormal ratios as 0.
        near = np.maximum(np.abs(m), 1.0) < _TINY * x
        growth = np.where(near, m, (x - 0.5) * log_ratio) + (m * np.log(end) - m)
        return growth + (log_gamma_correction(end) - log_gamma_correction(x))

    out: Any = 0.0
    for k in range(len(STIRLING) - 1, -1, -1):
        slope = math.prod(range(-2 * k - 1, -2 * k - 1 - order, -1))
        out = out + STIRLING[k] * slope * _change(x, log_ratio, 2 * k + 1 + order)
    # The derivatives of (x - 1/2) log(x) - x begin with log(x) - 1 / (2 x).
    first = log_ratio if order == 1 else (-1) ** order * math.factorial(order - 2) * _change(x, log_ratio, order - 1)
    half = -0.5 * (-1) ** (order - 1) * math.factorial(order - 1) * _change(x, log_ratio, order)
    return first + (half + out)


def _change(x: Any, log_ratio: Any, exponent: int) -> Any:
    """Returns the change of ``x ** -exponent``, given the logarithm of the ratio of both numbers."""
    return power(x, -float(exponent)) * np.expm1(-exponent * log_ratio)


def _quotient_by_start(t: Any, ans: Any, x: Any, m: Any, *, order: int = 0) -> Any:
    return mul(t, log_gamma_quotient_derivative_p.bind(x, m, order=order + 1))


def _quotient_by_steps(t: Any, ans: Any, x: Any, m: Any, *, order: int = 0) -> Any:
    end = add(x, m)
    return mul(t, polygamma(order, end) if order else digamma(end))


def _declare_quotient(name: str, doc: str, **options: Any) -> Elementwise:
    return elementwise(
        name,
        doc,
        EvaluatedInDouble(name, _log_quotient),
        lowered_in_double(_log_quotient),
        arity=2,
        promote_as=REAL_PROMOTION[2],
        derivatives=(_quotient_by_start, _quotient_by_steps),
        domain=(Interval(10.0, 15.0), Interval(0.0, 5.0)),
        excluded=(Excluded(lambda x, m, **_: (x < _SHIFT) | (x + m < _SHIFT), "outside of the domain"),),
        **options,
    )


log_gamma_quotient: Elementwise = _declare_quotient(
    "log_gamma_quotient",
    """Returns ``lgamma(x + m) - lgamma(x)`` by Stirling's series, where both arguments are at least 10.

    No large terms cancel where ``m`` is small.

    >>> log_gamma_quotient(1e10, np.array([1.0, -1.0]))
    array([ 23.02585093, -23.02585093])

    Source: DLMF 5.11.1.
    """,
)
log_gamma_quotient_p = log_gamma_quotient.primitive
log_gamma_quotient_derivative_p = _declare_quotient(
    "log_gamma_quotient_derivative",
    "",
    params=lambda choose: {"order": choose.integer(1, 3)},
).primitive
