"""The densities of the gamma and beta distributions, with their derivatives of any order in all arguments.

A density is a function of the parameters times ``x ** (a - 1) w(x)``, where ``w`` is ``exp(-x)`` or
``(1 - x) ** (b - 1)``. Its k-th derivative by ``x`` has a polynomial as a further factor. At an end it is the limit of
a sum of terms ``c x ** p log(x) ** m``, in which no infinite term meets a zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from lawful.core import Choose, Excluded, Interval
from lawful.ops._elementwise.arithmetic.arithmetic import mul, neg
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.gamma import taylor
from lawful.ops._special.gamma.density_values import beta_value, gamma_value, lifted
from lawful.ops._special.gamma.digamma_differences import digamma_difference_p
from lawful.ops._special.gamma.log_gamma import digamma, lgamma, polygamma
from lawful.ops._support.double import (
    LOG_TWO_PI,
    EvaluatedInDouble,
    deviance,
    is_nowhere,
    log_gamma_correction,
    lowered_with_rare,
    polynomial,
    power,
    weighted_sum,
)

__all__ = ["beta_density_p", "gamma_density_p"]

LARGE = 10.0
#: From this number on the gamma distribution is close to a normal distribution.
ENORMOUS = 1e6
TINY = 1e-300
#: From this number on three terms of Stirling's series give the digamma function.
_MANY = 100.0
#: The first terms at an end are the whole function nearer to it than this, over the other parameter.
_NEAR = 1e-30
Orders = tuple[int, ...]


def beta_factor(a: Any, b: Any, x: Any, *, over_least: bool = False) -> Any:
    """Returns ``x ** a (1 - x) ** b / beta(a, b)``, with no large terms that cancel where both are large.

    With ``over_least`` it is divided by the lesser of ``a`` and ``b``, and has a limit where that one goes to 0.
    """
    exponent, divisor = _beta_exponent(a, b, x, over_least)
    return np.exp(exponent) / divisor if over_least else np.exp(exponent)


def _beta_exponent(a: Any, b: Any, x: Any, over_least: bool) -> tuple[Any, Any]:
    """Returns the logarithm of a factor times a divisor, and the divisor, which is 1 unless ``over_least``."""
    small = np.minimum(a, b)
    both_large = small >= LARGE
    p, q = np.maximum(a, LARGE), np.maximum(b, LARGE)
    n = p + q
    distances = weighted_sum(deviance, (-1, p, n * x), (-1, q, n * (1 - x)))
    # Where both are large the corrections are those of the logarithm of the inverse beta function.
    near = distances + (np.log(p) + np.log(q / n) - LOG_TWO_PI) / 2
    plain = a * np.log(x) + b * np.log1p(-x)
    exponent = np.where(both_large, near, plain) + _log_inverse_beta(a, b, over_least, both_large)
    return exponent, np.where(both_large, small, 1.0) if over_least else 1.0


def _log_inverse_beta(a: Any, b: Any, over_least: bool, both_large: Any = None) -> Any:
    return log_inverse_beta(np.minimum(a, b), np.maximum(a, b), over_least, both_large)


def log_inverse_beta(small: Any, large: Any, over_least: bool = False, both_large: Any = None) -> Any:
    """Returns ``-betaln(small, large)``; for ``large`` and the sum of at least 10 by Stirling's series.

    Args:
      small: not above ``large``.
      large: likewise.
      over_least: whether the inverse of the beta function is divided by ``small``.
      both_large: where only the corrections of Stirling's series are returned, because both are at least 10.
    """
    is_large = (large >= LARGE) & (small + large >= LARGE)
    far = np.maximum(large, LARGE)
    above = far + small
    correction: Any = 0.0
    least = small + 1 if over_least else small
    if both_large is not None:
        least, correction = np.where(both_large, 1.0, least), np.where(both_large, -1.0, 0.0)
    gammas = weighted_sum(
        lgamma,
        (1, np.where(is_large, 1.0, small + large)), (-1, np.where(is_large, 1.0, large)), (-1, least),
    )  # fmt: skip
    corrections = weighted_sum(
        log_gamma_correction,
        (1, above), (-1, far), *([] if both_large is None else [(correction, np.maximum(small, LARGE))]),
    )  # fmt: skip
    ratio = np.minimum(small / far, 1.0)  # not more; XLA makes a fusion of its own of a quotient with two users
    # A compiler may flush a subnormal ratio to 0.
    growth = np.where(np.abs(ratio) < TINY, small, (far - 0.5) * np.log1p(ratio)) + small * np.log(above) - small
    if both_large is not None:
        growth = np.where(both_large, 0.0, growth)
    return gammas + np.where(is_large, growth + corrections, 0.0)


def beta_series(value: Any, a: Any, b: Any, log_x: Any, log_rest: Any, orders: taylor.Index) -> taylor.Series:
    """Returns the power series of ``x ** a (1 - x) ** b gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1))``.

    Args:
      value: that, or that times what is constant in ``a`` and ``b``.
      a: not negative.
      b: not negative.
      log_x: ``log(x)``.
      log_rest: ``log(1 - x)``.
      orders: those of the series.
    """
    return _with_powers(_beta_norm(a, b, orders), value, log_x, log_rest)


def _beta_norm(a: Any, b: Any, orders: taylor.Index) -> taylor.Series:
    """Returns the power series of ``gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1))`` over its value."""
    series = {(0, 0): np.ones_like(a)}
    for i, j in taylor.indices(orders)[1:]:
        if i and j:
            slope = polygamma(i + j - 1, a + b + 1)
        else:
            start, step = (a, b) if i else (b, a)
            slope = neg(digamma_difference_p.bind(start + 1, step, order=i + j - 1))
        series[i, j] = mul(slope, 1 / (math.factorial(i) * math.factorial(j)))
    return taylor.exponential(series)


def _with_powers(series: taylor.Series, value: Any, log_x: Any, log_rest: Any) -> taylor.Series:
    """Returns a series times ``value`` and the series of ``exp(α log_x + β log_rest)``."""
    powers = {(i, j): value * log_x**i * log_rest**j * (1 / (math.factorial(i) * math.factorial(j))) for i, j in series}
    return taylor.product(powers, series)


def gamma_factor(a: Any, x: Any, order: int) -> taylor.Series:
    """Returns ``x ** a exp(-x) / gamma(a + 1)`` and its derivatives by ``a``."""
    return _gamma_series(np.exp(_gamma_exponent(a, x)), a, x, order)


def _gamma_exponent(a: Any, x: Any) -> Any:
    large = np.maximum(a, LARGE)
    near = -deviance(large, x) - log_gamma_correction(large) - (LOG_TWO_PI + np.log(large)) / 2
    return np.where(a >= LARGE, near, a * np.log(x) - x - lgamma(np.minimum(a, LARGE) + 1))


def _gamma_series(value: Any, a: Any, x: Any, order: int) -> taylor.Series:
    series = {(0, 0): value}
    for i in range(1, order + 1):
        series[i, 0] = _log_slope(a, x) if i == 1 else -polygamma(i - 1, a + 1) / math.factorial(i)
    return taylor.exponential(series)


def _log_slope(a: Any, x: Any) -> Any:
    """Returns ``log(x) - digamma(a + 1)``, which cancel where ``a`` is large and ``x`` near it."""
    cancel = (a >= _MANY) & (x > 0.5 * a)
    size = np.where(cancel, a, _MANY)
    inverse = 1 / size
    square = inverse * inverse
    rise = inverse * (0.5 - inverse * polynomial(square, coefficients=(1 / 12, -1 / 120, 1 / 252)))
    return np.where(cancel, np.log1p((x - size) / size) - rise, np.log(x) - digamma(a + 1))


# Derivatives by x


def _polynomial(a: Any, b: Any, x: Any, order: int, orders: taylor.Index) -> taylor.Series:
    """Returns the series P in a k-th derivative ``x ** (a - 1 - k) (1 - x) ** (b - 1 - k) P(x)`` of a beta density.

    Its terms are products of powers of ``x`` and ``1 - x``: powers of ``x`` alone would cancel near 1.
    """
    one = taylor.constant(np.ones_like(x), orders)
    terms = [one]
    for k in range(order):
        following = [taylor.times(one, 0.0, (0, 0)) for _ in range(len(terms) + 1)]
        for m, c in enumerate(terms):  # of x ** m (1 - x) ** (k - m), by the product rule
            following[m] = taylor.plus(following[m], taylor.times(c, a - 1 - k + m, (1, 0)))
            following[m + 1] = taylor.plus(following[m + 1], taylor.times(c, 1 + m - b, (0, -1)))
        terms = following
    return _at(terms, x, 1 - x) if order else one


def _gamma_polynomial(a: Any, x: Any, order: int, orders: taylor.Index) -> taylor.Series:
    """Returns the series Q in ``x ** (a - 1 - k) exp(-x) Q(x)``, the k-th derivative of a gamma density.

    It is a Charlier polynomial, by the recurrence DLMF 18.22.2, in which ``a - x`` is exact where the two are close.
    """
    close = x > 0.5 * a
    before, out = None, taylor.constant(np.ones_like(x), orders)
    for k in range(order):
        fall = np.where(close, (a - x) - (k + 1), (a - (k + 1)) - x)
        following = taylor.times(out, fall, (1, 0))
        if before is not None:
            following = taylor.plus(following, taylor.times(before, -k * x, (0, 0)))
        before, out = out, following
    return out


def _at(terms: Sequence[taylor.Series], x: Any, rest: Any = None) -> taylor.Series:
    """Returns the sum of ``terms[m] x ** m``, times ``rest ** (k - m)`` if it is given."""
    total, power = terms[-1], rest
    for c in terms[-2::-1]:
        total = taylor.times(total, x, (0, 0))
        if rest is None:
            total = taylor.plus(total, c)
        else:
            total, power = taylor.plus(total, taylor.times(c, power, (0, 0))), power * rest
    return total


def _near_end(
    a: Any, x: Any, order: int, log_value: Any, weights: Sequence[taylor.Series], orders: taylor.Index
) -> Any:
    """Returns a coefficient of the k-th derivative of ``x ** (a - 1) exp(log_value) Σ weights[j] x ** j`` near or at 0.

    A term is ``c x ** p log(x) ** m``. At 0 the least ``p`` decides, and of its terms the one with the most logarithms.
    """
    at_end = x == 0
    log_x = np.log(np.where(at_end, 1.0, x))
    total, limit = 0.0 * x, 0.0 * x
    for j in range(len(weights) - 1, -1, -1):
        series = weights[j]
        for k in range(order):
            series = taylor.times(series, a - 1 + j - k, (1, 0))
        p = a - 1 + j - order
        power, unlifted = lifted(p * log_x + log_value)  # of which one may underflow, and the other overflow
        for m in range(orders[0] + 1):  # a coefficient of exp(α log(x))
            c = series[orders[0] - m, orders[1]] * (1 / math.factorial(m))
            is_there = c != 0
            total = total + np.where(is_there, c * power * log_x**m * unlifted, 0.0)
            infinite = np.where((c > 0) == (m % 2 == 0), np.inf, -np.inf)
            here = np.where(p > 0, 0.0, np.where((p < 0) | (m > 0), infinite, c * np.exp(log_value)))
            limit = np.where(is_there, here, limit)
    return np.where(at_end, limit, total)


def _beta_density(a: Any, b: Any, x: Any, *, orders: Orders) -> Any:
    out = _inner_beta_density(a, b, x, orders=orders)
    near_end = _is_near_end_of_beta(a, b, x)
    return out if is_nowhere(near_end) else _with_ends_of_beta(out, a, b, x, orders=orders)


def _inner_beta_density(a: Any, b: Any, x: Any, *, orders: Orders) -> Any:
    """Returns the density, but any number near an end."""
    by_x = orders[2]
    parameters = orders[0], orders[1]
    inside, p, q, y = _inside_of_beta(a, b, x)
    z = np.where(_is_near_end_of_beta(p, q, y), 0.5, y)
    value, unlifted = beta_value(p, q, z)
    norm = _with_poles(_beta_norm(p, q, parameters), p, q)
    series = _with_powers(norm, value, np.log(z), np.log1p(-z))
    series = taylor.product(series, _polynomial(p, q, z, by_x, parameters))
    out = series[parameters] * power(z * (1 - z), float(-1 - by_x)) * unlifted
    return np.where(inside, math.factorial(orders[0]) * math.factorial(orders[1]) * out, np.nan)


def _with_ends_of_beta(out: Any, a: Any, b: Any, x: Any, *, orders: Orders) -> Any:
    _, p, q, y = _inside_of_beta(a, b, x)
    near_zero, at_one = y * (1 + q) < _NEAR, y == 1
    norm = _with_poles(_beta_norm(p, q, (orders[0], orders[1])), p, q)
    scale = math.factorial(orders[0]) * math.factorial(orders[1])
    for use, at_zero in ((near_zero, True), (at_one, False)):
        if not is_nowhere(use):
            there = _beta_near_end(norm, p, q, np.where(use & near_zero, y, 0.0), orders, at_zero)
            out = np.where(use, scale * there, out)
    return out


def _inside_of_beta(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """Returns which arguments are in the domain, and all of them, with harmless ones where they are not."""
    inside = (a >= 0) & (b >= 0) & (a + b > 0) & (a < np.inf) & (b < np.inf) & (x >= 0) & (x <= 1)
    return inside, np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)


def _is_near_end_of_beta(a: Any, b: Any, x: Any) -> Any:
    return (x * (1 + b) < _NEAR) | (x == 1)


def _with_poles(series: taylor.Series, a: Any, b: Any) -> taylor.Series:
    """Returns a series times ``a b / (a + b)``, which makes gamma functions of 1 more those of the beta function.

    The derivative of that factor by ``a`` is the square of ``b / (a + b)``, in which no terms cancel where ``b`` is
    small.
    """
    total = a + b
    parts = a / total, b / total
    factor = {(0, 0): np.minimum(a, b) * np.maximum(*parts)}  # the lesser part may be subnormal
    for i, j in list(series)[1:]:
        (one, other), (k, m) = (parts, (i, j)) if i else (parts[::-1], (j, i))
        last, before, first = [(-1) ** (m - d) * math.comb(k + m - d, k) if m >= d else 0 for d in range(3)]
        terms = (last + 2 * before + first) * other * other + 2 * (before + first) * one * other + first * one * one
        factor[i, j] = (-1) ** (k - 1) * terms
        for _ in range(i + j - 1):
            factor[i, j] = factor[i, j] / total
    return taylor.product(factor, series)


def _beta_near_end(norm: taylor.Series, a: Any, b: Any, x: Any, orders: Orders, at_zero: bool) -> Any:
    """Returns the density near 0, or that at 1, which is that at 0 with ``a`` and ``b`` exchanged."""
    log_value, value = _log_inverse_beta(a, b, True), (a + b) / np.maximum(a, b)
    i, j, by_x = orders
    if not at_zero:
        a, b, i, j = b, a, j, i
        norm = {(index[1], index[0]): c for index, c in norm.items()}
    weights = [{index: norm[index] * value for index in taylor.indices((i, j))}]
    for k in range(by_x + 1):  # (1 - x) ** (b - 1) is the sum of (1 - b)_k x ** k / k!
        weights.append(taylor.times(taylor.times(weights[-1], k + 1 - b, (0, -1)), 1 / (k + 1), (0, 0)))
    out = _near_end(a, x, by_x, log_value, weights, (i, j))
    return out if at_zero or by_x % 2 == 0 else -out


def _gamma_density(a: Any, x: Any, *, orders: Orders) -> Any:
    out = _inner_gamma_density(a, x, orders=orders)
    return out if is_nowhere(_is_near_end_of_gamma(a, x)) else _with_end_of_gamma(out, a, x, orders=orders)


def _inner_gamma_density(a: Any, x: Any, *, orders: Orders) -> Any:
    """Returns the density, but any number near 0."""
    by_a, by_x = orders
    parameters = by_a, 0
    inside, p, y = _inside_of_gamma(a, x)
    z = np.where(_is_near_end_of_gamma(p, y), 1.0, y)
    value, unlifted = gamma_value(p, z)
    series = taylor.times(_gamma_series(value, p, z, by_a), p, (1, 0))
    series = taylor.product(series, _gamma_polynomial(p, z, by_x, parameters))
    out = series[parameters] * power(z, float(-1 - by_x)) * unlifted
    out = np.where(inside, math.factorial(by_a) * out, np.nan)
    return np.where((x == np.inf) & (a >= 0) & (a < np.inf), 0.0, out)


def _with_end_of_gamma(out: Any, a: Any, x: Any, *, orders: Orders) -> Any:
    by_a, by_x = orders
    _, p, y = _inside_of_gamma(a, x)
    near = _is_near_end_of_gamma(p, y)
    log_value = -lgamma(np.minimum(p, 100.0) + 1)
    weights = [taylor.times(_gamma_series(np.ones_like(p), p, 1.0, by_a), p, (1, 0))]
    for j in range(by_x + 1):
        weights.append(taylor.times(weights[-1], -1 / (j + 1), (0, 0)))
    there = _near_end(p, np.where(near, y, 0.0), by_x, log_value, weights, (by_a, 0))
    return np.where(near, math.factorial(by_a) * there, out)


def _inside_of_gamma(a: Any, x: Any) -> tuple[Any, Any, Any]:
    inside = (a >= 0) & (a < np.inf) & (x >= 0) & (x < np.inf) & (a + x > 0)
    return inside, np.where(inside, a, 1.0), np.where(inside, x, 1.0)


def _is_near_end_of_gamma(a: Any, x: Any) -> Any:
    return x < _NEAR


# The primitives


def _slope(primitive: str, argnum: int, t: Any, ans: Any, *args: Any, orders: Orders) -> Any:
    raised = tuple([order + (i == argnum) for i, order in enumerate(orders)])
    return mul(t, {"beta": beta_density_p, "gamma": gamma_density_p}[primitive].bind(*args, orders=raised))


def _sample(choices: Sequence[Orders]) -> Any:
    def params(choose: Choose) -> dict[str, Any]:
        return {"orders": choose.one_of(choices)}

    return params


_NOT_POSITIVE = Excluded(lambda *args, **_: reduce(np.logical_or, [x <= 0 for x in args[:-1]]), "outside of the domain")
beta_density_p = elementwise(
    "beta_density",
    "",
    EvaluatedInDouble("betainc", _beta_density),
    lowered_with_rare(_inner_beta_density, _is_near_end_of_beta, _with_ends_of_beta),
    arity=3,
    derivatives=[
        lambda t, ans, *args, orders, argnum=argnum: _slope("beta", argnum, t, ans, *args, orders=orders)
        for argnum in range(3)
    ],
    domain=(Interval(0.4, 4.0), Interval(0.4, 4.0), Interval(0.1, 0.9)),
    excluded=(_NOT_POSITIVE,),
    params=_sample(((0, 0, 0), (1, 0, 0), (0, 1, 1))),
).primitive
gamma_density_p = elementwise(
    "gamma_density",
    "",
    EvaluatedInDouble("igamma", _gamma_density),
    lowered_with_rare(_inner_gamma_density, _is_near_end_of_gamma, _with_end_of_gamma),
    arity=2,
    derivatives=[
        lambda t, ans, *args, orders, argnum=argnum: _slope("gamma", argnum, t, ans, *args, orders=orders)
        for argnum in range(2)
    ],
    domain=(Interval(0.4, 4.0), Interval(0.3, 5.0)),
    excluded=(_NOT_POSITIVE,),
    params=_sample(((0, 0), (1, 0), (0, 1))),
).primitive
