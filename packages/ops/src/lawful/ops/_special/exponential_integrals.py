"""The exponential integrals.

>>> exp1(1.0), expi(1.0), expn(2, 1.0)
(np.float64(0.21938393439552...), np.float64(1.89511781635593...), np.float64(0.14849550677592...))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Excluded, Interval, Primitive
from lawful.ops._elementwise.arithmetic.arithmetic import div, mul, neg, sub
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.exponential import exp
from lawful.ops._special.declaration import special_function
from lawful.ops._special.gamma.gamma_function import gamma
from lawful.ops._special.gamma.log_gamma import numpy_digamma
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, polynomial, rational
from lawful.ops._support.iteration import IteratedAlgorithm, Iteration, lowered_iteration

__all__ = ["exp1", "exp1_p", "expi", "expi_p", "expn", "expn_p"]

_EULER = 0.57721566490153286061
_EPSILON = float(np.finfo(np.float64).eps)
_MOST_STEPS = 500

# Rational functions that interpolate at Chebyshev nodes, computed with 60 digits; relative errors below 2e-16.
# fmt: off
# Of x, (E1(x) + log(x) + γ) / x for 0 ≤ x ≤ 1, and of 1 / x, x exp(x) E1(x) for 1 ≤ x ≤ 4 and from 4 on.
_ENTIRE = (
    (1.0, 0.12221210197998246, 0.019880609546579296, 0.0003101864240870189, 2.19090738652699e-05,
      -5.178710443933522e-07),
    (1.0, 0.3722121019799802, 0.057378079486093796, 0.004392922851300355, 0.00014301143963092402),
)
_E1_MIDDLE = (
    (0.9999998943943722, 16.94833572389735, 100.89539684682016, 267.1381891372058, 330.3315360149095,
      184.16903130801273, 40.90895055382592, 2.645934855635638, 0.011215985114638009),
    (1.0, 17.948329514484644, 116.843914078531, 354.0814876928957, 534.4818040683836, 399.81670614122726,
      138.9293647144074, 19.22800015610971, 0.7219001285652432),
)
_E1_FAR = (
    (1.0, 44.56479659811134, 767.7654976840303, 6583.514247985102, 30169.109846449366, 73822.81592419391,
      91100.49272825674, 49505.18256687086, 8628.491722463577, 121.76105880452022),
    (1.0, 45.56479659811133, 811.3302942821491, 7309.714949069332, 36105.552986760136, 99203.36564182656,
      147226.89174204422, 109118.43067605681, 34316.68137997236, 3097.730947844355),
)
# x exp(-x) Ei(x) for 6 ≤ x ≤ 14 and for 14 ≤ x ≤ 40, of 1 / x scaled to [-1, 1] by a center and a half width.
_EI_MIDDLE = (
    (1.1690676168895002, 0.8450584739796047, -0.17716030426821122, -0.6042368732516891, -0.41467979727052484,
      -0.16191380979854064, -0.03903862651966772, -0.005491277864206538, -0.00028682075936234484,
      1.0885705626357209e-05),
    (1.0, 0.636933499165656, -0.2190497303438619, -0.5028120658665053, -0.3045591641932821, -0.10588936546712456,
      -0.02304511257248355, -0.003275250823722934, -0.00027197910853603394, -1.2860801442054283e-05),
)
_EI_FAR = (
    (1.0537113582093396, -0.16492680416215388, 0.530073825376432, -0.30310757417334677, 0.15006013690829206,
      -0.0988214376351758, 0.030117640962751623, -0.011931962482427092, 0.002174593221444591,
      -0.00034741464371458396, 7.05928019128602e-06),
    (1.0, -0.18407422262290501, 0.5063561032773822, -0.301496729859801, 0.14981677880125757, -0.09748936363529526,
      0.031047127680791653, -0.012028519985393527, 0.002357992358305177, -0.00037662546378164433,
      1.4750525162641843e-05),
)
# fmt: on
_MIDDLE_INTERVAL = (0.11904761904761904, 0.047619047619047616)
_FAR_INTERVAL = (0.048214285714285716, 0.023214285714285715)
_POWERS = tuple([1 / (k * math.factorial(k)) for k in range(1, 45)])
_ASYMPTOTIC = tuple([float(math.factorial(k)) for k in range(38)])


def _scaled_exp1(x: Any) -> Any:
    """Returns ``x exp(x) E1(x)`` for ``x ≥ 1``."""
    w = 1 / x
    return np.where(x < 4, rational(w, _E1_MIDDLE), rational(w, _E1_FAR))


def _numpy_exp1(x: Any) -> Any:
    near = np.minimum(x, 1.0)
    near = near * rational(near, _ENTIRE) - _EULER - np.log(near)
    far = np.maximum(x, 1.0)
    far = np.exp(-far) / far * _scaled_exp1(far)
    return np.where(x <= 1, near, np.where(x == np.inf, 0.0, far))


def _numpy_expi(x: Any) -> Any:
    size = np.abs(x)
    near = np.minimum(size, 6.0)
    near = _EULER + np.log(near) + near * polynomial(near, coefficients=_POWERS)
    w = 1 / np.maximum(size, 6.0)
    middle = rational((w - _MIDDLE_INTERVAL[0]) / _MIDDLE_INTERVAL[1], _EI_MIDDLE)
    far = rational((w - _FAR_INTERVAL[0]) / _FAR_INTERVAL[1], _EI_FAR)
    # The series, DLMF 6.12.2, is accurate from 40 on.
    asymptotic = polynomial(np.minimum(w, 1 / 40), coefficients=_ASYMPTOTIC)
    scaled = np.where(size < 14, middle, np.where(size < 40, far, asymptotic))
    half = np.exp(size / 2)  # the result may be finite where the whole exponential overflows
    out = np.where(size <= 6, near, np.where(size > 800, np.inf, half * (w * scaled) * half))
    return np.where(x < 0, -_numpy_exp1(size), out)


exp1: Elementwise = special_function(
    "exp1",
    """Returns the integral of ``exp(-t) / t`` from ``x`` to ∞: ∞ at 0, NaN for negative numbers.

    >>> exp1(np.array([0.0, 1.0, 10.0]))
    array([           inf, 2.19383934e-01, 4.15696893e-06])

    Source: ``scipy.special.exp1``, ``jax.scipy.special.exp1``.
    """,
    _numpy_exp1,
    (lambda t, ans, x: neg(mul(t, div(exp(neg(x)), x))),),
    (Interval(0.3, 6.0),),
)
expi: Elementwise = special_function(
    "expi",
    """Returns the principal value of the integral of ``exp(t) / t`` from -∞ to ``x``: -∞ at 0.

    >>> expi(np.array([-1.0, 0.0, 1.0]))
    array([-0.21938393,        -inf,  1.89511782])

    Source: ``scipy.special.expi``, ``jax.scipy.special.expi``.
    """,
    _numpy_expi,
    (lambda t, ans, x: mul(t, div(exp(x), x)),),
    (Interval(0.4, 8.0),),
)
exp1_p, expi_p = exp1.primitive, expi.primitive


# The generalized integral: for n > 0 by its power series, DLMF 8.19.8, or by the continued fraction of DLMF 8.19.17,
# evaluated as by Lentz and Thompson; for n ≤ 0 it is a finite sum.


def _goes_on(active: Any, k: Any, change: Any, total: Any) -> Any:
    return active & (np.abs(change) > _EPSILON * np.abs(total)) & (k < _MOST_STEPS)


def _series_start(n: Any, x: Any) -> list[Any]:
    n = np.floor(n)
    use = (n > 0) & (x > 0) & (x <= 1)
    n, x = np.where(use, n, 1.0), np.where(use, x, 1.0)
    first = np.where(n == 1, 0.0, 1 / np.where(n == 1, 1.0, n - 1))
    return [use, np.zeros_like(x), n, x, np.ones_like(x), first]


def _series_step(active: Any, k: Any, n: Any, x: Any, power: Any, total: Any) -> list[Any]:
    k = k + 1
    power = power * (-x / k)
    omitted = k == n - 1
    change = np.where(omitted, 0.0, power / np.where(omitted, 1.0, n - 1 - k))
    total = np.where(active, total + change, total)
    return [_goes_on(active, k, np.where(omitted, power, change), total), k, n, x, power, total]


def _fraction_start(n: Any, x: Any) -> list[Any]:
    n = np.floor(n)
    use = (n > 0) & (x > 1) & (n < np.inf) & (x < np.inf)
    n, x = np.where(use, n, 1.0), np.where(use, x, 3.0)
    d = 1 / (x + n)
    return [use, np.zeros_like(x), n, x, np.full_like(x, 1e300), d, d]


def _fraction_step(active: Any, k: Any, n: Any, x: Any, c: Any, d: Any, total: Any) -> list[Any]:
    k = k + 1
    upper, lower = -k * (n - 1 + k), x + n + 2 * k
    c, d = lower + upper / c, 1 / (lower + upper * d)
    following = np.where(active, total * (c * d), total)
    return [_goes_on(active, k, following - total, following), k, n, x, c, d, following]


def _sum_start(n: Any, x: Any) -> list[Any]:
    n = np.floor(n)
    use = (n <= 0) & (x > 0) & (n > -_MOST_STEPS)
    n, x = np.where(use, n, 0.0), np.where(use, x, 1.0)
    return [use & (n < 0), -n, x, 1 / x, 1 / x]


def _sum_step(active: Any, left: Any, x: Any, term: Any, total: Any) -> list[Any]:
    term = np.where(active, term * left / x, 0.0)
    left = left - 1
    return [active & (left > 0), left, x, term, total + term]


def _finish(n: Any, x: Any, *states: Any) -> Any:
    n = np.floor(n)
    series, fraction, total = states[5], states[12], states[17]
    positive = np.where((n > 0) & (n < np.inf), n, 1.0)
    odd = positive != 2 * np.floor(positive / 2)
    power = np.where(odd, 1.0, -1.0) * x ** (positive - 1) / gamma(positive)
    near = series + power * (numpy_digamma(positive) - np.log(x))
    out = np.where(n <= 0, np.exp(-x) * total, np.where(x <= 1, near, np.exp(-x) * fraction))
    at_zero = np.where(n > 1, 1 / (n - 1), np.inf)
    out = np.where(x == 0, at_zero, np.where((x == np.inf) | (n == np.inf), 0.0, out))
    return np.where((x < 0) | (x != x) | (n != n), np.nan, out)


_ALGORITHM = IteratedAlgorithm(
    (
        Iteration(_series_start, _series_step),
        Iteration(_fraction_start, _fraction_step),
        Iteration(_sum_start, _sum_step),
    ),
    _finish,
)

expn: Elementwise = elementwise(
    "expn",
    """Returns the integral of ``exp(-x t) / t ** n`` from 1 to ∞, for integers ``n`` and ``x ≥ 0``.

    Other ``n`` are rounded down, so that the derivative by ``n`` is 0.

    >>> expn(np.array([0, 1, 2]), 1.0)
    array([0.36787944, 0.21938393, 0.14849551])

    Source: ``scipy.special.expn``, ``jax.scipy.special.expn``.
    """,
    EvaluatedInDouble("expn", _ALGORITHM),
    lowered_iteration(lambda: _ALGORITHM),
    arity=2,
    promote_as=REAL_PROMOTION[2],
    derivatives=(None, lambda t, ans, n, x: neg(mul(t, expn_p.bind(sub(n, 1), x)))),
    domain=(Interval(0.1, 4.0), Interval(0.3, 4.0)),
    excluded=(Excluded(lambda n, x: n == np.floor(n), "a jump", order=0),),
)
expn_p: Primitive = expn.primitive
