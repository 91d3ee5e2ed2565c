"""Functions of statistics and physics, with SciPy's names, composed of ops."""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.core import ArgumentValueError
from lawful.special._arguments import floats, silent, static_integer


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
