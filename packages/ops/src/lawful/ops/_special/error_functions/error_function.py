"""The error function, its complement and its inverse.

>>> erf(np.array([0.0, 1.0]))
array([0.        , 0.84270079])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import Interval, Primitive
from lawful.ops._elementwise.arithmetic.arithmetic import add, mul, neg, square
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.exponential import exp
from lawful.ops._support.double import EvaluatedInDouble, each, is_nowhere, lowered_in_double, polynomial, rational

__all__ = [
    "erf",
    "erf_inv",
    "erf_inv_p",
    "erf_p",
    "erfc",
    "erfc_p",
    "log_ndtr",
    "log_ndtr_derivative_p",
    "log_ndtr_p",
    "ndtri",
    "ndtri_p",
]

_SLOPE = 2 / math.sqrt(math.pi)
_LOG_NORM = math.log(2 * math.pi) / 2

# Wichura, Algorithm AS 241 (Applied Statistics 37, 1988), PPND16: numerators and denominators of three ranges.
# fmt: off
_CENTRAL = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)
_MIDDLE = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)
_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)
# The rational function of w = 1 / z² that interpolates z (h(z) - z) at the 13 Chebyshev nodes of 0 ≤ w ≤ 1/25, for the
# normal hazard h(z), the density over the probability of the upper tail. Computed with 80 digits; relative error 4e-17.
_HAZARD_EXCESS = (
    (1.0, 64.90052229891556, 1470.2783924061068, 14210.929252999262,
     57015.488735927975, 75896.59053828717, 14569.96920411248),
    (1.0, 66.9005222989154, 1594.0794370041635, 16804.082903881852,
     78927.49886873463, 144602.85951099845, 68216.14635750165),
)
# fmt: on


def normal_quantile(distance: Any, tail: Any, log_scale: float = 0.0) -> Any:
    """Returns the normal quantile, given the probability's distance from 1/2 and the lesser tail's, each exact.

    The tail may be scaled by ``exp(-log_scale)``, so that it is not subnormal.
    """
    r = np.sqrt(-log_scale - np.log(tail))
    far = np.where(r <= 5, rational(r - 1.6, _MIDDLE), rational(np.minimum(r, 40.0) - 5, _TAIL))
    near = distance * rational(0.180625 - distance * distance, _CENTRAL)
    far = np.where(tail > 0, far, np.where(tail == 0, np.inf, np.nan))
    return np.where(np.abs(distance) <= 0.425, near, np.where(distance < 0, -far, far))


def _numpy_erf_inv(x: Any) -> Any:
    return normal_quantile(x / 2, (1 - np.abs(x)) / 2) / math.sqrt(2)


def _numpy_ndtri(p: Any) -> Any:
    return normal_quantile(p - 0.5, np.minimum(p, 1 - p))


def _hazard_excess(z: Any) -> Any:
    """Returns the normal hazard minus ``z``, for ``z ≥ 5``."""
    return rational(1 / (z * z), _HAZARD_EXCESS) / z


def _numpy_log_ndtr(x: Any) -> Any:
    """Returns ``log_ndtr(x)`` by `erfc`, and for ``x < -5`` by the normal hazard."""
    is_far = x < -5
    tail = erfc(np.abs(x) / math.sqrt(2)) / 2
    near = np.where(x < 0, np.log(tail), np.log1p(-tail))
    if is_nowhere(is_far):
        return near
    z = np.maximum(-x, 5.0)
    far = -z * z / 2 - _LOG_NORM - np.log(z + _hazard_excess(z))
    return np.where(is_far, far, near)


def _lower_chlo(ctx: Any, name: str, x: Any) -> Any:
    """Lowers to an op of CHLO; 8-bit floats are computed in float32, because CHLO does not decompose all of them."""
    (aval,) = ctx.avals_out
    if aval.dtype.itemsize > 1:
        return getattr(ctx.chlo, name)(x)
    wide = ctx.hlo.convert(ctx.tensor_type(aval.update(dtype=np.dtype(np.float32))), x)
    return ctx.hlo.convert(ctx.tensor_type(aval), getattr(ctx.chlo, name)(wide))


def _special(name: str, doc: str, algorithm: Callable[..., Any], **options: Any) -> Elementwise:
    return elementwise(
        name,
        f"{doc}\n\n    Source: ``jax.lax.{name}``.\n    ",
        EvaluatedInDouble(name, algorithm),
        lambda ctx, x: _lower_chlo(ctx, name, x),
        promote_as=np.cbrt,
        **options,
    )


erf: Elementwise = _special(
    "erf",
    """Returns ``2/√π`` times the integral of ``exp(-t²)`` from 0 to ``x``, as ``scipy.special.erf``.

    >>> erf(np.array([-np.inf, 0.0, 1.0]))
    array([-1.        ,  0.        ,  0.84270079])
    """,
    lambda x: each(math.erf, x),
    derivatives=(lambda t, ans, x: mul(t, mul(exp(neg(square(x))), _SLOPE)),),
)
erfc: Elementwise = _special(
    "erfc",
    """Returns ``1 - erf(x)``, exact where that is small, as ``scipy.special.erfc``.

    >>> erfc(10.0)
    np.float64(2.088487583762545e-45)
    """,
    lambda x: each(math.erfc, x),
    derivatives=(lambda t, ans, x: mul(t, mul(exp(neg(square(x))), -_SLOPE)),),
)
erf_inv: Elementwise = _special(
    "erf_inv",
    """Returns the inverse of the error function, as ``scipy.special.erfinv``: ±∞ at ±1, NaN beyond.

    >>> erf_inv(np.array([0.5, 1.0, 2.0]))
    array([0.47693628,        inf,        nan])
    """,
    _numpy_erf_inv,
    derivatives=(lambda t, ans, x: mul(t, mul(exp(square(ans)), 1 / _SLOPE)),),
    domain=(Interval(-0.95, 0.95),),
)
erf_p, erfc_p, erf_inv_p = erf.primitive, erfc.primitive, erf_inv.primitive


def _normal(
    name: str, doc: str, algorithm: Callable[..., Any], derivative: Callable[..., Any], domain: Interval
) -> Any:
    return elementwise(
        name,
        doc,
        EvaluatedInDouble(name, algorithm),
        lowered_in_double(algorithm),
        promote_as=np.cbrt,
        derivatives=(derivative,),
        domain=(domain,),
    )


ndtri: Elementwise = _normal(
    "ndtri",
    """Returns the quantile of the standard normal distribution: ±∞ at 0 and 1, NaN outside.

    >>> ndtri(np.array([0.0, 0.5, 0.975]))
    array([      -inf, 0.        , 1.95996398])

    Source: ``scipy.special.ndtri``, ``jax.scipy.special.ndtri``.
    """,
    _numpy_ndtri,
    lambda t, ans, p: mul(t, exp(add(mul(square(ans), 0.5), _LOG_NORM))),
    Interval(0.05, 0.95),
)
log_ndtr: Elementwise = _normal(
    "log_ndtr",
    """Returns the logarithm of the standard normal distribution function, exact at both ends.

    >>> log_ndtr(np.array([-40.0, 0.0, 10.0]))
    array([-8.04608442e+02, -6.93147181e-01, -7.61985302e-24])

    Source: ``scipy.special.log_ndtr``, ``jax.scipy.special.log_ndtr``.
    """,
    _numpy_log_ndtr,
    lambda t, ans, x: mul(t, log_ndtr_derivative_p.bind(x, order=1)),
    Interval(-8.0, 4.0),
)


# For x < -_FAR derivatives of the excess are computed by its asymptotic series in odd powers of 1 / x.
_FAR = 9.0
_FAR_TERMS = 30
# Beyond it the density is 0 in float64.
_VANISHED = 40.0


def _asymptotic_coefficients() -> list[int]:
    """Returns the coefficients of ``1 / z, 1 / z³, …`` in the excess ``e`` at ``x = -z``: ``de/dz = e (z + e) - 1``."""
    out = [1]
    for n in range(1, _FAR_TERMS):
        squares = sum([out[k] * out[n - 1 - k] for k in range(n)])
        out.append(-(2 * n - 1) * out[n - 1] - squares)
    return out


_EXCESS = _asymptotic_coefficients()


def _numpy_log_ndtr_derivative(x: Any, *, order: int = 1) -> Any:
    """Returns a derivative of ``log_ndtr``. The first is the hazard ``h`` at ``-x``, with ``dh/dx = -h (h + x)``."""
    near = np.maximum(x, -5.0)
    ratio = np.exp(-near * near / 2 - _LOG_NORM) / (erfc(-near / math.sqrt(2)) / 2)
    if order == 1 and is_nowhere(x < -5):
        return ratio
    z = np.maximum(-x, 5.0)
    far = _hazard_excess(z)
    hazard = np.where(x < -5, z + far, ratio)
    if order == 1:
        return hazard
    excess = np.where(x < -5, far, ratio + near)
    derivatives = [hazard, -hazard * excess]
    near = np.minimum(np.maximum(x, -_FAR), _VANISHED)
    for n in range(1, order - 1):
        # The n-th derivative of -h (h + x), by Leibniz' rule.
        products = [math.comb(n, k) * derivatives[k] * derivatives[n - k] for k in range(n + 1)]
        derivatives.append(-near * derivatives[n] - n * derivatives[n - 1] - sum(products))
    near = np.where(x == np.inf, 0.0, derivatives[-1])
    return np.where(x < -_FAR, _far_derivative(x, order), near)


def _far_derivative(x: Any, order: int) -> Any:
    """Returns a derivative of ``log_ndtr``, from the second, by the series of the excess term by term."""
    z = np.maximum(-x, _FAR)
    times = order - 1
    # Derivatives by z have the sign (-1) ** times, which cancels against that of (dz/dx) ** times.
    coefficients = tuple([float(c * math.prod(range(2 * n + 1, 2 * n + 1 + times))) for n, c in enumerate(_EXCESS)])
    out = polynomial(1 / (z * z), coefficients=coefficients)
    for _ in range(order):
        out = out / z
    return out - 1 if order == 2 else out


#: A derivative of ``log_ndtr``.
log_ndtr_derivative_p: Primitive = elementwise(
    "log_ndtr_derivative",
    "",
    EvaluatedInDouble("log_ndtr_derivative", _numpy_log_ndtr_derivative),
    lowered_in_double(_numpy_log_ndtr_derivative),
    promote_as=np.cbrt,
    derivatives=(lambda t, ans, x, *, order: mul(t, log_ndtr_derivative_p.bind(x, order=order + 1)),),
    domain=(Interval(-12.0, 4.0),),
    params=lambda choose: {"order": choose.integer(1, 3)},
).primitive
ndtri_p, log_ndtr_p = ndtri.primitive, log_ndtr.primitive
