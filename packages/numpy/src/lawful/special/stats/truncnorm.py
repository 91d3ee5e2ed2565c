"""The truncated normal distribution.

>>> from lawful.special.stats import truncnorm
>>> truncnorm.logpdf(0.0, -1.0, 1.0), truncnorm.cdf(1.0, -1.0, 1.0)
(np.float64(-0.53722338690...), np.float64(1.0))

Source: ``scipy.stats.truncnorm``, ``jax.scipy.stats.truncnorm``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats import norm
from lawful.special.stats._standardized import log_of_complement, standardized


@composed
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density of the normal one between ``a`` and ``b``: -∞ outside.

    Args:
      x: a number.
      a: the lower end, in units of ``scale`` from ``loc``.
      b: the upper end, likewise.
      loc: the mean of the normal distribution that is truncated.
      scale: its standard deviation.

    Where ``a`` is not below ``b`` it is NaN.

    >>> round(float(logpdf(0.5, -1.0, 2.0)), 3)
    -0.844
    """
    z, a, b, scale = standardized("truncnorm.logpdf", x, a, b, loc=loc, scale=scale, positive_rest=False)
    outside = ops.bitwise_or(ops.lt(z, a), ops.gt(z, b))
    log_density = ops.sub(ops.sub(norm.logpdf(z), _log_mass(a, b)), ops.log(scale))
    return _of_interval(a, b, ops.where(outside, -math.inf, log_density))


@composed
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, -1.0, 2.0)), 3)
    0.43
    """
    return ops.exp(logpdf(x, a, b, loc, scale))


@composed
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5, -1.0, 2.0)), 3)
    0.651
    """
    return ops.exp(logcdf(x, a, b, loc, scale))


@composed
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`.

    >>> round(float(logcdf(0.5, -1.0, 2.0)), 3)
    -0.429
    """
    return _log_shares("truncnorm.logcdf", x, a, b, loc, scale)[0]


@composed
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5, -1.0, 2.0)), 3)
    0.349
    """
    return ops.exp(logsf(x, a, b, loc, scale))


@composed
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`.

    >>> round(float(logsf(0.5, -1.0, 2.0)), 3)
    -1.052
    """
    return _log_shares("truncnorm.logsf", x, a, b, loc, scale)[1]


def _log_shares(name: str, x: Any, a: Any, b: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
    """Returns the logarithms of the probabilities of less and of more than ``x``."""
    z, a, b, _ = standardized(name, x, a, b, loc=loc, scale=scale, positive_rest=False)
    inner, total = ops.clamp(a, z, b), _log_mass(a, b)
    below, above = ops.sub(_log_mass(a, inner), total), ops.sub(_log_mass(inner, b), total)
    low, high = ops.le(z, a), ops.ge(z, b)
    shares = []
    for share, other, none, all_ in ((below, above, low, high), (above, below, high, low)):
        # One near 1 is the complement of the other.
        exact = ops.where(ops.lt(share, -math.log(2)), share, ops.log1p(ops.neg(ops.exp(other))))
        shares.append(_of_interval(a, b, ops.where(none, -math.inf, ops.where(all_, 0, exact))))
    return shares[0], shares[1]


def _log_mass(a: Any, b: Any) -> Any:
    """Returns the logarithm of the normal probability from ``a`` to ``b``, by the tail that both are in."""
    is_right = ops.gt(a, 0)
    low, high = ops.where(is_right, ops.neg(b), a), ops.where(is_right, ops.neg(a), b)
    of_high = ops.log_ndtr(high)
    difference = ops.sub(of_high, ops.log_ndtr(low))
    return ops.add(of_high, log_of_complement(difference))


def _of_interval(a: Any, b: Any, out: Any) -> Any:
    """Returns NaN where the interval is empty."""
    return ops.where(ops.lt(a, b), out, math.nan)
