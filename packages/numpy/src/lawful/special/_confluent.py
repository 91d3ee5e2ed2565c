"""Kummer's function 1F1 of real numbers."""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.custom_rules import custom_jvp
from lawful.special._combinatorics import poch
from lawful.special._hypergeometric_loops import (
    EPSILON,
    MOST_STEPS,
    MOST_TERMS,
    all_finite,
    ends_sum,
    least_powers,
    least_terms,
    loop_while,
)
from lawful.special._reflection import alternating, sine_of_pi

# Above this the asymptotic series is used, if the parameters are small enough.
_FAR = 50.0
# Nearer than this to a pole of the gamma function, a quotient by it is a sine times a smooth function.
_NEAR_POLE = 0.02
# Next to these poles the power series is used up to this argument: the terms beside the asymptotic series count.
_OVERFLOWS = 650.0
# About as many terms has a Taylor series: the factor of the last one in the derivative.
_USUAL_TERMS = 32.0
# Where the gamma function is finite.
_LARGEST = 150.0


def confluent(a: Any, b: Any, x: Any, *, constant: tuple[bool, ...]) -> Any:
    """Returns 1F1 by that of the positive ``|x|``: Kummer's transformation, DLMF 13.2.39."""
    exact = all(constant)
    below, ends = ops.lt(x, 0), ends_sum(a)
    # Where b is negative, the recurrence is less exact than a series of positive terms.
    known = ops.bitwise_or(ops.gt(b, 0), ends_sum(b))
    short = ops.bitwise_and(_is_short(a), constant[0])
    scaled = ops.bitwise_and(below, ops.bitwise_not(ops.bitwise_and(short, known)))
    pair = ops.where(scaled, b - a, a), ops.where(scaled, -x, x)
    first, size = ops.optimization_barrier(pair)
    nearest, last = (stop_gradient(end) for end in _waves(first, b))
    has_waves = ops.bitwise_or(ops.gt(b, 0), ops.gt(size, nearest))
    short = _is_short(first) if exact else short
    finite = ops.bitwise_and(short, ops.bitwise_or(known, ops.gt(size, last)))
    far = ops.optimization_barrier(ops.bitwise_and(_is_far(first, b, x), ops.bitwise_not(short)))
    # For a negative parameter the terms of the power series cancel up to its largest zero, and a while beyond.
    waves = ops.bitwise_and(ops.lt(first, 0), ops.lt(size, 10.0 * abs(first) + 2.0 * abs(b)))
    waves = ops.bitwise_and(ops.bitwise_and(waves, has_waves), ops.bitwise_not(far))
    polynomial = ops.bitwise_and(ends, ops.bitwise_and(ops.lt(a, 0), ops.ge(a, b)))
    pole = ops.bitwise_and(ends_sum(b), ops.bitwise_not(polynomial))
    start: Any = ops.where(waves, ops.min(size, nearest), size)
    for where, other in ((finite, 0.0), (pole, math.inf), (ops.bitwise_not(all_finite(a, b, x)), math.nan)):
        start = ops.where(where, other, start)
    start = ops.optimization_barrier(start)
    u, v = ops.where(far, 1.0 - first, first), b - ops.where(far, first, 0.0)
    one = ops.full_like(size, 1.0)
    total, both = _series(exact, u, v, start, far, one)
    series = _along_waves(0.0 if exact else least_terms(exact), u, v, start, size, total, both)
    if constant[0]:
        series = ops.where(ops.eq(start, 0), _confluent_polynomial(u, v, start, size, one), series)
    divisor, step = ops.where(below, b - a, a), ops.where(below, a, b - a)
    quotient = poch(divisor, step) if exact else _quotient_of_gammas(divisor, step)
    asymptote = quotient * ops.pow(ops.abs(x), -step) * total
    # The power of e has a factor for each half of the argument, which may overflow less than their product.
    growth = ops.exp(ops.where(ops.ne(far, ops.ne(size, x)), x * 0.5, 0.0))
    out = ops.where(far, asymptote, series) * growth * growth
    # XLA would compute it again for each user.
    return ops.optimization_barrier(ops.where(ops.lt(start, math.inf), out, start))


