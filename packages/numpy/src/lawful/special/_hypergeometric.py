"""The hypergeometric functions 1F1 and 2F1 of real numbers, with derivatives of any order in all arguments.

The derivatives by ``x`` are functions of the same kind, with raised parameters. Those by the parameters are forward
derivatives of the algorithms, which are analytic in the parameters: no formula has a pole where the function has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from lawful import ops
from lawful.autodiff import jvp, zero_tangent
from lawful.control_flow import while_loop
from lawful.core import Zero, cached_function, get_aval
from lawful.custom_rules import custom_jvp
from lawful.numpy._loops import traced_once
from lawful.special._arguments import floats, silent
from lawful.special._combinatorics import poch
from lawful.special._functions import gammasgn

# A series ends where a bound of its terms is this small beside the sum.
_EPSILON = 1e-18
_MOST_TERMS = 20_000.0
# After so many Taylor series the result is NaN: the parameters are too large.
_MOST_STEPS = 1000.0
# Above this the asymptotic series is used, if the parameters are small enough.
_FAR = 50.0

Algorithm = Callable[..., Any]


@silent
def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Returns Kummer's function 1F1, the sum of ``(a)ₖ / (b)ₖ xᵏ / k!`` over ``k = 0, 1, …``.

    It has derivatives in all arguments, of any order.

    Args:
      a: real numbers.
      b: real numbers; the result is infinite where one is 0 or a negative integer.
      x: real numbers.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> hyp1f1(1.0, 2.0, numpy.array([-1.0, 0.0, 1.0]))
    array([0.63212056, 1.        , 1.71828183])

    Source: ``scipy.special.hyp1f1``, ``jax.scipy.special.hyp1f1``.
    """
    return _in_double(_confluent, *floats("hyp1f1", a, b, x))


