"""The beta function and its logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from lawful import ops
from lawful.autodiff import jvp, stop_gradient
from lawful.core import get_aval
from lawful.custom_rules import SymbolicZero, custom_jvp
from lawful.special._arguments import floats, silent
from lawful.special._functions import gammasgn
from lawful.special._reflection import alternating, largest, sine_of_pi, sine_of_pi_sum, without_derivative

# Stirling's series is accurate from here on.
_LARGE = 10.0


@silent
def beta(a: Any, b: Any) -> Any:
    """Returns the beta function ``gamma(a) gamma(b) / gamma(a + b)``.

    It is 0 where ``a + b`` is 0 or a negative integer, and neither ``a`` nor ``b`` is an integer. Where ``a`` is a
    negative integer, and ``b`` a positive one not above ``-a``, it has a limit in ``a`` alone: that is the value, the
    derivatives by ``a`` are those of the limit, and all derivatives by ``b`` are NaN. It is the same with ``a`` and
    ``b`` exchanged. Elsewhere at negative integers it is NaN: a pole.

    >>> beta(2.0, 3.0)
    np.float64(0.08333333333333...)

    Source: ``scipy.special.beta``, ``jax.scipy.special.beta``.
    """
    a, b = floats("beta", a, b)
    dtype = get_aval(a).dtype
    if dtype != numpy.float64:  # in which the logarithm loses digits, and factors of derivatives may underflow
        a, b = (ops.convert_element_type(x, numpy.float64) for x in (a, b))
    total = ops.add(a, b)
    removable = ops.bitwise_or(_is_removable_pole(a, b), _is_removable_pole(b, a))
    # A negative total is reflected: the reciprocal of its gamma function has a sine, with zeros and no poles.
    is_reflected = ops.bitwise_and(ops.lt(total, 0.5), ops.lt(ops.min(a, b), 0))
    is_reflected = ops.bitwise_and(is_reflected, ops.bitwise_not(removable))
    signs = ops.mul(gammasgn(a), gammasgn(b))
    reflected = _reflected_beta(*[ops.where(is_reflected, x, 0.25) for x in (a, b)])
    reflected = ops.mul(ops.where(is_reflected, signs, 1), reflected)
    sign = ops.mul(signs, gammasgn(total))
    sign = ops.where(removable, alternating(ops.max(a, b)), ops.where(is_reflected, 1, sign))
    safe = [ops.where(is_reflected, 1, x) for x in (a, b)]
    out = ops.where(is_reflected, reflected, ops.mul(sign, _exponential(*safe)))
    return out if dtype == numpy.float64 else ops.convert_element_type(out, dtype)


@silent
def betaln(a: Any, b: Any) -> Any:
    """Returns the logarithm of the absolute value of the beta function, exact also where one argument is large.

    At integers of both signs it has the limit and the derivatives that `beta` describes. At poles of the beta function
    it is ∞, at zeros -∞.

    >>> betaln(2.0, 1e10), betaln(-1.0, 1.0)
    (np.float64(-46.0517018...), np.float64(0.0))

    Source: ``scipy.special.betaln``, ``jax.scipy.special.betaln``.
    """
    a, b = floats("betaln", a, b)
    in_a, in_b = _is_removable_pole(a, b), _is_removable_pole(b, a)
    return ops.betaln(_off_removable_poles(a, b, in_a, in_b), _off_removable_poles(b, a, in_b, in_a))


def _off_removable_poles(x: Any, other: Any, in_x: Any, in_other: Any) -> Any:
    """Returns the argument that ``ops.betaln`` takes in place of ``x``.

    For a positive integer n, beta(x, n) = (-1)ⁿ beta(1 - x - n, n). The result depends on ``x`` alone, so that an
    infinite slope along it meets no tangent of ``other``.

    Args:
      x: an argument of the beta function.
      other: its other argument.
      in_x: whether ``x`` is at a removable pole.
      in_other: whether ``other`` is at one; then there are no derivatives by ``x``.
    """
    limit = ops.sub(ops.sub(1, x), stop_gradient(other))
    return ops.where(in_x, limit, ops.where(in_other, without_derivative(x, in_other), x))


def _is_removable_pole(a: Any, b: Any) -> Any:
    """Whether ``a`` is a negative integer, and ``b`` a positive integer of at most ``-a``."""
    whole = ops.bitwise_and(ops.eq(a, ops.floor(a)), ops.eq(b, ops.floor(b)))
    positive = ops.bitwise_and(ops.gt(b, 0), ops.is_finite(a))
    return ops.bitwise_and(ops.bitwise_and(whole, positive), ops.le(ops.add(a, b), 0))


def _reflected_beta(a: Any, b: Any) -> Any:
    """Returns the beta function without the signs of the gamma functions of ``a`` and ``b``, of which one is negative.

    With S(x) = sin(π x) it is S(a + b) beta(1 - a - b, b) / S(a) for ``b > 0``, and for two negative numbers
    π S(a + b) / (S(a) S(b) (1 - a - b) beta(1 - a, 1 - b)): the reflection of gamma functions, DLMF 5.5.3.
    """
    first = ops.lt(a, b)  # not the minimum, which has no second derivative where both are equal
    small, large = ops.where(first, a, b), ops.where(first, b, a)
    both, rest = ops.lt(large, 0), ops.sub(1, ops.add(a, b))
    size = ops.betaln(ops.where(both, ops.sub(1, small), rest), ops.where(both, ops.sub(1, large), large))
    half = ops.exp(
        ops.mul(ops.where(both, ops.neg(size), size), 0.5)
    )  # whose square may overflow where the product does not
    half = ops.min(half, largest(half))  # the product with a sine of 0 is 0
    sines = [ops.abs(sine_of_pi(x)) for x in (small, ops.where(both, large, 0.5))]
    factor = ops.where(both, ops.div(math.pi, ops.mul(sines[1], rest)), 1)
    return ops.mul(ops.mul(ops.mul(ops.div(sine_of_pi_sum(a, b), sines[0]), factor), half), half)


@custom_jvp
def _exponential(a: Any, b: Any) -> Any:
    """Returns the absolute value of the beta function, by its logarithm."""
    return ops.exp(betaln(a, b))


def _exponential_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    """Differentiates at positive numbers by `_slope`, elsewhere the logarithm."""
    a, b = primals
    positive = ops.bitwise_and(ops.gt(ops.min(a, b), 0), ops.is_finite(ops.max(a, b)))
    p, q = (ops.where(positive, x, 1) for x in primals)
    by_slopes = _along(tangents, lambda: _slope(p, q), lambda: _slope(q, p))
    others = [ops.where(positive, 1, x) for x in primals]
    given = [i for i, t in enumerate(tangents) if type(t) is not SymbolicZero]

    def of_given(*xs: Any) -> Any:
        args = list(others)
        for i, x in zip(given, xs, strict=True):
            args[i] = x
        return ops.exp(betaln(*args))

    _, by_logarithm = jvp(of_given, tuple([others[i] for i in given]), tuple([tangents[i] for i in given]))
    return _exponential(a, b), ops.where(positive, by_slopes, by_logarithm)


def _along(tangents: Sequence[Any], *slopes: Callable[[], Any]) -> Any:
    """Returns the sum of the products of tangents with slopes, of which those of zeros may be infinite."""
    total = None
    for t, slope in zip(tangents, slopes, strict=True):
        if type(t) is not SymbolicZero:
            term = ops.mul(slope(), t)
            total = term if total is None else ops.add(total, term)
    assert total is not None
    return total


@custom_jvp
def _slope(a: Any, b: Any) -> Any:
    """Returns the derivative of the beta function of positive numbers by ``a``."""
    near, h, size = _parts(a, b)
    fall = ops.where(near, ops.digamma_mean_p.bind(a, h, order=1, power=0), _fall(a, b))
    return ops.neg(ops.mul(size, fall))


def _slope_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    a, b = primals

    def by_a() -> Any:
        near, h, size = _parts(a, b)
        mean = ops.digamma_mean_p.bind(a, h, order=1, power=0)
        of_means = ops.sub(ops.mul(ops.mul(h, mean), mean), ops.digamma_mean_p.bind(a, h, order=2, power=0))
        of_falls = ops.add(ops.square(_fall(a, b)), ops.digamma_difference_p.bind(a, b, order=1))
        return ops.mul(size, ops.where(near, of_means, of_falls))

    # beta(a, b) = beta(a + 1, b) + beta(a, b + 1), of which both have a positive derivative.
    return _slope(a, b), _along(tangents, by_a, lambda: ops.add(_mixed(a, b), _mixed(b, a)))


def _parts(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Returns where ``b`` is small, ``b`` or 1 there and elsewhere, and ``b beta(a, b)`` or ``beta(a, b)``."""
    near = ops.lt(b, 1)
    h = ops.where(near, b, 1)
    return near, h, ops.mul(h, ops.exp(ops.betaln(a, b)))


