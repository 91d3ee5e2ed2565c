"""The Box-Cox transformations, with their derivatives of any order by the exponent.

A derivative of order n by the exponent λ is the integral of ``sⁿ exp(λ s)`` from 0 to ``y``, the logarithm of ``x`` or
of ``1 + x``.

>>> boxcox(2.0, np.array([-1.0, 0.0, 1.0]))
array([0.5       , 0.69314718, 1.        ])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import Choose, Interval
from lawful.ops._elementwise.arithmetic.arithmetic import add, mul, pow, sub
from lawful.ops._elementwise.arithmetic.power import integer_pow
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.exponential import log
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, lowered_in_double, polynomial, power

__all__ = [
    "boxcox", "boxcox1p", "boxcox1p_derivative_p", "boxcox1p_p", "boxcox1p_slope_p", "boxcox_derivative_p", "boxcox_p",
]  # fmt: skip

_TERMS = 40


def _integral(y: Any, exponent: Any, order: int) -> Any:
    """Returns the integral of ``sⁿ exp(λ s)`` from 0 to ``y``, also to ±∞."""
    z = np.where(exponent == 0, 0.0, exponent * y)
    growth = np.exp(z)
    near = np.where(np.abs(z) < 1, z, 1.0)
    slope = np.where(near == 0, 1.0, np.expm1(near) / np.where(near == 0, 1.0, near))
    out = np.where(np.abs(z) < 1, y * slope, np.expm1(z) / exponent)
    for n in range(1, order + 1):
        # By parts; for small z by power series with positive terms, DLMF 13.2.2 and 13.2.39.
        edge = np.where(growth == 0, 0.0, y**n * growth)
        far = n + 3.0
        size = np.minimum(np.abs(z), far)
        rising = polynomial(size, coefficients=tuple([1 / (math.factorial(k) * (n + 1 + k)) for k in range(_TERMS)]))
        falling = polynomial(size, coefficients=tuple([1 / math.prod(range(n + 1, n + 2 + k)) for k in range(_TERMS)]))
        series = y ** (n + 1) * np.where(z < 0, growth * falling, rising)
        out = np.where(np.abs(z) < far, series, (edge - n * out) / exponent)
    return out


def _numpy_boxcox(x: Any, exponent: Any, *, order: int = 0) -> Any:
    return _integral(np.log(x), exponent, order)


def _numpy_boxcox1p(x: Any, exponent: Any, *, order: int = 0) -> Any:
    return _integral(np.log1p(x), exponent, order)


def _numpy_slope(x: Any, exponent: Any, *, order: int = 0) -> Any:
    """Returns the derivative of a derivative by the exponent, by ``x``."""
    out = np.power(1 + x, exponent - 1)
    return power(np.log1p(x), float(order)) * out if order else out


def _slope_by_number(t: Any, ans: Any, x: Any, exponent: Any, *, order: int = 0) -> Any:
    below = sub(exponent, 1)
    out = mul(below, boxcox1p_slope_p.bind(x, below, order=order))
    return mul(t, add(out, mul(boxcox1p_slope_p.bind(x, below, order=order - 1), order)) if order else out)


# The logarithm of a rounded ``1 + x`` has no digits where ``x`` is small.
boxcox1p_slope_p: Any = elementwise(
    "boxcox1p_slope",
    "",
    EvaluatedInDouble("boxcox1p", _numpy_slope),
    lowered_in_double(_numpy_slope),
    arity=2,
    promote_as=REAL_PROMOTION[2],
    derivatives=(
        _slope_by_number,
        lambda t, ans, x, exponent, *, order: mul(t, boxcox1p_slope_p.bind(x, exponent, order=order + 1)),
    ),
    domain=(Interval(-0.8, 3.0), Interval(-2.0, 2.0)),
    params=lambda choose: {"order": choose.integer(0, 2)},
).primitive


def _declare(
    name: str,
    algorithm: Callable[..., Any],
    slope_of: Callable[..., Any],
    domain: Interval,
    doc: str,
) -> tuple[Elementwise, Any]:
    """Declares a transformation, and the primitive of its derivatives by the exponent."""

    def by_number(t: Any, ans: Any, x: Any, exponent: Any, *, order: int = 0) -> Any:
        return mul(t, slope_of(x, exponent, order))

    def by_exponent(t: Any, ans: Any, x: Any, exponent: Any, *, order: int = 0) -> Any:
        return mul(t, derivative.bind(x, exponent, order=order + 1))

    def declared(name: str, doc: str, **options: Any) -> Elementwise:
        return elementwise(
            name,
            doc,
            EvaluatedInDouble(name, algorithm),
            lowered_in_double(algorithm),
            arity=2,
            promote_as=REAL_PROMOTION[2],
            derivatives=(by_number, by_exponent),
            domain=(domain, Interval(-2.0, 2.0)),
            **options,
        )

    def params(choose: Choose) -> dict[str, Any]:
        return {"order": choose.integer(1, 2)}

    function = declared(name, doc)
    derivative = declared(f"{name}_derivative", "", params=params).primitive
    return function, derivative


def _power_of_number(x: Any, exponent: Any, order: int) -> Any:
    slope = pow(x, sub(exponent, 1))
    return mul(integer_pow(log(x), order), slope) if order else slope


boxcox, boxcox_derivative_p = _declare(
    "boxcox",
    _numpy_boxcox,
    _power_of_number,
    Interval(0.2, 4.0),
    """Returns ``(x ** lmbda - 1) / lmbda``, which is ``log(x)`` where ``lmbda`` is 0; NaN for negative ``x``.

    >>> boxcox(np.array([0.0, 2.0]), 2.0)
    array([-0.5,  1.5])

    Source: ``scipy.special.boxcox``; ``jax.scipy.special.boxcox``, which is NaN at 0.
    """,
)
boxcox1p, boxcox1p_derivative_p = _declare(
    "boxcox1p",
    _numpy_boxcox1p,
    lambda x, exponent, order: boxcox1p_slope_p.bind(x, exponent, order=order),
    Interval(-0.8, 3.0),
    """Returns ``boxcox(1 + x, lmbda)``, exact where ``x`` is small; NaN for ``x < -1``.

    >>> boxcox1p(1e-20, np.array([0.0, 2.0]))
    array([1.e-20, 1.e-20])

    Source: ``scipy.special.boxcox1p``; ``jax.scipy.special.boxcox1p``, which is NaN at -1.
    """,
)
boxcox_p, boxcox1p_p = boxcox.primitive, boxcox1p.primitive
