"""The Cauchy distribution.

>>> from lawful.special.stats import cauchy
>>> cauchy.logpdf(0.0), cauchy.cdf(0.0), cauchy.ppf(0.5)
(np.float64(-1.1447298858494...), np.float64(0.5), np.float64(0.0))

Source: ``scipy.stats.cauchy``, ``jax.scipy.stats.cauchy``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import log_of_probability, probability, scaled, standardized


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density, with median ``loc`` and half of the width at half of the height.

    >>> round(float(logpdf(0.5)), 3)
    -1.368
    """
    z, scale = standardized("cauchy.logpdf", x, loc=loc, scale=scale)
    size = ops.abs(z)
    is_large = ops.gt(size, 1)
    # log(1 + z²) without overflow of the square.
    small, large = ops.where(is_large, 0, size), ops.where(is_large, size, 1)
    of_large = ops.add(ops.mul(ops.log(large), 2), ops.log1p(ops.square(ops.div(1, large))))
    log_sum = ops.where(is_large, of_large, ops.log1p(ops.square(small)))
    return ops.neg(ops.add(ops.add(log_sum, math.log(math.pi)), ops.log(scale)))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.255
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5)), 3)
    0.648
    """
    return _probability_below(standardized("cauchy.cdf", x, loc=loc, scale=scale)[0])


@composed
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`.

    >>> round(float(logcdf(0.5)), 3)
    -0.435
    """
    return log_of_probability(cdf(x, loc, scale), sf(x, loc, scale))


@composed
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5)), 3)
    0.352
    """
    return _probability_below(ops.neg(standardized("cauchy.sf", x, loc=loc, scale=scale)[0]))


@composed
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`.

    >>> round(float(logsf(0.5)), 3)
    -1.043
    """
    return log_of_probability(sf(x, loc, scale), cdf(x, loc, scale))


@composed
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``q``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25)), 3)
    -1.0
    """
    return scaled("cauchy.ppf", _quantile(probability("cauchy.ppf", q, loc, scale)), loc, scale)


@composed
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number above which the probability is ``q``: NaN outside of 0 to 1.

    >>> round(float(isf(0.25)), 3)
    1.0
    """
    return scaled("cauchy.isf", ops.neg(_quantile(probability("cauchy.isf", q, loc, scale))), loc, scale)


def _probability_below(z: Any) -> Any:
    return ops.mul(ops.atan2(ops.where(ops.eq(z, z), 1.0, z), ops.neg(z)), 1 / math.pi)


def _quantile(q: Any) -> Any:
    # Near 0 and 1 by the angle from there, of which no digits are lost.
    is_low, is_high = ops.lt(q, 0.25), ops.gt(q, 0.75)
    angle = ops.mul(ops.where(is_low, q, ops.where(is_high, ops.sub(1, q), 0.25)), math.pi)
    cotangent = ops.div(1.0, ops.tan(angle))
    outer = ops.where(is_high, cotangent, ops.neg(cotangent))
    inner = ops.tan(ops.mul(ops.sub(ops.where(ops.bitwise_or(is_low, is_high), 0.5, q), 0.5), math.pi))
    quantile = ops.where(ops.bitwise_or(is_low, is_high), outer, inner)
    inside = ops.bitwise_and(ops.ge(q, 0), ops.le(q, 1))
    return ops.where(inside, quantile, math.nan)