def _fall(a: Any, b: Any) -> Any:
    """Returns ``digamma(a + b) - digamma(a)``."""
    return ops.neg(ops.digamma_difference_p.bind(a, b, order=0))


def _mixed(a: Any, b: Any) -> Any:
    """Returns the derivative of ``beta(a + 1, b)`` by both arguments; all terms are positive.

    The derivative by ``a`` is ``-b beta(a + 1, b)`` times the mean of the trigamma function between ``a + 1`` and
    ``a + 1 + b``; this is its derivative by ``b``.
    """
    start = ops.add(a, 1)
    mean = ops.digamma_mean_p.bind(start, b, order=1, power=0)
    change = ops.digamma_mean_p.bind(start, b, order=2, power=1)
    return ops.mul(_scaled(a, b), ops.sub(ops.mul(_fall(ops.add(b, 1), a), mean), change))


@custom_jvp
def _scaled(a: Any, b: Any) -> Any:
    """Returns ``b beta(a + 1, b)``, which is ``(a + 1 + b) beta(a + 1, b + 1)``."""
    start = ops.add(a, 1)
    near = ops.bitwise_and(ops.lt(b, 1), ops.gt(start, _LARGE))
    h = ops.where(near, b, 1)
    # The logarithm of the beta function has fewer digits after the point where one argument is large.
    quotient = ops.log_gamma_quotient(ops.where(near, start, _LARGE), h)
    by_quotient = ops.exp(ops.sub(ops.lgamma(ops.add(h, 1)), quotient))
    return ops.where(near, by_quotient, ops.mul(ops.add(start, b), ops.exp(ops.betaln(start, ops.add(b, 1)))))


def _scaled_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    a, b = primals
    out = _scaled(a, b)
    by_a = lambda: ops.mul(b, ops.digamma_mean_p.bind(ops.add(a, 1), b, order=1, power=0))  # noqa: E731
    return out, ops.neg(ops.mul(out, _along(tangents, by_a, lambda: _fall(ops.add(b, 1), a))))


for _function, _rule in ((_exponential, _exponential_jvp), (_slope, _slope_jvp), (_scaled, _scaled_jvp)):
    _function.defjvp(_rule, symbolic_zeros=True)
