"""The regularized incomplete beta function, with its derivatives of any order in all three arguments.

It is the even part of a continued fraction (DLMF 8.17.22, evaluated as by Lentz and Thompson), its derivatives by
``a`` and ``b`` are those of a power series with positive terms (DLMF 8.17.8). Both converge fast for ``x`` below the
mean of the beta distribution, and the function is reflected (DLMF 8.17.4) for those above.

>>> betainc(2.0, 3.0, np.array([0.0, 0.5, 1.0]))
array([0.    , 0.6875, 1.    ])
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from lawful.core import Choose, Excluded, Interval, cached_function
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.error_functions.error_function import erfc
from lawful.ops._special.gamma import taylor
from lawful.ops._special.gamma.densities import (
    TINY,
    beta_density_p,
    beta_factor,
    beta_series,
    log_inverse_beta,
)
from lawful.ops._special.gamma.digamma_differences import digamma_difference_p
from lawful.ops._support.double import (
    REAL_PROMOTION,
    EvaluatedInDouble,
    deviance,
    is_nowhere,
    is_staged,
    lowered_in_double,
    rounding,
    weighted_sum,
)
from lawful.ops._support.iteration import IteratedAlgorithm, Iteration, lowered_iteration
from lawful.ops._support.promotion import promote

__all__ = ["betainc", "betaln", "betaln_p", "regularized_incomplete_beta_derivative_p", "regularized_incomplete_beta_p"]

_EPSILON = float(np.finfo(np.float64).eps)
_MOST_STEPS = 50_000
#: The fraction would take too many steps where both parameters are from this number on.
_ENORMOUS = 1e10
_HUGE = 1e290
#: Up to this ``b`` the function is small, and the fraction converges for ``x`` up to the second number.
_SMALL, _NEAR_ONE = 0.05, 0.99


def _is_inside(a: Any, b: Any, x: Any) -> Any:
    return (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf) & (x > 0) & (x < 1)


def _has_slopes(a: Any, b: Any, x: Any) -> Any:
    """Returns where the derivatives by ``a`` and ``b`` are those of the series: also where one of these is 0."""
    return (a >= 0) & (b >= 0) & (a + b > 0) & (a < np.inf) & (b < np.inf) & (x > 0) & (x < 1)


def _moderate(a: Any, b: Any, x: Any, inside: Any) -> tuple[Any, Any, Any]:
    """Returns the arguments, with harmless ones where the function is known or not defined.

    A staged program computes with the others too: each selection would be a function to compile.
    """
    if is_staged(a):
        return a, b, x
    return np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)


def _is_reflected(a: Any, b: Any, x: Any) -> Any:
    return x >= (a + 1) / (a + b + 2)


def _is_value_reflected(a: Any, b: Any, x: Any) -> Any:
    """Returns where the fraction gives one less the function, of which a small one would lose its digits."""
    return _is_reflected(a, b, x) & ((b > _SMALL) | (x > _NEAR_ONE))


def _reflected(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    swap = _is_reflected(a, b, x)
    return np.where(swap, b, a), np.where(swap, a, b), np.where(swap, 1 - x, x)


def _fraction_start(a: Any, b: Any, x: Any) -> list[Any]:
    active = _is_inside(a, b, x) & (np.minimum(a, b) < _ENORMOUS)
    a, b, x = _moderate(a, b, x, active)
    swap, rest = _is_value_reflected(a, b, x), 1 - x
    # How far x is from the mean, times a + b, from the lesser of x and 1 - x.
    distance = np.where(a > b, (a + b) * rest - b, a - (a + b) * x)
    c = np.minimum(1 + np.where(swap, -distance, distance), _HUGE)  # XLA's inverse of more is 0
    a, b, x, rest = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, rest, x), np.where(swap, x, rest)
    first = a / (a + 1) * c
    steps = np.float64(0) if is_staged(a) else np.zeros_like(a)  # a scalar is the same for all elements
    return [active, steps, a, b, x, rest, c, first, np.zeros_like(a), first]


def _fraction_step(
    active: Any, m: Any, a: Any, b: Any, x: Any, rest: Any, distance: Any, c: Any, d: Any, h: Any
) -> list[Any]:
    """Adds a term of the even part of the fraction: all are positive up to ``m = b``, so that nothing cancels."""
    previous, m = a + m, m + 1  # not `whole - 1`, of which a small `a` would be lost
    before, whole = a + 2 * m - 1, a + m
    scaled = m * ((b - m) * x)  # m * b may overflow
    numerator = (previous / before) * ((previous + b) / before * x) * scaled
    denominator = m + scaled / before + whole / (before + 2) * (distance + m * (1 + rest))
    d = 1 / _away_from_zero(denominator + numerator * d)
    c = _away_from_zero(denominator + numerator / c)
    go_on = active & (abs(c * d - 1) > _EPSILON) & (m < _MOST_STEPS)
    return [go_on, m, a, b, x, rest, distance, c, d, np.where(active, h * (c * d), h)]


def _away_from_zero(x: Any) -> Any:
    return np.where(abs(x) < TINY, TINY, x)


def _fraction_finish(a: Any, b: Any, x: Any, *state: Any) -> Any:
    moderate = _moderate(a, b, x, _is_inside(a, b, x))
    out = np.minimum(beta_factor(*moderate) / state[-1], 1.0)  # so that the rest is not negative
    out = np.where(_is_value_reflected(*moderate), 1 - out, out)
    enormous = np.minimum(*moderate[:2]) >= _ENORMOUS
    if not is_nowhere(enormous):
        out = np.where(enormous, _by_normal_distribution(*moderate), out)
    all_left, all_right = (a == 0) | (b == np.inf), (b == 0) | (a == np.inf)
    out = np.where((x == 0) | all_right & (x < 1), 0.0, np.where((x == 1) | all_left, 1.0, out))
    undefined = (a < 0) | (b < 0) | (x < 0) | (x > 1) | (a != a) | (b != b) | (x != x) | all_left & all_right
    return np.where(undefined, np.nan, out)


def _by_normal_distribution(a: Any, b: Any, x: Any) -> Any:
    """Returns the function for ``a`` and ``b`` from `_ENORMOUS` on, by the first terms of DLMF 8.18.9: Temme."""
    shrink = np.where(np.minimum(a, b) > _HUGE, 2.0**-100, 1.0)  # the sum overflows; no number is that near to the mean
    a, b = a * shrink, b * shrink
    n = a + b
    offset = np.where(a > b, b - n * (1 - x), n * x - a)
    half_square = np.maximum(weighted_sum(deviance, (1, a, n * x), (1, b, n * (1 - x))), 0.0)
    scaled = np.where(offset < 0, -1.0, 1.0) * np.sqrt(half_square)
    # Near the mean the difference of the two poles would cancel.
    is_near = half_square < 1
    far, far_offset = np.where(is_near, 1.0, scaled), np.where(is_near, 1.0, offset)
    root = np.sqrt(a / n) * np.sqrt(b) / math.sqrt(2 * math.pi)
    skewness = (b - a) / n / (6 * math.pi * root)
    correction = np.where(is_near, skewness, 1 / (2 * math.sqrt(math.pi) * far) - root / far_offset)
    return 0.5 * erfc(-scaled) + np.exp(-half_square) * correction


_VALUE = IteratedAlgorithm((Iteration(_fraction_start, _fraction_step),), _fraction_finish)


def _series_start(a: Any, b: Any, x: Any, *, orders: taylor.Index) -> list[Any]:
    active = _has_slopes(a, b, x)
    a, b, x = _moderate(a, b, x, active)
    swap = np.where(_is_reflected(a, b, x), 1.0, 0.0)
    a, b, x = _reflected(a, b, x)
    one = taylor.constant(np.ones_like(a), orders)
    return [active, np.zeros_like(a), a, b, x, swap, *one.values(), *one.values()]


def _series_step(active: Any, n: Any, a: Any, b: Any, x: Any, swap: Any, *flat: Any, orders: taylor.Index) -> list[Any]:
    keys = taylor.indices(orders)
    term = dict(zip(keys, flat[: len(keys)], strict=True))
    total = dict(zip(keys, flat[len(keys) :], strict=True))
    n = n + 1
    term = taylor.over(taylor.times(term, a + b + (n - 1), (1, 1)), a + n, (1 - swap, swap))
    term = taylor.times(term, x, (0, 0))
    total = {index: np.where(active, y + term[index], y) for index, y in total.items()}
    # The terms may grow before they fall.
    changes = (n <= sum(orders)) | ((a + b + n) * x >= a + n)
    for index in keys:
        changes = changes | (abs(term[index]) > _EPSILON * abs(total[index]))
    return [active & changes & (n < _MOST_STEPS), n, a, b, x, swap, *term.values(), *total.values()]


def _series_finish(a: Any, b: Any, x: Any, *state: Any, orders: taylor.Index) -> Any:
    keys = taylor.indices(orders)
    total = dict(zip(keys, state[-len(keys) :], strict=True))
    swap = state[5]
    inside = _has_slopes(a, b, x)
    p, q, y = _moderate(a, b, x, inside)
    # The pole of gamma at 0 is a separate factor: derivatives of the logarithms would cancel.
    value = beta_factor(p, q, y, over_least=True) * ((p + q) / np.maximum(p, q))
    factor = beta_series(value, p, q, np.log(y), np.log1p(-y), orders)
    series = taylor.product(taylor.product(factor, total), _share(p, q, swap, orders))
    out = math.factorial(orders[0]) * math.factorial(orders[1]) * series[orders]
    out = np.where(swap > 0, -out, out)
    constant = (a >= 0) & (b >= 0) & (((x == 0) & (a > 0)) | ((x == 1) & (b > 0)))
    return np.where(inside, out, np.where(constant, 0.0, np.nan))


def _share(p: Any, q: Any, swap: Any, orders: taylor.Index) -> taylor.Series:
    """Returns the series of ``p / (p + q)`` or ``q / (p + q)``, whose derivatives are multiples of the other share."""
    total = p + q
    out = {(0, 0): np.where(swap > 0, p, q) / total}
    for i, j in taylor.indices(orders)[1:]:
        factor = (-1) ** (i + j) * math.comb(i + j, i) / (i + j)
        out[i, j] = np.where(swap > 0, factor, -factor) * ((j * p - i * q) / total)
        for _ in range(i + j):
            out[i, j] = out[i, j] / total
    return out


@cached_function("derivatives of betainc", 256)
def _derivative(orders: taylor.Index) -> IteratedAlgorithm:
    return IteratedAlgorithm(
        (Iteration(partial(_series_start, orders=orders), partial(_series_step, orders=orders)),),
        partial(_series_finish, orders=orders),
    )


def _slope(argnum: int, t: Any, ans: Any, a: Any, b: Any, x: Any, *, orders: taylor.Index = (0, 0)) -> Any:
    if argnum == 2:
        return mul(t, beta_density_p.bind(a, b, x, orders=(*orders, 0)))
    raised = (orders[0] + (argnum == 0), orders[1] + (argnum == 1))
    return mul(t, regularized_incomplete_beta_derivative_p.bind(a, b, x, orders=raised))


def _value(**_: Any) -> IteratedAlgorithm:
    return _VALUE


def _derivative_of(*, orders: taylor.Index) -> IteratedAlgorithm:
    return _derivative(orders)


def _sample_orders(choose: Choose) -> dict[str, Any]:
    return {"orders": choose.one_of(((1, 0), (0, 1)))}


_SLOPES = tuple([partial(_slope, argnum) for argnum in range(3)])
_NOT_POSITIVE = Excluded(lambda a, b, *_, **__: (a <= 0) | (b <= 0), "outside of the domain: the integral diverges")
_DOMAIN = (Interval(0.4, 4.0), Interval(0.4, 4.0), Interval(0.1, 0.9))

regularized_incomplete_beta_p = elementwise(
    "regularized_incomplete_beta",
    "",
    EvaluatedInDouble("betainc", _VALUE),
    lowered_iteration(_value),
    arity=3,
    derivatives=_SLOPES,
    domain=_DOMAIN,
    excluded=(_NOT_POSITIVE,),
).primitive
regularized_incomplete_beta_derivative_p = elementwise(
    "regularized_incomplete_beta_derivative",
    "",
    EvaluatedInDouble("betainc", lambda a, b, x, *, orders: _derivative(orders)(a, b, x)),
    lowered_iteration(_derivative_of),
    arity=3,
    derivatives=_SLOPES,
    domain=_DOMAIN,
    excluded=(_NOT_POSITIVE,),
    params=_sample_orders,
).primitive


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Returns the regularized incomplete beta function, as ``scipy.special.betainc``, elementwise.

    That is the integral of ``t ** (a - 1) (1 - t) ** (b - 1)`` from 0 to ``x``, over that to 1.

    Args:
      a: real numbers; NaN comes of negative ones.
      b: likewise.
      x: real numbers from 0 to 1; NaN comes of others.

    It has derivatives in all arguments, of any order; JAX's has none in ``a`` and ``b``. At an end they are the limits
    from inside of the domain. The relative error grows like that of a rounded ``x``, with the square root of ``a`` and
    ``b``: of 1e12, near the mean, it is about 1e-10, where SciPy has up to 2e-4 and JAX up to 1e2.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> betainc(1.0, 2.0, 0.5)
    np.float64(0.75)

    Source: ``jax.lax.betainc``.
    """
    operands = promote("betainc", None, (a, b, x))
    return regularized_incomplete_beta_p.bind(*[promote("betainc", np.cbrt, (z,))[0] for z in operands])