@silent
def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Returns Gauss' function 2F1, the sum of ``(a)ₖ (b)ₖ / (c)ₖ xᵏ / k!`` over ``k = 0, 1, …``, for ``x < 1``.

    It has derivatives in all arguments, of any order.

    Args:
      a: real numbers.
      b: real numbers.
      c: real numbers; the result is infinite where one is 0 or a negative integer, unless the sum ends before.
      x: real numbers; the result is infinite above 1, and at 1 where the sum diverges, unless the sum is finite.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> hyp2f1(1.0, 1.0, 2.0, numpy.array([-1.0, 0.0, 0.5]))
    array([0.69314718, 1.        , 1.38629436])

    Source: ``scipy.special.hyp2f1``, ``jax.scipy.special.hyp2f1``.
    """
    return _in_double(_gauss, *floats("hyp2f1", a, b, c, x))


def _in_double(algorithm: Algorithm, *args: Any) -> Any:
    dtype = get_aval(args[0]).dtype
    wide = [ops.convert_element_type(x, numpy.dtype(float)) for x in args]
    return ops.convert_element_type(_derivative(algorithm, (0,) * len(args))(*wide), dtype)


@cached_function("derivatives of hypergeometric functions", 256)
def _derivative(algorithm: Algorithm, orders: tuple[int, ...]) -> Algorithm:
    """Returns a derivative of a function of parameters and ``x``, whose own derivatives are further ones.

    Its loops are traced once for each type of the arguments, and not at each call.

    Args:
      algorithm: ``algorithm(*parameters, x, exact=)``; the last of the parameters is that of the denominator.
      orders: how often to differentiate by each argument.
    """
    *by_parameters, by_x = orders

    def value(*args: Any) -> Any:
        *parameters, x = args

        def raised(*parameters: Any) -> Any:
            factor: Any = 1.0
            for k in range(by_x):
                for p in parameters[:-1]:
                    factor = factor * (p + float(k))
                factor = factor / (parameters[-1] + float(k))
            higher = [p + float(by_x) for p in parameters] if by_x else parameters
            return algorithm(*higher, x, exact=not any(by_parameters)) * factor

        return _differentiated(raised, by_parameters)(*parameters)

    function = custom_jvp(traced_once()(value))

    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        total: Any = None
        for i, tangent in enumerate(tangents):
            if type(tangent) is not Zero:
                raised = tuple([order + (i == j) for j, order in enumerate(orders)])
                term = ops.mul(tangent, _derivative(algorithm, raised)(*primals))
                total = term if total is None else ops.add(total, term)
        return function(*primals), zero_tangent(primals[0]) if total is None else total

    function.defjvp(rule, symbolic_zeros=True)

    return function


def _differentiated(function: Algorithm, orders: list[int]) -> Algorithm:
    for argnum, order in enumerate(orders):
        for _ in range(order):
            function = _along(function, argnum)
    return function


def _along(function: Algorithm, argnum: int) -> Algorithm:
    def derivative(*args: Any) -> Any:
        def of_one(x: Any) -> Any:
            return function(*args[:argnum], x, *args[argnum + 1 :])

        return jvp(of_one, (args[argnum],), (ops.full_like(args[argnum], 1.0),))[1]

    return derivative


def _loop(step: Callable[..., tuple[Any, ...]], active: Any, *arrays: Any) -> tuple[Any, ...]:
    """Returns the last arrays of a loop that ends when no element is active.

    Args:
      step: ``step(k, *arrays)`` returns which elements go on, and the next arrays; ``k`` counts from 0.
      active: which elements are active at first; the others keep their arrays.
      arrays: those of the beginning.
    """
    axes = tuple(range(get_aval(active).ndim))

    def following(state: tuple[Any, ...]) -> tuple[Any, ...]:
        k, active, *arrays = state
        goes_on, *found = step(k, *arrays)
        kept = [ops.where(active, x, y) for x, y in zip(found, arrays, strict=True)]
        return (k + 1.0, ops.bitwise_and(active, goes_on), *kept)

    out: tuple[Any, ...] = while_loop(lambda state: ops.reduce_or(state[1], axes), following, (0.0, active, *arrays))
    return out[2:]


def _all_finite(*args: Any) -> Any:
    out = ops.is_finite(args[0])
    for x in args[1:]:
        out = ops.bitwise_and(out, ops.is_finite(x))
    return out


def _is_integer(x: Any) -> Any:
    return ops.eq(x, ops.floor(x))


def _ends(a: Any) -> Any:
    """Returns where a series is a polynomial: where a parameter is 0 or a negative integer."""
    return ops.bitwise_and(_is_integer(a), ops.le(a, 0))


def _least_terms(exact: bool) -> float:
    """Returns the least number of terms of a Taylor series: its terms may vanish where their derivatives do not."""
    return 8.0 if exact else 64.0


# 1F1


def _confluent(a: Any, b: Any, x: Any, *, exact: bool) -> Any:
    """Returns 1F1 by that of the positive ``|x|``: Kummer's transformation, DLMF 13.2.39."""
    regular = _all_finite(a, b, x)
    a, b, x = (ops.where(regular, y, 1.0) for y in (a, b, x))
    below, size = ops.lt(x, 0), ops.abs(x)
    first = ops.where(below, b - a, a)
    ends = _ends(a)
    finite = ops.bitwise_or(ends, _ends(first))
    polynomial = ops.bitwise_and(ends, ops.bitwise_and(ops.lt(a, 0), ops.ge(a, b)))
    pole = ops.bitwise_and(_ends(b), ops.bitwise_not(polynomial))
    p, q = abs(1.0 - first), abs(b - first)
    far = ops.bitwise_and(ops.gt(size, _FAR + 2.0 * (p + q)), ops.gt(size, 2.0 * (1.0 + p) * (1.0 + q)))
    far = ops.bitwise_and(far, ops.bitwise_not(finite))
    known = ops.bitwise_or(far, pole)
    # For a negative parameter the terms of the power series cancel up to its largest zero, and a while beyond.
    waves = ops.bitwise_and(ops.lt(first, 0), ops.lt(size, 10.0 * abs(first) + 2.0 * abs(b)))
    if exact:
        known = ops.bitwise_or(known, finite)
    waves = ops.bitwise_and(waves, ops.bitwise_or(ops.gt(b, 0), ops.lt(first, 2.0 * b)))
    waves = ops.bitwise_and(waves, ops.bitwise_not(known))
    # Nearer than this they do not cancel.
    start = ops.where(waves, ops.min(size, ops.max(1.0, abs(b)) / (1.0 + abs(first))), size)
    summed = ops.bitwise_or(far, ops.bitwise_not(known))
    u, v, w = (ops.where(summed, y, other) for y, other in ((first, 1.0), (b, 1.0), (start, 0.0)))
    total, slope = _series(u, v, w, far)
    u, v, w, end = (ops.where(waves, y, 1.0) for y in (first, b, start, size))
    series = _along_waves(_least_terms(exact), u, v, w, end, total, slope)
    u, v, w = (ops.where(far, y, other) for y, other in ((first, 1.5), (b, 2.5), (size, 1.0)))
    asymptote = poch(u, v - u) * ops.pow(w, u - v) * total
    if exact:
        u = ops.where(finite, ops.where(ends, a, first), 0.0)
        v, w = ops.where(finite, b, 1.0), ops.where(ends, x, size)
        series = ops.where(finite, _confluent_polynomial(u, v, w), series)
    down, up = ops.exp(size * -0.5), ops.exp(size * 0.5)
    scaled = ops.bitwise_and(below, ops.bitwise_not(ends)) if exact else below
    near = ops.where(scaled, series * down * down, series)
    out = ops.where(far, ops.where(below, asymptote, asymptote * up * up), near)
    return ops.where(regular, ops.where(pole, math.inf, out), math.nan)