def _waves(a: Any, b: Any) -> tuple[Any, Any]:
    """Returns the end of the power series without cancellation, and of the waves for a negative ``b``.

    For a negative ``b`` solutions of Kummer's equation oscillate between the turning points of Whittaker's equation,
    DLMF 13.14.1. Before the first one another solution grows faster. Infinity is for equations without waves.
    """
    half = b * 0.5 - a
    product = b * (b - 2.0)
    squared = half * half - 0.25 * product
    oscillates = ops.bitwise_and(ops.lt(a, b), ops.ge(squared, 0))
    far = half + ops.sqrt(ops.max(squared, 0.0))
    first, last = (ops.where(oscillates, x, math.inf) for x in (0.5 * product / far, 2.0 * far))
    nearest = ops.max(1.0, b) / (1.0 + abs(a))
    return ops.where(ops.gt(b, 0), nearest, ops.max(nearest, first)), last


def _is_short(a: Any) -> Any:
    """Returns where a series is a polynomial, of so few terms that a recurrence gives it."""
    return ops.bitwise_and(ends_sum(a), ops.gt(a, -MOST_TERMS))


def _is_far(first: Any, b: Any, x: Any) -> Any:
    """Returns where the asymptotic series has all digits."""
    size = ops.abs(x)
    p, q = abs(1.0 - first), abs(b - first)
    far = ops.bitwise_and(ops.gt(size, _FAR + 2.0 * (p + q)), ops.gt(size, 2.0 * (1.0 + p) * (1.0 + q)))
    return ops.bitwise_and(far, ops.bitwise_not(ops.bitwise_and(_is_near_pole(first), ops.lt(size, _OVERFLOWS))))


def _series(exact: bool, a: Any, b: Any, x: Any, far: Any, one: Any) -> tuple[Any, Any]:
    """Returns 1F1, and it plus ``x`` times its derivative.

    Where it is far, it is the sum of its asymptotic series, DLMF 13.7.1.
    """
    least, constant = least_powers(exact), stop_gradient(a)
    # Terms may grow again from where a negative factor of the divisor comes near to 0, until it is about `x`.
    until = stop_gradient(ops.where(ops.bitwise_or(far, ops.gt(b, 0)), 0.0, x * (1.0 + abs(a) / (1.0 - b)) - b))

    def goes_on(k: Any, bound: Any, term: Any, total: Any, rise: Any) -> Any:
        limit = ops.where(ops.lt(k, until), 0.0, EPSILON * abs(total))
        return ops.gt(bound, ops.where(ops.lt(k, least), -0.5, limit) if least else limit)

    def step(k: Any, bound: Any, term: Any, total: Any, rise: Any) -> tuple[Any, ...]:
        following, factor = k + 1.0, b + k
        ratio = ops.where(far, factor, x) / (ops.where(far, x, factor) * following)
        term = term * ((a + k) * ratio)
        # A factor that vanishes may have a derivative.
        change = (abs(constant + k) + 1.0) * abs(stop_gradient(ratio))
        bound = ops.where(ops.bitwise_and(far, ops.ge(change, 1.0)), -1.0, bound * change)
        return bound, term, total + term, rise + (following + 1.0) * term

    _, _, total, rise = loop_while(goes_on, step, MOST_TERMS, one, one, one, one)
    return total, rise


