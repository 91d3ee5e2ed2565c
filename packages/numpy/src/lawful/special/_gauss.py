"""Gauss' function 2F1 of real numbers."""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.custom_rules import custom_jvp
from lawful.special._combinatorics import poch
from lawful.special._functions import gammasgn
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


def gauss(a: Any, b: Any, c: Any, x: Any, *, constant: tuple[bool, ...]) -> Any:
    """Returns 2F1 by that of numbers from 0 to 1: Pfaff's and Euler's transformations, DLMF 15.8.1."""
    exact = all(constant)
    regular = all_finite(a, b, c, x)
    a, b, c, x = (ops.where(regular, y, z) for y, z in ((a, 1.0), (b, 1.0), (c, 1.0), (x, 0.0)))
    # A parameter that ends the sum is the first, if possible a constant one.
    first_stays = ends_sum(a)
    if constant[0] == constant[1]:
        first_stays = ops.bitwise_and(first_stays, ops.ge(a, b))
    swap = ends_sum(b) if constant[1] > constant[0] else ops.bitwise_and(ends_sum(b), ops.bitwise_not(first_stays))
    a, b = ops.where(swap, b, a), ops.where(swap, a, b)
    finite, pole = ends_sum(a), ends_sum(c)
    polynomial = ops.bitwise_and(finite, ops.where(swap, constant[1], constant[0]))
    undefined = ops.bitwise_and(pole, ops.bitwise_not(ops.bitwise_and(finite, ops.ge(a, c))))
    below = ops.lt(x, 0)
    rest = ops.where(below, 1 / (1 - ops.min(x, 0.0)), 1 - x)  # exact where the argument is near 1
    log_rest = ops.where(below, -1.0, 1.0) * ops.log1p(-x)
    z = ops.where(below, -x * rest, x)
    second = ops.where(below, c - b, b)
    # The exponent of the other solution at 1 is to be positive.
    negative = ops.bitwise_and(ops.lt(c - a - second, 0), ops.bitwise_not(finite))
    # For a negative c the terms with the smaller factors cancel less.
    larger = ops.gt(abs((c - a) * (c - second)), abs(a * second))
    negative = ops.bitwise_and(negative, ops.bitwise_not(ops.bitwise_and(ops.lt(c, 0), larger)))
    power = ops.where(below, a, 0.0) + ops.where(negative, c - a - second, 0.0)
    first, second = ops.where(negative, c - a, a), ops.where(negative, c - second, second)
    inside = ops.bitwise_and(ops.gt(rest, 0), ops.bitwise_not(ops.bitwise_or(pole, polynomial)))
    p, q, r = (ops.where(inside, y, 1.0) for y in (first, second, c))
    z, rest = ops.where(inside, z, 0.0), ops.where(inside, rest, 1.0)
    out = _stepwise(least_terms(exact), least_powers(exact), p, q, r, z, rest)
    out = out * (ops.pow(rest, power) if exact else _power(rest, ops.where(inside, log_rest, 0.0), power))
    at_one = _at_one(*[ops.where(ops.eq(x, 1), y, v) for y, v in ((a, 0.25), (b, 0.25), (c, 1.5))])
    out = ops.where(ops.lt(x, 1), out, ops.where(ops.eq(x, 1), at_one, math.inf))
    if constant[0] or constant[1]:
        out = ops.where(polynomial, _polynomial(ops.where(polynomial, a, 0.0), b, c, x), out)
    undefined = ops.bitwise_and(undefined, ops.ne(x, 0))
    return ops.where(regular, ops.where(undefined, math.inf, out), math.nan)


def _polynomial(a: Any, b: Any, c: Any, x: Any) -> Any:
    def step(k: Any, term: Any, total: Any) -> tuple[Any, ...]:
        term = term * ((a + k) * (b + k) * x / ((c + k) * (k + 1.0)))
        return ops.lt(k + 1.0, -a), term, total + term

    one = ops.full_like(x, 1.0)
    *_, total = loop(step, ops.bitwise_and(ops.lt(a, 0), ops.gt(a, -MOST_TERMS)), one, one)
    return total


def _at_one(a: Any, b: Any, c: Any) -> Any:
    """Returns the value at 1, DLMF 15.4.20; infinite where the sum diverges."""
    gap = c - a - b
    value = poch(c - a, a) / poch(gap, a)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(c)
    return ops.where(ops.gt(gap, 0), value, sign * math.inf)