def _series(a: Any, b: Any, x: Any, far: Any) -> tuple[Any, Any]:
    """Returns 1F1 and ``x`` times its derivative; where it is far, the sum of its asymptotic series, DLMF 13.7.1."""
    first, second = ops.where(far, 1.0 - a, a), ops.where(far, b - a, b)

    def step(k: Any, bound: Any, term: Any, total: Any, slope: Any) -> tuple[Any, ...]:
        numerator, denominator = ops.where(far, second + k, x), ops.where(far, x, second + k) * (k + 1.0)
        ratio = numerator / denominator
        term = term * ((first + k) * ratio)
        change = abs((abs(first + k) + 1.0) * ratio)
        bound = bound * change
        total, slope = total + term, slope + (k + 1.0) * term
        goes_on = ops.bitwise_and(ops.gt(bound, _EPSILON * abs(total)), ops.lt(k, _MOST_TERMS))
        return (
            ops.bitwise_and(goes_on, ops.bitwise_or(ops.bitwise_not(far), ops.lt(change, 1.0))),
            bound,
            term,
            total,
            slope,
        )

    zero, one = ops.full_like(x, 0.0), ops.full_like(x, 1.0)
    *_, total, slope = _loop(step, ops.gt(x, 0), one, one, one, zero)
    return total, slope


def _along_waves(least: float, a: Any, b: Any, start: Any, end: Any, value: Any, slope: Any) -> Any:
    """Returns 1F1 at ``end`` given it and ``x`` times its derivative at ``start``, by Taylor series, DLMF 13.2.1."""

    def step(count: Any, x: Any, value: Any, slope: Any) -> tuple[Any, ...]:
        length = ops.min(ops.min(x * 0.5, 3.0 / (1.0 + ops.sqrt(abs(a) / x))), end - x)

        def coefficient(n: Any, here: Any, following: Any, total: Any, rise: Any) -> tuple[Any, ...]:
            new = (n + a) * here * length - (n + b - x) * (n + 1.0) * following
            new = new * (length / x) / ((n + 2.0) * (n + 1.0))
            total, rise = total + new, rise + (n + 2.0) * new
            goes_on = ops.gt((abs(new) + abs(following)) * (n + 2.0), _EPSILON * (abs(total) + abs(rise)))
            goes_on = ops.bitwise_or(goes_on, ops.lt(n, least))
            return ops.bitwise_and(goes_on, ops.lt(n, _MOST_TERMS)), following, new, total, rise

        linear = slope * (length / x)
        active = ops.gt(length, 0)
        *_, total, rise = _loop(coefficient, active, value, linear, value + linear, linear)
        following = ops.where(ops.lt(end - x, length * 1.0000001), end, x + length)
        total = ops.where(ops.lt(count, _MOST_STEPS), total, math.nan)
        goes_on = ops.bitwise_and(ops.lt(following, end), ops.lt(count, _MOST_STEPS))
        return goes_on, following, total, rise * (following / ops.where(active, length, 1.0))

    goes = ops.bitwise_and(ops.lt(start, end), ops.gt(start, 0))
    return _loop(step, goes, start, value, slope)[1]


