"""The regularized incomplete gamma functions, with their derivatives of any order in both arguments.

The lower one is the sum of a power series (DLMF 8.11.4), the upper one a continued fraction (DLMF 8.9.2, evaluated as
by Lentz and Thompson); each is taken where it converges fast. The coefficients of both are rational in ``a``, so that
power series in a small change of ``a`` give the derivatives by it with no differences.

>>> igamma(2.0, np.array([0.5, 3.0]))
array([0.09020401, 0.80085173])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from lawful.core import Interval, cached_function
from lawful.ops._elementwise.arithmetic.arithmetic import div, mul, neg, sub
from lawful.ops._elementwise.comparison import bitwise_and, eq, gt
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._special.gamma import taylor
from lawful.ops._special.gamma.densities import ENORMOUS, gamma_density_p, gamma_factor
from lawful.ops._special.gamma.incomplete_gamma_ends import TINY, by_normal_distribution, upper_of_tiny
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, is_nowhere
from lawful.ops._support.iteration import IteratedAlgorithm, Iteration, lowered_iteration
from lawful.ops._support.promotion import promote

__all__ = ["igamma", "igamma_grad_a", "igamma_grad_a_p", "igamma_p", "igammac", "igammac_p", "random_gamma_grad"]

_EPSILON = float(np.finfo(np.float64).eps)
_LEAST = 1e-300
_MOST_STEPS = 20_000
# From here on the logarithm of the gamma function is computed without its large terms.
_LARGE = 10.0


def _is_inside(a: Any, x: Any) -> Any:
    return (a >= 0) & (x > 0) & (a < np.inf) & (x < np.inf)


def _by_fraction(a: Any, x: Any) -> Any:
    return (x > 1) & (x > a)


def _moderate(a: Any, x: Any, use: Any) -> tuple[Any, Any]:
    """Returns the arguments, with harmless ones where a method is not used."""
    use = use & _is_inside(a, x)
    return np.where(use, a, 1.0), np.where(use, x, 1.0)


def _pack(active: Any, *rest: Any) -> list[Any]:
    """Returns a state as a flat list."""
    return [active, *[x for part in rest for x in (part.values() if isinstance(part, dict) else (part,))]]


def _unpack(order: int, flat: Sequence[Any]) -> list[taylor.Series]:
    """Returns the power series in a part of a flat state."""
    keys = taylor.indices((order, 0))
    return [dict(zip(keys, flat[i : i + len(keys)], strict=True)) for i in range(0, len(flat), len(keys))]


def _goes_on(active: Any, n: Any, change: taylor.Series, total: taylor.Series) -> Any:
    """Returns which elements continue: those that change. The terms of derivatives grow at first."""
    changes = n < len(total)
    for index, x in total.items():
        changes = changes | (abs(change[index]) > _EPSILON * abs(x))
    return active & changes & (n < _MOST_STEPS)


def _series_start(a: Any, x: Any, *, order: int) -> list[Any]:
    use = ~_by_fraction(a, x) & (a < ENORMOUS)
    a, x = _moderate(a, x, use)
    one = taylor.constant(np.ones_like(a), (order, 0))
    return _pack(use & (a == a), np.zeros_like(a), a, x, one, one)


def _series_step(active: Any, n: Any, a: Any, x: Any, *flat: Any, order: int) -> list[Any]:
    n = n + 1
    if order == 0:  # the step below on arrays, without the cost of series
        term, total = flat
        term = term / (a + n) * x
        total = np.where(active, total + term, total)
        changes = abs(term) > _EPSILON * abs(total)
        return [active & changes & (n < _MOST_STEPS), n, a, x, term, total]
    term, total = _unpack(order, flat)
    term = taylor.times(taylor.over(term, a + n, (1, 0)), x, (0, 0))
    total = {index: np.where(active, x + term[index], x) for index, x in total.items()}
    return _pack(_goes_on(active, n, term, total), n, a, x, term, total)


def _fraction_start(a: Any, x: Any, *, order: int) -> list[Any]:
    use = _by_fraction(a, x) & (a < ENORMOUS)
    a, x = _moderate(a, x, use)
    a, x = np.where(use, a, 1.0), np.where(use, x, 3.0)
    one = taylor.constant(np.ones_like(a), (order, 0))
    d = taylor.over(one, x + 1 - a, (-1, 0))
    c = taylor.constant(np.full_like(a, 1 / _LEAST), (order, 0))
    return _pack(use & (a == a), np.zeros_like(a), a, x, c, d, d)


def _fraction_step(active: Any, n: Any, a: Any, x: Any, *flat: Any, order: int) -> list[Any]:
    n = n + 1
    # -n (n - a) over x + 2n + 1 - a, of which both are linear in a.
    upper, lower = n * (a - n), x + 2 * n + 1 - a
    if order == 0:  # the step below on arrays
        c, d, h = flat
        c, d = lower + upper / c, 1.0 / (lower + upper * d)
        following = h * (c * d)
        changes = abs(following - h) > _EPSILON * abs(following)
        return [active & changes & (n < _MOST_STEPS), n, a, x, c, d, np.where(active, following, h)]
    c, d, h = _unpack(order, flat)
    denominator = taylor.linear(lower, -1.0, (order, 0))
    d = taylor.reciprocal(taylor.plus(denominator, taylor.times(d, upper, (n, 0))))
    c = taylor.plus(denominator, taylor.quotient(taylor.linear(upper, n, (order, 0)), c))
    following = taylor.product(h, taylor.product(c, d))
    change = {index: y - h[index] for index, y in following.items()}
    kept = {index: np.where(active, y, h[index]) for index, y in following.items()}
    return _pack(_goes_on(active, n, change, following), n, a, x, c, d, kept)


def _finish(a: Any, x: Any, *states: Any, order: int, upper: bool) -> Any:
    size = 4 + 2 * (order + 1)
    total = _unpack(order, states[4:size])[1]
    fraction = _unpack(order, states[size + 4 :])[2]
    moderate = _moderate(a, x, a == a)
    factor = gamma_factor(*moderate, order)
    lower = taylor.product(factor, total)[order, 0]
    other = taylor.product(taylor.times(factor, moderate[0], (1, 0)), fraction)[order, 0]
    by_fraction = _by_fraction(a, x)
    one = 1.0 if order == 0 else 0.0
    scale = math.factorial(order)
    out = scale * (np.where(by_fraction, other, one - lower) if upper else np.where(by_fraction, one - other, lower))
    tiny, enormous = (a < TINY) & ~by_fraction, a >= ENORMOUS
    if upper and order == 0 and not is_nowhere(tiny):
        out = np.where(tiny, upper_of_tiny(np.where(tiny, a, TINY), np.where(tiny, moderate[1], 1.0)), out)
    if not is_nowhere(enormous):
        a_or_least, x_or_least = np.where(enormous, moderate[0], ENORMOUS), np.where(enormous, moderate[1], ENORMOUS)
        out = np.where(enormous, by_normal_distribution(a_or_least, x_or_least, order, upper), out)
    zero, full = (one, 0.0) if upper else (0.0, one)
    out = np.where((x == 0) | (a == np.inf), zero, np.where((x == np.inf) | ((a == 0) & (order == 0)), full, out))
    undefined = (a != a) | (x != x) | (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | ((a == np.inf) & (x == np.inf))
    return np.where(undefined, np.nan, out)


@cached_function("derivatives of igamma", 256)
def _algorithm(order: int, upper: bool) -> IteratedAlgorithm:
    return IteratedAlgorithm(
        (
            Iteration(partial(_series_start, order=order), partial(_series_step, order=order)),
            Iteration(partial(_fraction_start, order=order), partial(_fraction_step, order=order)),
        ),
        partial(_finish, order=order, upper=upper),
    )


def _slope_by_x(t: Any, ans: Any, a: Any, x: Any, *, order: int = 0) -> Any:
    return mul(t, gamma_density_p.bind(a, x, orders=(order, 0)))


def _slope_by_a(t: Any, ans: Any, a: Any, x: Any, *, order: int = 0) -> Any:
    return mul(t, igamma_grad_a_p.bind(a, x, order=order + 1))


def _declare(name: str, doc: str, *, upper: bool = False, least: int = 0, **options: Any) -> Elementwise:
    def algorithm(*, order: int = 0) -> IteratedAlgorithm:
        return _algorithm(order, upper)

    def evaluate(a: Any, x: Any, *, order: int = least) -> Any:
        return _algorithm(order, upper)(a, x)

    slopes = _slope_by_a, _slope_by_x
    return elementwise(
        name,
        doc,
        EvaluatedInDouble(name, evaluate),
        lowered_iteration(algorithm),
        arity=2,
        promote_as=REAL_PROMOTION[2],
        derivatives=[partial(_negated, slope) for slope in slopes] if upper else slopes,
        domain=(Interval(0.4, 4.0), Interval(0.3, 5.0)),
        **options,
    )


def _negated(slope: Any, *args: Any, **params: Any) -> Any:
    return neg(slope(*args, **params))


igamma: Elementwise = _declare(
    "igamma",
    """Returns the regularized lower incomplete gamma function, as ``scipy.special.gammainc``.

    That is the integral of ``t ** (a - 1) exp(-t)`` from 0 to ``x``, over that to ∞. It is NaN for negative arguments.
    It has derivatives in both, of any order; at an end they are the limits from inside of the domain. The error of a
    derivative is relative to its terms: those of the second one by ``a`` cancel at ``a = x``, to 3 digits at 1e12.

    >>> igamma(1.0, np.array([0.0, 1.0, np.inf]))
    array([0.        , 0.63212056, 1.        ])

    Source: ``jax.lax.igamma``.
    """,
)
igammac: Elementwise = _declare(
    "igammac",
    """Returns ``1 - igamma(a, x)``, exact where that is small, as ``scipy.special.gammaincc``.

    >>> igammac(1.0, np.array([0.0, 1.0, 100.0]))
    array([1.00000000e+00, 3.67879441e-01, 3.72007598e-44])

    Source: ``jax.lax.igammac``.
    """,
    upper=True,
)
igamma_p, igammac_p = igamma.primitive, igammac.primitive
igamma_grad_a_p = _declare("igamma_grad_a", "", least=1, params=lambda choose: {"order": 1}).primitive


def igamma_grad_a(a: Any, x: Any) -> Any:
    """Returns the derivative of ``igamma(a, x)`` by ``a``.

    Args:
      a: positive real numbers.
      x: real numbers that are not negative.

    >>> igamma_grad_a(2.0, 1.5)
    np.float64(-0.313488...)

    Source: ``jax.lax.igamma_grad_a``, which has no derivatives.
    """
    a, x = promote("igamma_grad_a", REAL_PROMOTION[2], (a, x))
    return igamma_grad_a_p.bind(a, x, order=1)


def random_gamma_grad(a: Any, x: Any) -> Any:
    """Returns the derivative by ``a`` of a random number ``x`` of the gamma distribution with shape ``a``.

    The number moves with ``a`` so that ``igamma(a, x)`` stays what it is. It is NaN where the density underflows.

    >>> random_gamma_grad(2.0, 1.5)
    np.float64(0.936639...)

    Source: ``jax.lax.random_gamma_grad``; Figurnov, Mohamed, Mnih: Implicit Reparameterization Gradients, 2018.
    """
    a, x = promote("random_gamma_grad", REAL_PROMOTION[2], (a, x))
    with np.errstate(all="ignore"):  # the logarithm of the density is not finite for x ≤ 0
        return _random_gamma_grad(a, x)


def _random_gamma_grad(a: Any, x: Any) -> Any:
    ratio = div(igamma_grad_a_p.bind(a, x, order=1), gamma_density_p.bind(a, x, orders=(0, 0)))
    return sub(0, where(bitwise_and(eq(x, 0), gt(a, 0)), 0, ratio))
