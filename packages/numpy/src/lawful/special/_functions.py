"""Functions of statistics and physics, with SciPy's names, composed of ops."""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.core import ArgumentValueError, get_aval
from lawful.special._arguments import floats, silent, static_integer
from lawful.special._reflection import alternating, largest, sine_of_pi, sine_of_pi_sum, without_derivative


@silent
def kl_div(p: Any, q: Any) -> Any:
    """Returns ``p log(p / q) - p + q`` of positive numbers; ``q`` where ``p`` is 0 and ``q`` is not negative, else ∞.

    >>> kl_div(numpy.array([0.0, 1.0]), numpy.array([2.0, 1.0]))
    array([2., 0.])

    Source: ``scipy.special.kl_div``, ``jax.scipy.special.kl_div``.
    """
    p, q = floats("kl_div", p, q)
    both = ops.bitwise_and(ops.gt(p, 0), ops.gt(q, 0))
    linear = ops.where(both, ops.sub(q, p), ops.where(ops.bitwise_and(ops.eq(p, 0), ops.ge(q, 0)), q, 0))
    return ops.add(ops.rel_entr(p, q), linear)


@silent
def gammasgn(x: Any) -> Any:
    """Returns the sign of the gamma function: NaN at the negative integers, that of the zero at 0.

    >>> gammasgn(numpy.array([-1.5, -0.5, 2.0]))
    array([ 1., -1.,  1.])

    Source: ``scipy.special.gammasgn``, ``jax.scipy.special.gammasgn``.
    """
    (x,) = floats("gammasgn", x)
    below = ops.floor(x)
    odd = ops.ne(ops.mul(ops.floor(ops.mul(below, 0.5)), 2), below)
    negative = ops.where(ops.eq(x, below), numpy.nan, ops.where(odd, -1.0, 1.0))
    at_zero = ops.where(ops.lt(ops.div(1.0, x), 0), -1.0, 1.0)
    sign = ops.where(ops.lt(x, 0), negative, ops.where(ops.eq(x, 0), at_zero, 1.0))
    return ops.convert_element_type(ops.where(ops.ne(x, x), numpy.nan, sign), x.dtype)


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
    out = ops.where(is_reflected, reflected, ops.mul(sign, ops.exp(betaln(*safe))))
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


@silent
def multigammaln(a: Any, d: int) -> Any:
    """Returns the logarithm of the gamma function of dimension ``d``.

    Args:
      a: real numbers above ``(d - 1) / 2``; else the result has no meaning.
      d: a positive integer.

    Raises:
      ArgumentTypeError: ``d`` is no integer.
      ArgumentValueError: it is not positive.

    >>> multigammaln(3.0, 2)
    np.float64(1.550194...)

    Source: ``scipy.special.multigammaln``, ``jax.scipy.special.multigammaln``.
    """
    d = static_integer("multigammaln", "d", d)
    if d < 1:
        raise ArgumentValueError(f"multigammaln: expected a positive dimension, got {d}; give 1 or more")
    (a,) = floats("multigammaln", a)
    total = ops.lgamma(a)
    for j in range(1, d):
        total = ops.add(total, ops.lgamma(ops.sub(a, j / 2)))
    return ops.add(total, d * (d - 1) / 4 * math.log(math.pi))


@silent
def zeta(x: Any, q: Any = None) -> Any:
    """Returns the Hurwitz zeta function, by default with ``q = 1``: Riemann's, which is NaN here for ``x < 1``.

    >>> zeta(2.0)
    np.float64(1.644934066848226...)

    Source: ``scipy.special.zeta``, which continues Riemann's; ``jax.scipy.special.zeta``, which has not that default.
    """
    x, q = floats("zeta", x, 1.0 if q is None else q)
    return ops.zeta(x, q)


@silent
def ndtr(x: Any) -> Any:
    """Returns the distribution function of the standard normal distribution.

    >>> ndtr(numpy.array([-numpy.inf, 0.0, 1.0]))
    array([0.        , 0.5       , 0.84134475])

    Source: ``scipy.special.ndtr``, ``jax.scipy.special.ndtr``.
    """
    (x,) = floats("ndtr", x)
    return ops.mul(ops.erfc(ops.mul(x, -math.sqrt(0.5))), 0.5)


@silent
def i0(x: Any) -> Any:
    """Returns the modified Bessel function of the first kind of order 0.

    >>> i0(1.0)
    np.float64(1.26606587775200...)

    Source: ``scipy.special.i0``, ``jax.scipy.special.i0``.
    """
    (x,) = floats("i0", x)
    return ops.bessel_in(x, 0)


@silent
def i1(x: Any) -> Any:
    """Returns the modified Bessel function of the first kind of order 1.

    >>> i1(1.0)
    np.float64(0.56515910399248...)

    Source: ``scipy.special.i1``, ``jax.scipy.special.i1``.
    """
    (x,) = floats("i1", x)
    return ops.bessel_in(x, 1)
