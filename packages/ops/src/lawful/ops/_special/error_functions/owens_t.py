"""Owen's T function.

>>> owens_t(np.array([0.0, 1.0]), 1.0)
array([0.125     , 0.06674188])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._elementwise.arithmetic.arithmetic import add, div, mul, square
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.transcendental.exponential import exp
from lawful.ops._special.declaration import special_function
from lawful.ops._special.error_functions.error_function import erf, erfc
from lawful.ops._special.quadrature import gauss_legendre_of_even, sum_over_nodes

__all__ = ["owens_t", "owens_t_p"]

_RULE = gauss_legendre_of_even(22)
#: Beyond this many standard deviations a density is below the rounding error of its integral.
_WIDTH = 8.5
#: From here on the function is 0.
_LARGE = 50.0


def _of_small_slope(h: Any, a: Any) -> Any:
    """Returns the function for ``h ≥ 0`` and ``0 ≤ a ≤ 1``, by Gauss' quadrature up to where the integrand vanishes."""
    end = np.where(h * a > _WIDTH, _WIDTH / np.where(h * a > _WIDTH, h, 1.0), a)

    def term(node: Any, weight: Any) -> Any:
        x = end * node
        square = x * x
        return weight * np.exp(-h * h * square / 2) / (1 + square)

    return end * np.exp(-h * h / 2) * sum_over_nodes(term, h, *_RULE) * (0.5 / math.pi)


def _upper_tail(x: Any) -> Any:
    return erfc(x / math.sqrt(2)) / 2


def _numpy_owens_t(h: Any, a: Any) -> Any:
    """Returns the function; for ``a > 1`` that of ``1 / a``, by which Owen (1956) reflects it."""
    size, slope = np.minimum(np.abs(h), _LARGE), np.abs(a)
    steep = slope > 1
    other = np.where(size == 0, 0.0, np.minimum(size * slope, _LARGE))
    near = _of_small_slope(np.where(steep, other, size), np.where(steep, 1 / slope, slope))
    tail, other_tail = _upper_tail(size), _upper_tail(other)
    out = np.where(steep, (tail + other_tail) / 2 - tail * other_tail - near, near)
    return np.where(a < 0, -out, out)


def _slope_by_height(t: Any, ans: Any, h: Any, a: Any) -> Any:
    density = mul(exp(mul(square(h), -0.5)), -0.5 / math.sqrt(2 * math.pi))
    return mul(t, mul(density, erf(mul(mul(a, h), math.sqrt(0.5)))))


def _slope_by_slope(t: Any, ans: Any, h: Any, a: Any) -> Any:
    growth = add(square(a), 1)
    return mul(t, div(exp(mul(mul(square(h), growth), -0.5)), mul(growth, 2 * math.pi)))


owens_t: Elementwise = special_function(
    "owens_t",
    """Returns the integral of ``exp(-h² (1 + t²) / 2) / (2 π (1 + t²))`` from 0 to ``a``.

    It is the probability that ``X > h`` and ``0 < Y < a X``, of independent standard normal numbers.

    >>> owens_t(1.0, np.array([-1.0, 0.0, np.inf]))
    array([-0.06674188,  0.        ,  0.07932763])

    Source: ``scipy.special.owens_t``, ``jax.scipy.special.owens_t``.
    """,
    _numpy_owens_t,
    (_slope_by_height, _slope_by_slope),
    (Interval(-3.0, 3.0), Interval(-2.5, 2.5)),
)
owens_t_p = owens_t.primitive