def _confluent_polynomial(a: Any, b: Any, x: Any) -> Any:
    """Returns 1F1 for a negative integer or 0 as ``a``, by recurrence from ``a = 0``, DLMF 13.3.1."""

    def step(k: Any, here: Any, above: Any) -> tuple[Any, ...]:
        return ops.lt(k + 1.0, -a), ((b + 2.0 * k - x) * here - k * above) / (b + k), here

    one = ops.full_like(x, 1.0)
    return _loop(step, ops.bitwise_and(ops.lt(a, 0), ops.gt(a, -_MOST_TERMS)), one, one)[0]


# 2F1


def _gauss(a: Any, b: Any, c: Any, x: Any, *, exact: bool) -> Any:
    """Returns 2F1 by that of numbers from 0 to 1: Pfaff's and Euler's transformations, DLMF 15.8.1."""
    regular = _all_finite(a, b, c, x)
    a, b, c, x = (ops.where(regular, y, z) for y, z in ((a, 1.0), (b, 1.0), (c, 1.0), (x, 0.0)))
    # A parameter that ends the sum is the first.
    swap = ops.bitwise_and(_ends(b), ops.bitwise_not(ops.bitwise_and(_ends(a), ops.ge(a, b))))
    a, b = ops.where(swap, b, a), ops.where(swap, a, b)
    finite, pole = _ends(a), _ends(c)
    undefined = ops.bitwise_and(pole, ops.bitwise_not(ops.bitwise_and(finite, ops.ge(a, c))))
    below = ops.lt(x, 0)
    rest = ops.where(below, 1 / (1 - ops.min(x, 0.0)), 1 - x)  # exact where the argument is near 1
    z = ops.where(below, -x * rest, x)
    second = ops.where(below, c - b, b)
    # The exponent of the other solution at 1 is to be positive.
    negative = ops.bitwise_and(ops.lt(c - a - second, 0), ops.bitwise_not(finite))
    power = ops.where(below, a, 0.0) + ops.where(negative, c - a - second, 0.0)
    first, second = ops.where(negative, c - a, a), ops.where(negative, c - second, second)
    inside = ops.bitwise_and(ops.gt(rest, 0), ops.bitwise_not(pole))
    if exact:
        inside = ops.bitwise_and(inside, ops.bitwise_not(finite))
    p, q, r = (ops.where(inside, y, 1.0) for y in (first, second, c))
    out = _stepwise(_least_terms(exact), p, q, r, ops.where(inside, z, 0.0), ops.where(inside, rest, 1.0))
    out = out * ops.pow(ops.where(inside, rest, 1.0), power)
    at_one = _at_one(*[ops.where(ops.eq(x, 1), y, v) for y, v in ((a, 0.25), (b, 0.25), (c, 1.5))])
    out = ops.where(ops.lt(x, 1), out, ops.where(ops.eq(x, 1), at_one, math.inf))
    if exact:
        out = ops.where(finite, _polynomial(ops.where(finite, a, 0.0), b, c, x), out)
    undefined = ops.bitwise_and(undefined, ops.ne(x, 0))
    return ops.where(regular, ops.where(undefined, math.inf, out), math.nan)