def _along_waves(least: float, a: Any, b: Any, start: Any, end: Any, value: Any, both: Any) -> Any:
    """Returns 1F1 at ``end`` by Taylor series, DLMF 13.2.1.

    Given are it at ``start``, and it plus ``x`` times its derivative.
    """

    def is_before(count: Any, x: Any, value: Any, both: Any) -> Any:
        return ops.bitwise_and(ops.gt(x, 0), ops.lt(x, end))

    def step(count: Any, x: Any, value: Any, both: Any) -> tuple[Any, ...]:
        longest = stop_gradient(3.0 / (1.0 + ops.sqrt(abs(a / x))))
        length = ops.min(ops.min(x * 0.5, longest), end - x)
        share = length / x

        def goes_on(n: Any, here: Any, following: Any, total: Any, rise: Any) -> Any:
            counts = ops.gt(abs(here) + abs(following), smallest)
            return ops.bitwise_or(counts, ops.lt(n, least)) if least else counts

        def coefficient(n: Any, here: Any, following: Any, total: Any, rise: Any) -> tuple[Any, ...]:
            new = (n + a) * here * length - (n + b - x) * (n + 1.0) * following
            new = new * share / ((n + 2.0) * (n + 1.0))
            return following, new, total + following, rise + (n + 2.0) * new

        linear = (both - value) * share
        smallest = stop_gradient((EPSILON / _USUAL_TERMS) * (abs(value) + abs(linear)))
        _, following, total, rise = loop_while(goes_on, coefficient, MOST_TERMS, value, linear, value, linear)
        arrived = ops.where(ops.gt(x + length * 1.0000001, end), end, x + length)
        total = total + following
        return arrived, total, total + rise * (arrived / length)

    x, out, _ = loop_while(is_before, step, MOST_STEPS, start, value, both)
    return ops.where(ops.lt(x, ops.where(ops.gt(x, 0), end, 0.0)), math.nan, out)


def _confluent_polynomial(a: Any, b: Any, start: Any, x: Any, one: Any) -> Any:
    """Returns 1F1 for a negative integer or 0 as ``a``, by recurrence from ``a = 0``, DLMF 13.3.1.

    Elements that start elsewhere than at 0 are others.
    """

    def goes_on(k: Any, here: Any, above: Any) -> Any:
        return ops.le(ops.max((k + 1.0) + a, start), 0.0)

    def step(k: Any, here: Any, above: Any) -> tuple[Any, ...]:
        return ((b + 2.0 * k - x) * here - k * above) / (b + k), here

    out, _ = loop_while(goes_on, step, MOST_TERMS, one, one)
    # Terms of the recurrence overflow to infinities of both signs. Beyond the zeros the last term gives the sign.
    overflows = ops.bitwise_and(ops.ne(out, out), ops.gt(ops.abs(x), 2.0 * abs(b) - 4.0 * a))
    negative = ops.min(-a, ops.max(-ops.floor(b), 0.0)) - ops.where(ops.gt(x, 0), a, 0.0)
    return ops.where(overflows, alternating(negative) * math.inf, out)


def _is_near_pole(x: Any) -> Any:
    return ops.bitwise_and(ops.lt(x, 0.5), ops.lt(abs(x - ops.round_nearest_even(x)), _NEAR_POLE))


def _quotient_of_gammas(x: Any, step: Any) -> Any:
    """Returns ``gamma(x + step) / gamma(x)``, of numbers where the dividend is finite."""
    # Products of its derivatives cancel next to a pole of the divisor; reflected, it has none.
    small = ops.bitwise_and(ops.lt(abs(x), _LARGEST), ops.lt(abs(x + step), _LARGEST))
    reflected = ops.bitwise_and(ops.bitwise_and(_is_near_pole(x), ops.gt(abs(step), 0.5)), small)
    u, v = ops.where(reflected, x, -0.5), ops.where(reflected, x + step, 1.0)
    product = ops.gamma(1.0 - u) * ops.gamma(v) * sine_of_pi(u) * (1 / math.pi)
    return ops.where(reflected, product, _plain_quotient(*[ops.where(reflected, 1.0, y) for y in (x, step)]))


@custom_jvp
def _plain_quotient(x: Any, step: Any) -> Any:
    return poch(x, step)


@_plain_quotient.defjvp
def _plain_quotient_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    (x, step), (x_dot, step_dot) = primals, tangents
    out = _plain_quotient(x, step)
    by_x = ops.neg(ops.digamma_difference_p.bind(x, step, order=0))
    return out, ops.mul(out, ops.add(ops.mul(by_x, x_dot), ops.mul(ops.digamma(ops.add(x, step)), step_dot)))
