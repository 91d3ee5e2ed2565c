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
    loop,
)
from lawful.special._reflection import sine_of_pi

# Above this the asymptotic series is used, if the parameters are small enough.
_FAR = 50.0
# Nearer than this to a pole of the gamma function, a quotient by it is a sine times a smooth function.
_NEAR_POLE = 0.02
# Next to these poles the power series is used up to this argument: the terms beside the asymptotic series count.
_OVERFLOWS = 650.0
# Where the gamma function is finite.
_LARGEST = 150.0


def confluent(a: Any, b: Any, x: Any, *, constant: tuple[bool, ...]) -> Any:
    """Returns 1F1 by that of the positive ``|x|``: Kummer's transformation, DLMF 13.2.39."""
    exact = all(constant)
    regular = all_finite(a, b, x)
    a, b, x = (ops.where(regular, y, 1.0) for y in (a, b, x))
    below, size = ops.lt(x, 0), ops.abs(x)
    first = ops.where(below, b - a, a)
    ends = ends_sum(a)
    finite = ops.bitwise_or(ends, ends_sum(first))
    polynomial = ops.bitwise_and(ends, ops.bitwise_and(ops.lt(a, 0), ops.ge(a, b)))
    pole = ops.bitwise_and(ends_sum(b), ops.bitwise_not(polynomial))
    p, q = abs(1.0 - first), abs(b - first)
    far = ops.bitwise_and(ops.gt(size, _FAR + 2.0 * (p + q)), ops.gt(size, 2.0 * (1.0 + p) * (1.0 + q)))
    by_first = ops.bitwise_and(ends, constant[0])
    summed_up = ops.bitwise_or(by_first, ops.bitwise_and(finite, exact))
    vanishing = ops.bitwise_and(_is_near_pole(first), ops.lt(size, _OVERFLOWS))
    far = ops.bitwise_and(far, ops.bitwise_not(ops.bitwise_or(summed_up, vanishing)))
    known = ops.bitwise_or(far, pole)
    # For a negative parameter the terms of the power series cancel up to its largest zero, and a while beyond.
    waves = ops.bitwise_and(ops.lt(first, 0), ops.lt(size, 10.0 * abs(first) + 2.0 * abs(b)))
    known = ops.bitwise_or(known, summed_up)
    waves = ops.bitwise_and(waves, ops.bitwise_or(ops.gt(b, 0), ops.lt(first, 2.0 * b)))
    waves = ops.bitwise_and(waves, ops.bitwise_not(known))
    # Nearer than this they do not cancel.
    nearest = stop_gradient(ops.max(1.0, abs(b)) / (1.0 + abs(first)))
    start = ops.where(waves, ops.min(size, nearest), size)
    summed = ops.bitwise_or(far, ops.bitwise_not(known))
    u, v, w = (ops.where(summed, y, other) for y, other in ((first, 1.0), (b, 1.0), (start, 0.0)))
    total, slope = _series(least_powers(exact), u, v, w, far)
    u, v, w, end = (ops.where(waves, y, 1.0) for y in (first, b, start, size))
    series = _along_waves(least_terms(exact), u, v, w, end, total, slope)
    u, v, w = (ops.where(far, y, other) for y, other in ((first, 1.5), (b, 2.5), (size, 1.0)))
    asymptote = _quotient_of_gammas(u, v - u) * ops.pow(w, u - v) * total
    if constant[0]:
        u = ops.where(summed_up, ops.where(ends, a, first), 0.0)
        v, w = ops.where(summed_up, b, 1.0), ops.where(ends, x, size)
        series = ops.where(summed_up, _confluent_polynomial(u, v, w), series)
    down, up = ops.exp(size * -0.5), ops.exp(size * 0.5)
    scaled = ops.bitwise_and(below, ops.bitwise_not(by_first))
    near = ops.where(scaled, series * down * down, series)
    out = ops.where(far, ops.where(below, asymptote, asymptote * up * up), near)
    return ops.where(regular, ops.where(pole, math.inf, out), math.nan)


