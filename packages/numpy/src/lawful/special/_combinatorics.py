"""Factorials, binomial coefficients, Pochhammer's symbol and Bernoulli numbers, with SciPy's names."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy

from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.custom_rules import custom_jvp
from lawful.special._arguments import floats, silent, static_integer
from lawful.special._binomials import many_ways, many_ways_of_rest
from lawful.special._reflection import alternating, largest, sine_of_pi, without_derivative

# Above this number of things, `many_ways` counts.
_FEW = 30.0
# Stirling's series is accurate from here on.
_LARGE = 10.0
# Above this the gamma function overflows float64.
_OVERFLOWS = 171.6
# The part of the largest logarithm by which others are lowered.
_PART = 0.42
# The Bernoulli numbers after this one overflow float64.
_LAST_BERNOULLI = 258


@silent
def factorial(n: Any, exact: bool = False) -> Any:
    """Returns ``gamma(n + 1)``, and 0 for negative ``n``.

    Args:
      n: real numbers.
      exact: only False: the result has a floating dtype.

    Raises:
      ArgumentTypeError: ``n`` is complex.
      ArgumentValueError: ``exact`` is True.

    >>> factorial(numpy.array([-1, 0, 5]))
    array([  0.,   1., 120.])

    Source: ``scipy.special.factorial``, ``jax.scipy.special.factorial``.
    """
    if exact:
        raise ArgumentValueError(
            "factorial: expected exact=False, got True: no dtype holds integers of any size; use math.factorial"
        )
    (n,) = floats("factorial", n)
    is_negative = ops.lt(n, 0)
    # The poles of the gamma function are left of 0: a derivative of 0 times infinity would be NaN.
    return ops.where(is_negative, 0, ops.gamma(ops.add(ops.where(is_negative, 0, n), 1)))


@silent
def comb(N: Any, k: Any, *, repetition: bool = False) -> Any:
    """Returns the number of ways to choose ``k`` of ``N`` things; 0 unless ``0 ≤ k ≤ N``.

    It has derivatives in both arguments, which need not be integers.

    Args:
      N: real numbers.
      k: real numbers.
      repetition: whether a thing can be chosen more than once.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> comb(5, numpy.array([0, 2, 6])), comb(5, 2, repetition=True)
    (array([ 1., 10.,  0.]), np.float64(15.0))

    Source: ``scipy.special.comb``, ``jax.scipy.special.comb``.
    """
    n, k = floats("comb", N, k)
    dtype = get_aval(n).dtype
    if dtype != numpy.float64:  # in which gamma functions overflow sooner, and the logarithm loses more digits
        n, k = (ops.convert_element_type(x, numpy.float64) for x in (n, k))
    if repetition:
        empty = ops.bitwise_and(ops.eq(n, 0), ops.eq(k, 0))
        rest = ops.where(empty, 0, ops.sub(n, 1))
        n = ops.add(rest, k)  # of which the difference from k may be another number
    else:
        rest = ops.sub(n, k)
    too_many, negative, small = ops.lt(rest, 0), ops.lt(k, 0), ops.le(n, _FEW)
    inside = ops.bitwise_not(ops.bitwise_or(too_many, negative))
    by_gammas = _few_ways(*_safe(ops.bitwise_and(inside, small), n, k, rest, 1))
    n_many, k, rest = _safe(ops.bitwise_and(inside, ops.bitwise_not(small)), n, k, rest, 2 * _FEW)
    many = many_ways_of_rest(rest, k) if repetition else many_ways(n_many, k)
    out = ops.where(small, by_gammas, many)
    # One condition each, as XLA makes a fusion of its own of a condition of two operands that is used here.
    for condition, value in ((too_many, 0), (negative, 0), (ops.ne(n, n), numpy.nan)):
        out = ops.where(condition, value, out)
    return out if dtype == numpy.float64 else ops.convert_element_type(out, dtype)


@custom_jvp
def _few_ways(n: Any, k: Any, rest: Any) -> Any:
    """Returns the number of ways to choose ``k`` of ``n = k + rest`` things, by gamma functions."""
    gammas = [ops.gamma(ops.add(x, 1)) for x in (n, k, rest)]
    return ops.div(ops.div(gammas[0], gammas[1]), gammas[2])


@_few_ways.defjvp
def _few_ways_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    # The digamma functions at n and at one of the others may cancel.
    (_, k, rest), (_, k_dot, rest_dot) = primals, tangents
    out = _few_ways(*primals)
    by_k, by_rest = (
        ops.digamma_difference_p.bind(ops.add(x, 1), other, order=0) for x, other in ((k, rest), (rest, k))
    )
    return out, ops.neg(ops.mul(out, ops.add(ops.mul(by_k, k_dot), ops.mul(by_rest, rest_dot))))


def _safe(where: Any, n: Any, k: Any, rest: Any, otherwise: float) -> tuple[Any, Any, Any]:
    """Returns how many things there are, are chosen and are left: other numbers where these are not needed."""
    return ops.where(where, n, otherwise), ops.where(where, k, 0), ops.where(where, rest, otherwise)


@silent
def poch(z: Any, m: Any) -> Any:
    """Returns Pochhammer's symbol ``gamma(z + m) / gamma(z)``: ``z (z + 1) … (z + m - 1)`` for integers ``m``.

    It is 0 where ``z`` is 0 or a negative integer and ``z + m`` is not, and infinite in the opposite case.

    Args:
      z: real numbers.
      m: real numbers.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> poch(numpy.array([3.0, -3.0]), 2), poch(1e10, 0.5)
    (array([12.,  6.]), np.float64(99999.99999...))

    Source: ``scipy.special.poch``, ``jax.scipy.special.poch``.
    """
    z, m = floats("poch", z, m)
    whole = ops.bitwise_and(ops.eq(z, ops.floor(z)), ops.eq(m, ops.floor(m)))
    # At integers of which one is not positive it has a limit in z alone.
    limit = ops.bitwise_and(whole, ops.le(z, 0))
    m = without_derivative(m, limit)
    end = ops.add(z, m)
    below, before = ops.le(z, 0), ops.lt(end, 0)
    smooth = ops.bitwise_and(limit, ops.le(end, 0))
    reflected = ops.bitwise_or(smooth, ops.bitwise_and(below, before))
    crossing = ops.bitwise_and(ops.bitwise_or(below, before), ops.bitwise_not(reflected))
    # A negative argument is reflected, which gives a sine.
    sides = [ops.bitwise_and(x, ops.bitwise_not(smooth)) for x in (below, before)]
    sines = _quotient_of_sines(z, m, *sides)
    factor = ops.mul(sines, alternating(ops.where(smooth, m, 0)))
    crossed = ops.where(below, ops.mul(factor, 1 / math.pi), ops.mul(factor, math.pi))
    factor = ops.where(crossing, crossed, factor)
    pairs = (ops.where(reflected, ops.sub(1, z), end), ops.where(reflected, ops.sub(1, end), z))
    falls = ops.lt(m, 0)
    high, low = ops.where(falls, pairs[1], pairs[0]), ops.where(falls, pairs[0], pairs[1])
    high, low = ops.where(crossing, ops.max(z, end), high), ops.where(crossing, ops.sub(1, ops.min(z, end)), low)
    size = _rising(low, high, ops.where(falls, ops.neg(m), m), crossing)
    # The product with a factor of 0 is 0; its derivative is infinite.
    vanishes = ops.bitwise_and(ops.bitwise_and(ops.le(z, 0), ops.eq(z, ops.floor(z))), ops.bitwise_not(smooth))
    bound = ops.where(vanishes, largest(factor), ops.full_like(factor, math.inf))
    out = ops.mul(factor, ops.min(ops.where(falls, ops.div(1, size), size), bound))
    # The rounded sum may be an integer where the sum is none.
    is_exact = ops.bitwise_and(ops.eq(ops.sub(end, m), z), ops.eq(ops.sub(end, z), m))
    pole = ops.bitwise_and(ops.bitwise_and(ops.le(end, 0), ops.eq(end, ops.floor(end))), ops.bitwise_not(limit))
    pole = ops.bitwise_and(pole, is_exact)
    return ops.where(pole, math.inf, out)


def _rising(low: Any, high: Any, steps: Any, multiplied: Any) -> Any:
    """Returns ``gamma(high) / gamma(low)``, or their product, given ``steps = high - low``, all not negative."""
    far = ops.bitwise_and(ops.gt(high, _OVERFLOWS), ops.bitwise_not(multiplied))
    # The exponential of a large logarithm loses digits, and so does the difference of close gamma functions.
    close = ops.bitwise_and(ops.bitwise_and(ops.ge(low, _LARGE), ops.lt(steps, _LARGE)), ops.bitwise_not(multiplied))
    by_series = ops.bitwise_or(far, close)
    shifted = ops.bitwise_and(far, ops.lt(low, _LARGE))
    start = ops.where(by_series, ops.where(shifted, ops.add(low, _LARGE), low), _LARGE)
    left = ops.where(by_series, ops.where(shifted, ops.sub(steps, _LARGE), steps), 0)
    # Where the product below is small, the exponential may overflow and their product not.
    part = _PART * math.log(largest(low))
    lowered = ops.where(shifted, part, ops.full_like(low, 0))
    growth = ops.exp(ops.sub(ops.log_gamma_quotient(start, left), lowered))
    # The product of low + k for k = 0 to 9, in pairs: (low + k) (low + 9 - k) = pair + k (9 - k).
    few = ops.where(shifted, low, 1)
    last = int(_LARGE) - 1
    pair = rising = ops.mul(few, ops.add(few, last))
    for k in range(1, int(_LARGE) // 2):
        rising = ops.mul(rising, ops.add(pair, k * (last - k)))
    growth = ops.mul(growth, ops.where(shifted, ops.mul(rising, math.exp(part)), 1))
    low, high, steps = (ops.where(by_series, other, x) for x, other in ((low, 1), (high, 1), (steps, 0)))
    return ops.where(by_series, growth, _of_gammas(low, high, steps, multiplied))


@custom_jvp
def _of_gammas(low: Any, high: Any, steps: Any, multiplied: Any) -> Any:
    """Returns ``gamma(high) / gamma(low)``, where ``steps`` is their difference, or their product."""
    gammas = ops.gamma(high), ops.gamma(low)
    return ops.where(multiplied, ops.mul(*gammas), ops.div(*gammas))


@_of_gammas.defjvp
def _of_gammas_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    # The digamma functions of a quotient may cancel.
    (low, high, steps, multiplied), (low_dot, high_dot, steps_dot, _) = primals, tangents
    out = _of_gammas(*primals)
    fall = ops.digamma_difference_p.bind(low, ops.where(multiplied, 1, steps), order=0)
    by_low = ops.where(multiplied, ops.digamma(low), ops.neg(fall))
    by_high = ops.mul(ops.digamma(high), ops.where(multiplied, high_dot, steps_dot))
    return out, ops.mul(out, ops.add(ops.mul(by_low, low_dot), by_high))


def _quotient_of_sines(z: Any, m: Any, above: Any, below: Any) -> Any:
    """Returns ``sin(π z) / sin(π (z + m))``, of which some elements have the numerator or the denominator only.

    Both arguments are reduced before they are added, since their sum is rounded.

    Args:
      z: real numbers.
      m: real numbers.
      above: where there is a numerator; else it is 1.
      below: where there is a denominator; else it is 1.
    """
    z, m = ops.where(ops.bitwise_or(above, below), z, 0.5), ops.where(below, m, 0)
    nearest = [ops.round_nearest_even(x) for x in (z, m)]
    z, m = (ops.sub(x, whole) for x, whole in zip((z, m), nearest, strict=True))
    signs = [alternating(whole) for whole in nearest]
    return _quotient_of_reduced(z, m, signs[0], signs[1], above, below)


@custom_jvp
def _quotient_of_reduced(z: Any, m: Any, sign_z: Any, sign_m: Any, above: Any, below: Any) -> Any:
    numerator = ops.where(above, ops.mul(ops.sin(ops.mul(z, math.pi)), sign_z), 1)
    denominator = ops.mul(sine_of_pi(ops.add(z, m)), ops.mul(sign_z, sign_m))
    return ops.div(numerator, ops.where(below, denominator, 1))


@_quotient_of_reduced.defjvp
def _quotient_of_reduced_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    (z, m, sign_z, sign_m, above, below), (z_dot, m_dot, *_) = primals, tangents
    out = _quotient_of_reduced(*primals)
    end = ops.where(below, ops.add(z, m), 0.5)
    sine = sine_of_pi(end)
    by_m = ops.mul(out, ops.div(ops.mul(ops.cos(ops.mul(end, math.pi)), -math.pi), sine))
    # cot(π z) - cot(π (z + m)) = sin(π m) / (sin(π z) sin(π (z + m))), of which the left side may cancel.
    of_both = ops.div(ops.mul(ops.mul(ops.sin(ops.mul(m, math.pi)), math.pi), sign_m), ops.mul(sine, sine))
    of_one = ops.mul(ops.mul(ops.cos(ops.mul(z, math.pi)), math.pi), sign_z)
    by_z = ops.where(above, ops.where(below, of_both, of_one), by_m)
    return out, ops.add(ops.mul(by_z, z_dot), ops.mul(by_m, m_dot))


def bernoulli(n: int) -> Any:
    """Returns the Bernoulli numbers of indices 0 to ``n``; that of index 1 is -1/2.

    Args:
      n: an integer that is not negative.

    Raises:
      ArgumentTypeError: it is no integer.
      ArgumentValueError: it is negative.

    >>> bernoulli(4)
    array([ 1.        , -0.5       ,  0.16666667,  0.        , -0.03333333])

    Source: ``scipy.special.bernoulli``, ``jax.scipy.special.bernoulli``.
    """
    n = static_integer("bernoulli", "n", n)
    if n < 0:
        raise ArgumentValueError(f"bernoulli: expected an index that is not negative, got {n}; give 0 or more")
    out = numpy.zeros(n + 1)
    out[0] = 1.0
    out[1:2] = -0.5
    # Tangent numbers T(k) are integers: B(2k) = (-1)^(k-1) 2k T(k) / (4^k (4^k - 1)), by Brent and Harvey (2013).
    tangents = _tangent_numbers(min(n, _LAST_BERNOULLI) // 2)
    for k, tangent in enumerate(tangents, 1):
        out[2 * k] = float(Fraction((-1) ** (k - 1) * 2 * k * tangent, 4**k * (4**k - 1)))
    overflowing = numpy.arange(_LAST_BERNOULLI + 2, n + 1, 2)
    out[overflowing] = numpy.where(overflowing % 4 == 0, -numpy.inf, numpy.inf)
    return out


def _tangent_numbers(count: int) -> list[int]:
    """Returns the first coefficients ``T(k)`` of ``tan(x) = Σ T(k) x^(2k - 1) / (2k - 1)!``."""
    out = [math.factorial(k) for k in range(count)]
    for k in range(1, count):
        for j in range(k, count):
            out[j] = (j - k) * out[j - 1] + (j - k + 2) * out[j]
    return out
