"""The exponential distribution.

>>> from lawful.special.stats import expon
>>> expon.logpdf(2.0), expon.sf(1.0)
(np.float64(-2.0), np.float64(0.36787944117144...))

Source: ``scipy.stats.expon``, ``jax.scipy.stats.expon``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import log_of_complement, probability, scaled, standardized


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density with mean ``loc + scale``: -∞ below ``loc``.

    >>> round(float(logpdf(0.5)), 3)
    -0.5
    """
    y, scale = standardized("expon.logpdf", x, loc=loc, scale=scale)
    return ops.where(ops.lt(y, 0), -math.inf, ops.neg(ops.add(y, ops.log(scale))))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.607
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5)), 3)
    0.393
    """
    y, _ = standardized("expon.cdf", x, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    return ops.where(below, 0, ops.neg(ops.expm1(ops.neg(ops.where(below, 0, y)))))


@composed
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``.

    >>> round(float(sf(0.5)), 3)
    0.607
    """
    y, _ = standardized("expon.sf", x, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    return ops.where(below, 1, ops.exp(ops.neg(ops.where(below, 0, y))))


@composed
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``q``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25)), 3)
    0.288
    """
    q = probability("expon.ppf", q, loc, scale)
    quantile = ops.neg(ops.log1p(ops.neg(q)))
    return scaled("expon.ppf", ops.where(ops.lt(q, 0), math.nan, quantile), loc, scale)


@composed
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`, exact where that is small.

    >>> round(float(logcdf(0.5)), 3)
    -0.933
    """
    y, _ = standardized("expon.logcdf", x, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    return ops.where(below, -math.inf, log_of_complement(ops.where(below, 1, y)))


@composed
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`, exact where that is small.

    >>> round(float(logsf(0.5)), 3)
    -0.5
    """
    y, _ = standardized("expon.logsf", x, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    return ops.where(below, 0, ops.neg(ops.where(below, 0, y)))