def _series(least: float, a: Any, b: Any, x: Any, far: Any) -> tuple[Any, Any]:
    """Returns 1F1 and ``x`` times its derivative; where it is far, the sum of its asymptotic series, DLMF 13.7.1."""
    first, second = ops.where(far, 1.0 - a, a), ops.where(far, b - a, b)
    constant, least_change = stop_gradient(first), ops.where(far, 1.0 / x, 0.0)

    def step(k: Any, bound: Any, term: Any, total: Any, slope: Any) -> tuple[Any, ...]:
        numerator, denominator = ops.where(far, second + k, x), ops.where(far, x, second + k) * (k + 1.0)
        ratio = numerator / denominator
        term = term * ((first + k) * ratio)
        # A factor that vanishes may have a derivative.
        change = (abs(constant + k) + 1.0) * (abs(stop_gradient(ratio)) + least_change / (k + 1.0))
        bound = bound * change
        total, slope = total + term, slope + (k + 1.0) * term
        goes_on = ops.gt(bound, EPSILON * abs(total))
        if least:
            goes_on = ops.bitwise_or(goes_on, ops.lt(k, least))
        goes_on = ops.bitwise_and(goes_on, ops.lt(k, MOST_TERMS))
        return (
            ops.bitwise_and(goes_on, ops.bitwise_or(ops.bitwise_not(far), ops.lt(change, 1.0))),
            bound,
            term,
            total,
            slope,
        )

    zero, one = ops.full_like(x, 0.0), ops.full_like(x, 1.0)
    *_, total, slope = loop(step, ops.gt(x, 0), one, one, one, zero)
    return total, slope


def _along_waves(least: float, a: Any, b: Any, start: Any, end: Any, value: Any, slope: Any) -> Any:
    """Returns 1F1 at ``end`` given it and ``x`` times its derivative at ``start``, by Taylor series, DLMF 13.2.1."""

    def step(count: Any, x: Any, value: Any, slope: Any) -> tuple[Any, ...]:
        longest = stop_gradient(3.0 / (1.0 + ops.sqrt(abs(a) / x)))
        length = ops.min(ops.min(x * 0.5, longest), end - x)

        def coefficient(n: Any, here: Any, following: Any, total: Any, rise: Any) -> tuple[Any, ...]:
            new = (n + a) * here * length - (n + b - x) * (n + 1.0) * following
            new = new * (length / x) / ((n + 2.0) * (n + 1.0))
            total, rise = total + new, rise + (n + 2.0) * new
            goes_on = ops.gt((abs(new) + abs(following)) * (n + 2.0), EPSILON * (abs(total) + abs(rise)))
            goes_on = ops.bitwise_or(goes_on, ops.lt(n, least))
            return ops.bitwise_and(goes_on, ops.lt(n, MOST_TERMS)), following, new, total, rise

        linear = slope * (length / x)
        active = ops.gt(length, 0)
        *_, total, rise = loop(coefficient, active, value, linear, value + linear, linear)
        following = ops.where(ops.lt(end - x, length * 1.0000001), end, x + length)
        total = ops.where(ops.lt(count, MOST_STEPS), total, math.nan)
        goes_on = ops.bitwise_and(ops.lt(following, end), ops.lt(count, MOST_STEPS))
        return goes_on, following, total, rise * (following / ops.where(active, length, 1.0))

    goes = ops.bitwise_and(ops.lt(start, end), ops.gt(start, 0))
    return loop(step, goes, start, value, slope)[1]


def _confluent_polynomial(a: Any, b: Any, x: Any) -> Any:
    """Returns 1F1 for a negative integer or 0 as ``a``, by recurrence from ``a = 0``, DLMF 13.3.1."""

    def step(k: Any, here: Any, above: Any) -> tuple[Any, ...]:
        return ops.lt(k + 1.0, -a), ((b + 2.0 * k - x) * here - k * above) / (b + k), here

    one = ops.full_like(x, 1.0)
    return loop(step, ops.bitwise_and(ops.lt(a, 0), ops.gt(a, -MOST_TERMS)), one, one)[0]


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
