"""The Gumbel distribution with a long left tail.

>>> from lawful.special.stats import gumbel_l
>>> gumbel_l.logpdf(0.0), gumbel_l.sf(0.0), gumbel_l.ppf(0.5)
(np.float64(-1.0), np.float64(0.36787944117144...), np.float64(-0.3665129205816...))

Source: ``scipy.stats.gumbel_l``, ``jax.scipy.stats.gumbel_l``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import log_of_complement, probability, scaled, standardized


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density, with mode ``loc``.

    >>> round(float(logpdf(0.5)), 3)
    -1.149
    """
    z, scale = standardized("gumbel_l.logpdf", x, loc=loc, scale=scale)
    is_infinite = ops.eq(z, math.inf)
    z = ops.where(is_infinite, 0, z)
    log_density = ops.sub(ops.sub(z, ops.exp(z)), ops.log(scale))
    return ops.where(is_infinite, -math.inf, log_density)


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.317
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5)), 3)
    0.192
    """
    return ops.exp(logsf(x, loc, scale))


@composed
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`, exact where that is small.

    >>> round(float(logsf(0.5)), 3)
    -1.649
    """
    return ops.neg(ops.exp(standardized("gumbel_l.logsf", x, loc=loc, scale=scale)[0]))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5)), 3)
    0.808
    """
    return ops.neg(ops.expm1(ops.neg(ops.exp(standardized("gumbel_l.cdf", x, loc=loc, scale=scale)[0]))))


@composed
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`, exact where that is small.

    >>> round(float(logcdf(0.5)), 3)
    -0.214
    """
    z, _ = standardized("gumbel_l.logcdf", x, loc=loc, scale=scale)
    # The exponential of a number left of this is its own `-expm1(-x)`, and may underflow.
    is_low = ops.lt(z, -40)
    return ops.where(is_low, z, log_of_complement(ops.exp(ops.where(is_low, 0, z))))


@composed
def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``p``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25)), 3)
    -1.246
    """
    p = probability("gumbel_l.ppf", p, loc, scale)
    return scaled("gumbel_l.ppf", ops.log(ops.neg(ops.log1p(ops.neg(p)))), loc, scale)