def _numpy_betaln(a: Any, b: Any) -> Any:
    """Returns the logarithm of the beta function, by that of positive numbers.

    By the reflection of gamma functions (DLMF 5.5.3), with S(x) = sin(π x) / π, beta(a, b) is in size
    1 / (S(a) b beta(1 - a, a + b)) for a < 0 < a + b, and S(a + b) beta(1 - a - b, b) / S(a) for a + b ≤ 0 < b. For
    negative numbers it is S(a + b) / (S(a) S(b) (1 - a - b) beta(1 - a, 1 - b)).
    """
    small, large = np.minimum(a, b), np.maximum(a, b)
    is_negative = small < 0
    if is_nowhere(is_negative):
        out = 0.0 - log_inverse_beta(small, large)  # not the negative, whose zero is negative
    else:
        out = _reflected_betaln(small, large, is_negative)
    out = np.where((large == np.inf) & (small > -np.inf), np.where(is_negative, np.inf, -np.inf), out)
    return np.where((small == 0) | (large == 0), np.inf, out)


def _reflected_betaln(small: Any, large: Any, is_negative: Any) -> Any:
    total = small + large
    is_above, both = is_negative & (total > 0), is_negative & (large < 0)
    first = np.where(is_negative, np.where(is_above | both, 1 - small, 1 - total), small)
    second = np.where(is_above, total, np.where(both, 1 - large, large))
    inverted = is_above | both
    out = np.where(inverted, 1.0, -1.0) * log_inverse_beta(np.minimum(first, second), np.maximum(first, second))
    sines = weighted_sum(
        lambda x, rest: np.log(np.abs(_sine_of_pi(x, rest))),
        (np.where(is_negative, -1.0, 0.0), small, 0.0 * small),
        (np.where(both, -1.0, 0.0), large, 0.0 * large),
        (np.where(is_negative & (total <= 0), 1.0, 0.0), total, rounding(small, large)),
    )
    divisor = np.where(is_above, large, np.where(both, 1 - total, 1.0))
    out = out + sines + np.where(inverted, math.log(math.pi) - np.log(divisor), 0.0)
    return np.where(both & ((small == np.floor(small)) | (large == np.floor(large))), np.inf, out)


def _sine_of_pi(x: Any, rest: Any) -> Any:
    """Returns the sine of π times a sum of a number and its rounding error, up to its sign, exact near integers."""
    near = (x - np.rint(x)) + rest
    return np.sin(math.pi * (near - np.rint(near)))


betaln: Elementwise = elementwise(
    "betaln",
    """Returns the logarithm of the absolute value of the beta function, exact also where one argument is large.

    >>> betaln(2.0, 1e10)
    np.float64(-46.0517018...)

    Source: ``scipy.special.betaln``, ``jax.scipy.special.betaln``.
    """,
    EvaluatedInDouble("betaln", _numpy_betaln),
    lowered_in_double(_numpy_betaln, inlined=False),
    arity=2,
    promote_as=REAL_PROMOTION[2],
    derivatives=(
        lambda t, ans, a, b: mul(t, digamma_difference_p.bind(a, b, order=0)),
        lambda t, ans, a, b: mul(t, digamma_difference_p.bind(b, a, order=0)),
    ),
    commutes=True,
    domain=(Interval(0.4, 4.0), Interval(0.4, 4.0)),
)
betaln_p = betaln.primitive
