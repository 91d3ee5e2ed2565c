"""Modified Bessel functions of the first kind, scaled by the exponential.

>>> bessel_i0e(np.array([0.0, 1.0]))
array([1.        , 0.46575961])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lawful.core import Excluded, Interval
from lawful.ops._elementwise.arithmetic.arithmetic import abs, add, mul, sign, sub
from lawful.ops._elementwise.comparison import ge, lt
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, lowered_in_double, polynomial
from lawful.ops._support.promotion import promote

__all__ = ["bessel_i0e", "bessel_i0e_p", "bessel_i1e", "bessel_i1e_p", "bessel_in", "bessel_in_p", "bessel_ine_p"]

# Below this the power series is used, whose terms are all positive; from here on the asymptotic series is accurate.
_FAR = 25.0
_POWERS, _FAR_TERMS = 44, 25


def _far(order: int) -> float:
    """Returns the argument from which the asymptotic series is used; for large orders its terms grow at first."""
    return max(_FAR, float(order * order))


def _scaled_bessel(order: int, size: Any) -> Any:
    """Returns ``exp(-size) I(size)`` for ``size ≥ 0``: DLMF 10.25.2 and 10.40.1."""
    near, far = np.minimum(size, _far(order)), np.maximum(size, _far(order))
    return np.where(size < _far(order), _series(near, order=order), _tail(far, order=order))


def _series(x: Any, *, order: int) -> Any:
    """Returns the power series times ``exp(-x)``, applied in two halves: the series alone may overflow."""
    y, half = x * x / 4, np.exp(-x / 2)
    if _far(order) == _FAR:
        total = half * polynomial(y, coefficients=_series_coefficients(order))
    else:
        total = half
        for k in range(int(1.5 * _far(order)) + 30, 0, -1):
            total = half + y * (1 / (k * (k + order))) * total
    for k in range(order, 0, -1):
        total = x * (0.5 / k) * total
    return total * half


def _series_coefficients(order: int) -> tuple[float, ...]:
    """Returns the coefficients of the power series, of which the first is 1."""
    return tuple([math.factorial(order) / (math.factorial(k) * math.factorial(k + order)) for k in range(_POWERS)])


def _tail(x: Any, *, order: int, times: int = 0) -> Any:
    """Returns the asymptotic series, or a derivative of it term by term."""
    coefficients = [1.0]
    for k in range(1, _FAR_TERMS + 1):
        slope = (k + times - 0.5) / (k - 0.5)
        coefficients.append(coefficients[-1] * ((2 * k - 1) ** 2 - 4 * order**2) * slope / (8 * k))
    total = polynomial(1 / x, coefficients=tuple(coefficients)) / (math.sqrt(2 * math.pi) * np.sqrt(x))
    for k in range(times):
        total = total * (-(k + 0.5) / x)
    return total


def _numpy_tail(x: Any, *, order: int = 0, times: int = 1) -> Any:
    out = _tail(np.maximum(np.abs(x), _far(order)), order=order, times=times)
    return np.where(x == x, np.where(x < 0, -out, out) if (order + times) % 2 else out, x)


def _numpy_i0e(x: Any) -> Any:
    return np.where(x == x, _scaled_bessel(0, np.abs(x)), x)


def _numpy_i1e(x: Any) -> Any:
    size = _scaled_bessel(1, np.abs(x))
    return np.where(x > 0, size, np.where(x < 0, -size, x))


def _numpy_scaled(x: Any, *, order: int = 2) -> Any:
    size = _scaled_bessel(order, np.abs(x))
    return np.where(x == x, np.where(x < 0, -size, size) if order % 2 else size, x)


def _numpy_unscaled(x: Any, *, order: int = 0) -> Any:
    # The exponential is applied in two halves: the result may be finite where the whole exponential overflows.
    half = np.exp(np.abs(x) / 2)
    far = np.where(x < 0, -np.inf, np.inf) if order % 2 else np.inf
    return np.where(np.abs(x) == np.inf, far, half * _numpy_scaled(x, order=order) * half)


def _scaled(x: Any, order: int) -> Any:
    order = int(math.fabs(order))
    return (bessel_i0e, bessel_i1e)[order](x) if order < 2 else bessel_ine_p.bind(x, order=order)


def _slope_of_scaled(t: Any, ans: Any, x: Any, *, order: int) -> Any:
    """Returns the derivative by DLMF 10.29.1, which has no division; at the kink the mean of both sides.

    Far out its terms cancel, and the asymptotic series is differentiated instead.
    """
    neighbours = mul(add(_scaled(x, order - 1), _scaled(x, order + 1)), 0.5)
    near = sub(neighbours, mul(sign(x), ans))
    return mul(t, where(lt(abs(x), _far(order)), near, bessel_tail_p.bind(x, order=order, times=1)))


def _slope_of_tail(t: Any, ans: Any, x: Any, *, order: int, times: int) -> Any:
    beyond = bessel_tail_p.bind(x, order=order, times=times + 1)
    return mul(t, where(ge(abs(x), _far(order)), beyond, 0.0))


def _slope_of_unscaled(t: Any, ans: Any, x: Any, *, order: int) -> Any:
    before, after = (bessel_in_p.bind(x, order=int(math.fabs(k))) for k in (order - 1, order + 1))
    return mul(t, mul(add(before, after), 0.5))


bessel_i0e: Elementwise = elementwise(
    "bessel_i0e",
    """Returns ``exp(-|x|)`` times the modified Bessel function of order 0, as ``scipy.special.i0e``.

    >>> f"{bessel_i0e(1.0):.10f}"
    '0.4657596076'

    Source: ``jax.lax.bessel_i0e``.
    """,
    EvaluatedInDouble("bessel_i0e", _numpy_i0e),
    lowered_in_double(_numpy_i0e),
    promote_as=REAL_PROMOTION[1],
    derivatives=(partial(_slope_of_scaled, order=0),),
    domain=(Interval(excluded=(Excluded(0.0, "a kink: exp(-|x|) has one"),)),),
)
bessel_i1e: Elementwise = elementwise(
    "bessel_i1e",
    """Returns ``exp(-|x|)`` times the modified Bessel function of order 1, as ``scipy.special.i1e``.

    >>> f"{bessel_i1e(1.0):.10f}"
    '0.2079104153'

    Source: ``jax.lax.bessel_i1e``.
    """,
    EvaluatedInDouble("bessel_i1e", _numpy_i1e),
    lambda ctx, x: ctx.chlo.bessel_i1e(x),
    promote_as=REAL_PROMOTION[1],
    derivatives=(partial(_slope_of_scaled, order=1),),
    domain=(Interval(excluded=(Excluded(0.0, "a kink of the slope: x exp(-|x|) has one", order=2),)),),
)


def _of_order(
    name: str, algorithm: Callable[..., Any], slope: Callable[..., Any], least: int, excluded: tuple[Excluded, ...] = ()
) -> Elementwise:
    """Declares a primitive with a parameter ``order``, for derivatives of the functions of order 0 and 1."""
    return elementwise(
        name,
        "",
        EvaluatedInDouble(name, algorithm),
        lowered_in_double(algorithm),
        promote_as=REAL_PROMOTION[1],
        derivatives=(slope,),
        params=lambda choose: {"order": choose.integer(least, 4)},
        excluded=excluded,
    )


#: A derivative of ``exp(-|x|) I(x)`` by its asymptotic series; constant where the series is inaccurate.
bessel_tail_p = elementwise(
    "bessel_tail",
    "",
    EvaluatedInDouble("bessel_tail", _numpy_tail),
    lowered_in_double(_numpy_tail),
    promote_as=REAL_PROMOTION[1],
    derivatives=(_slope_of_tail,),
    domain=(Interval(_FAR, 60.0),),
    params=lambda choose: {"order": choose.integer(0, 4), "times": choose.integer(1, 3)},
    excluded=(
        Excluded(lambda x, *, order, **_: np.abs(x) == _far(order), "a kink: a constant begins"),
        Excluded(
            lambda x, *, order, times: (x == 0) & ((order + times) % 2 == 1), "constants of both signs meet", order=0
        ),
    ),
).primitive


_KINK = Excluded(
    lambda x, *, order: (x == 0) & (order == 2), "a kink of the second derivative: x ** 2 exp(-|x|) has one", order=3
)
bessel_ine_p = _of_order("bessel_ine", _numpy_scaled, _slope_of_scaled, 2, (_KINK,)).primitive
bessel_in_p = _of_order("bessel_in", _numpy_unscaled, _slope_of_unscaled, 0).primitive


def bessel_in(x: Any, order: int) -> Any:
    """Returns the modified Bessel function of the first kind of an order from 0 on, elementwise.

    >>> bessel_in(1.0, 2)
    np.float64(0.13574766976703...)

    Source: ``scipy.special.iv`` of integers.
    """
    (x,) = promote("bessel_in", REAL_PROMOTION[1], (x,))
    return bessel_in_p.bind(x, order=order)


bessel_i0e_p, bessel_i1e_p = bessel_i0e.primitive, bessel_i1e.primitive