def _first_wave(a: Any, b: Any, c: Any, waves: Any) -> Any:
    """Returns the end of the power series, at most 1/2, and 0.9 for a negative ``c``; up to it no terms cancel.

    For a negative ``c`` another solution grows faster up to where solutions begin to oscillate, the first zero of
    ``Q`` in ``w'' + Q w = 0`` for the product of 2F1 with powers of ``z`` and ``1 - z``, DLMF 15.10.
    """
    decays = ops.max(-ops.min(a, b), 0.0) * 0.25
    near = ops.min(0.5, ops.max(1.0, c) / (1.0 + ops.max(waves, decays)))
    at_zero = c * (2.0 - c)
    square = (a - b) * (a - b)
    change = square - (c - a - b) * (c - a - b) - at_zero
    curvature = 1.0 - square
    discriminant = change * change - 4.0 * at_zero * curvature
    divisor = change + ops.sqrt(ops.max(discriminant, 0.0))
    oscillates = ops.bitwise_and(ops.ge(discriminant, 0), ops.gt(divisor, 0))
    turning = ops.where(oscillates, -2.0 * at_zero / divisor, 1.0)
    return ops.where(ops.gt(c, 0), near, ops.max(near, ops.min(turning, 0.9)))


def _stepwise(least: float, least_powers: float, a: Any, b: Any, c: Any, z: Any, rest: Any) -> Any:
    """Returns 2F1 for ``0 ≤ z < 1``, given ``rest = 1 - z``: its power series near to 0, and Taylor series from there.

    The Taylor series, by the differential equation DLMF 15.10.1, go at most half of the way to 0 or 1. Where the
    function may oscillate they begin earlier and are shorter, so that their terms do not cancel.
    """
    waves = stop_gradient(ops.where(ops.lt(ops.min(a, b), 0), abs(a * b), 0.0))
    start = ops.min(z, stop_gradient(_first_wave(a, b, c, waves)))
    # Terms may grow again where a negative factor of the divisor comes near to 0.
    smallest = stop_gradient(-c)

    def term(k: Any, term: Any, bound: Any, total: Any, slope: Any) -> tuple[Any, ...]:
        ratio = start / ((c + k) * (k + 1.0))
        term = term * ((a + k) * (b + k) * ratio)
        change = stop_gradient(abs((abs(a + k) + 1.0) * (abs(b + k) + 1.0) * ratio))
        bound = bound * change
        total, slope = total + term, slope + (k + 1.0) * term
        grows = ops.bitwise_or(ops.lt(k, smallest), ops.ge(change, 1.0))
        goes_on = ops.gt(bound, ops.where(grows, 0.0, EPSILON * abs(total)))
        if least_powers:
            goes_on = ops.bitwise_or(goes_on, ops.lt(k, least_powers))
        return ops.bitwise_and(goes_on, ops.lt(k, MOST_TERMS)), term, bound, total, slope

    zero, one = ops.full_like(z, 0.0), ops.full_like(z, 1.0)
    *_, value, slope = loop(term, ops.gt(z, 0), one, one, one, zero)

    def step(count: Any, center: Any, distance: Any, value: Any, slope: Any) -> tuple[Any, ...]:
        # `slope` is the derivative; the distance is that of the center from 1.
        left = ops.where(ops.lt(distance, 0.5), distance - rest, z - center)
        product = center * distance
        first = (c - a - b - 1.0) + (a + b + 1.0) * distance
        longest = ops.min(ops.min(center, distance) * 0.5, 3.0 * ops.sqrt(product / (waves + 1e-3)))
        # Along a longer step a solution decays by so much that its terms cancel.
        longest = ops.min(longest, 6.0 * product / ops.max(stop_gradient(first), 1e-3))
        length = ops.min(left, longest)
        last_step = ops.le(left, longest)
        scale = length / product

        def coefficient(n: Any, here: Any, following: Any, total: Any, rise: Any) -> tuple[Any, ...]:
            linear = ((2.0 * distance - 1.0) * n + first) * (n + 1.0) * following
            new = ((n + a) * (n + b) * here * length - linear) * scale / ((n + 2.0) * (n + 1.0))
            total, rise = total + new, rise + (n + 2.0) * new
            goes_on = ops.gt((abs(new) + abs(following)) * (n + 2.0), EPSILON * (abs(total) + abs(rise)))
            goes_on = ops.bitwise_or(goes_on, ops.lt(n, least))
            return ops.bitwise_and(goes_on, ops.lt(n, MOST_TERMS)), following, new, total, rise

        linear = slope * length
        active = ops.gt(length, 0)
        *_, total, rise = loop(coefficient, active, value, linear, value + linear, linear)
        total = ops.where(ops.lt(count, MOST_STEPS), total, math.nan)
        goes_on = ops.bitwise_and(ops.bitwise_not(last_step), ops.lt(count, MOST_STEPS))
        return goes_on, center + length, distance - length, total, rise / ops.where(active, length, 1.0)

    initial = ops.where(ops.gt(start, 0), start, 1.0)
    *_, out, _ = loop(step, ops.lt(start, z), start, 1.0 - start, value, slope / initial)
    return out


@custom_jvp
def _power(base: Any, log_base: Any, exponent: Any) -> Any:
    """Returns a power of a constant, whose logarithm has digits that the base has not."""
    return ops.pow(base, exponent)


@_power.defjvp
def _power_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    out = _power(*primals)
    return out, ops.mul(ops.mul(out, primals[1]), tangents[2])