def _polynomial(a: Any, b: Any, c: Any, x: Any) -> Any:
    def step(k: Any, term: Any, total: Any) -> tuple[Any, ...]:
        term = term * ((a + k) * (b + k) * x / ((c + k) * (k + 1.0)))
        return ops.lt(k + 1.0, -a), term, total + term

    one = ops.full_like(x, 1.0)
    *_, total = _loop(step, ops.bitwise_and(ops.lt(a, 0), ops.gt(a, -_MOST_TERMS)), one, one)
    return total


def _at_one(a: Any, b: Any, c: Any) -> Any:
    """Returns the value at 1, DLMF 15.4.20; infinite where the sum diverges."""
    gap = c - a - b
    value = poch(c - a, a) / poch(gap, a)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(c)
    return ops.where(ops.gt(gap, 0), value, sign * math.inf)


def _stepwise(least: float, a: Any, b: Any, c: Any, z: Any, rest: Any) -> Any:
    """Returns 2F1 for ``0 ≤ z < 1``, given ``rest = 1 - z``: its power series up to 1/2, and Taylor series from there.

    The Taylor series, by the differential equation DLMF 15.10.1, go at most half of the way to 0 or 1. Where the
    function may oscillate they begin earlier and are shorter, so that their terms do not cancel.
    """
    waves = ops.where(ops.lt(ops.min(a, b), 0), abs(a * b), 0.0)
    start = ops.min(z, ops.min(0.5, ops.max(1.0, abs(c)) / (1.0 + waves)))

    def term(k: Any, term: Any, bound: Any, total: Any, slope: Any) -> tuple[Any, ...]:
        ratio = start / ((c + k) * (k + 1.0))
        term = term * ((a + k) * (b + k) * ratio)
        bound = bound * abs((abs(a + k) + 1.0) * (abs(b + k) + 1.0) * ratio)
        total, slope = total + term, slope + (k + 1.0) * term
        goes_on = ops.bitwise_and(ops.gt(bound, _EPSILON * abs(total)), ops.lt(k, _MOST_TERMS))
        return goes_on, term, bound, total, slope

    zero, one = ops.full_like(z, 0.0), ops.full_like(z, 1.0)
    *_, value, slope = _loop(term, ops.gt(z, 0), one, one, one, zero)

    def step(count: Any, center: Any, distance: Any, value: Any, slope: Any) -> tuple[Any, ...]:
        # `slope` is the derivative; the distance is that of the center from 1.
        left = ops.where(ops.lt(distance, 0.5), distance - rest, z - center)
        product = center * distance
        longest = ops.min(ops.min(center, distance) * 0.5, 3.0 * ops.sqrt(product / (waves + 1e-3)))
        length = ops.min(left, longest)
        last_step = ops.le(left, longest)
        first = (c - a - b - 1.0) + (a + b + 1.0) * distance
        scale = length / product

        def coefficient(n: Any, here: Any, following: Any, total: Any, rise: Any) -> tuple[Any, ...]:
            linear = ((2.0 * distance - 1.0) * n + first) * (n + 1.0) * following
            new = ((n + a) * (n + b) * here * length - linear) * scale / ((n + 2.0) * (n + 1.0))
            total, rise = total + new, rise + (n + 2.0) * new
            goes_on = ops.gt((abs(new) + abs(following)) * (n + 2.0), _EPSILON * (abs(total) + abs(rise)))
            goes_on = ops.bitwise_or(goes_on, ops.lt(n, least))
            return ops.bitwise_and(goes_on, ops.lt(n, _MOST_TERMS)), following, new, total, rise

        linear = slope * length
        active = ops.gt(length, 0)
        *_, total, rise = _loop(coefficient, active, value, linear, value + linear, linear)
        total = ops.where(ops.lt(count, _MOST_STEPS), total, math.nan)
        goes_on = ops.bitwise_and(ops.bitwise_not(last_step), ops.lt(count, _MOST_STEPS))
        return goes_on, center + length, distance - length, total, rise / ops.where(active, length, 1.0)

    initial = ops.where(ops.gt(start, 0), start, 1.0)
    *_, out, _ = _loop(step, ops.lt(start, z), start, 1.0 - start, value, slope / initial)
    return out
