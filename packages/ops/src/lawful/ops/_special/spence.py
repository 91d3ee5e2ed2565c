"""Spence's function, the dilogarithm.

>>> spence(np.array([0.0, 1.0, 2.0]))
array([ 1.64493407,  0.        , -0.82246703])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval, Primitive
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._special.declaration import special_function
from lawful.ops._special.gamma.digamma_derivatives import BERNOULLI
from lawful.ops._special.quadrature import gauss_legendre, sum_over_nodes
from lawful.ops._support.double import polynomial, power

__all__ = ["spence", "spence_derivative_p", "spence_p"]

#: Coefficients of the series in ``z = -log(x)``: ``z - z² / 4 + Σ B(2k) z^(2k + 1) / (2k + 1)!``.
_COEFFICIENTS = tuple([b / math.factorial(2 * k + 1) for k, b in enumerate(BERNOULLI, 1)])
_RULE = gauss_legendre(14)


def _near_one(x: Any) -> Any:
    """Returns the function for ``1/2 ≤ x ≤ 2``: the generating function of the Bernoulli numbers, integrated."""
    z = 0.0 - np.log(x)  # not the negative, whose zero is negative
    square = z * z
    return z * ((1 - z / 4) + square * polynomial(square, coefficients=_COEFFICIENTS))


def _numpy_spence(x: Any) -> Any:
    """Returns the function by its values near 1, DLMF 25.12.4 and 25.12.6."""
    inverted, log_x = x > 2, np.log(x)
    y = np.where(inverted, 1 / x, x)
    reflected = y < 0.5
    near = _near_one(np.where(reflected, 1 - y, y))
    products = np.where(y == 0, 0.0, np.where(inverted, -log_x, log_x) * np.log1p(-np.where(reflected, y, 0.0)))
    out = np.where(reflected, math.pi**2 / 6 - products - near, near)
    out = np.where(inverted, -log_x * log_x / 2 - out, out)
    return np.where(x < 0, np.nan, out)


def _numpy_spence_derivative(x: Any, *, order: int = 0) -> Any:
    """Returns a derivative of ``log(x) / (1 - x)``, which is that of ``-∫ dt / (1 + t (x - 1))`` from 0 to 1.

    The n-th is ``(-1)^(n + 1) n! Jₙ`` with the integral ``Jₙ`` of ``tⁿ / (1 + t u)^(n + 1)``, ``u = x - 1``: for small
    ``u`` by quadrature, else by ``u Jₙ = Jₙ₋₁ - x⁻ⁿ / n``.
    """
    u = x - 1
    near = (u >= -0.5) & (u <= 1)
    small, far = np.where(near, u, 0.0), np.where(near, 2.0, x)
    integral = np.log(far) / (far - 1)
    for n in range(1, order + 1):
        integral = (integral - power(far, -float(n)) / n) / (far - 1)
    close = sum_over_nodes(lambda t, w: w * t**order / (1 + t * small) ** (order + 1), x, *_RULE)
    out = np.where(near, close, np.where(x == np.inf, 0.0, integral))
    out = np.where(x == 0, np.inf, out)
    return (-1) ** (order + 1) * math.factorial(order) * np.where(x < 0, np.nan, out)


#: A derivative of ``log(x) / (1 - x)``.
spence_derivative_p: Primitive = special_function(
    "spence_derivative",
    "",
    _numpy_spence_derivative,
    (lambda t, ans, x, *, order: mul(t, spence_derivative_p.bind(x, order=order + 1)),),
    (Interval(0.2, 4.0),),
    params=lambda choose: {"order": choose.integer(0, 3)},
).primitive
spence: Elementwise = special_function(
    "spence",
    """Returns the integral of ``log(t) / (1 - t)`` from 1 to ``x``, the dilogarithm of ``1 - x``; NaN for ``x < 0``.

    >>> spence(np.array([0.0, 0.5, 1.0]))
    array([1.64493407, 0.58224053, 0.        ])

    Source: ``scipy.special.spence``, ``jax.scipy.special.spence``.
    """,
    _numpy_spence,
    (lambda t, ans, x: mul(t, spence_derivative_p.bind(x, order=0)),),
    (Interval(0.2, 4.0),),
)
spence_p = spence.primitive
