"""The gamma distribution.

>>> from lawful.special.stats import gamma
>>> gamma.logpdf(1.0, 2.0), gamma.cdf(1.0, 1.0)
(np.float64(-1.0), np.float64(0.63212055882855...))

Source: ``scipy.stats.gamma``, ``jax.scipy.stats.gamma``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import log_of_probability, standardized


@composed
def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density with shape ``a``: -∞ below ``loc``.

    >>> round(float(logpdf(0.5, 2.0)), 3)
    -1.193
    """
    y, a, scale = standardized("gamma.logpdf", x, a, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    y = ops.where(below, 1, y)
    log_density = ops.sub(ops.sub(ops.xlogy(ops.sub(a, 1), y), y), ops.add(ops.lgamma(a), ops.log(scale)))
    return ops.where(below, -math.inf, log_density)


@composed
def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 2.0)), 3)
    0.303
    """
    return ops.exp(logpdf(x, a, loc, scale))


@composed
def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``.

    >>> round(float(cdf(0.5, 2.0)), 3)
    0.09
    """
    y, a, _ = standardized("gamma.cdf", x, a, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    return ops.where(below, 0, ops.igamma(a, ops.where(below, 1, y)))


@composed
def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5, 2.0)), 3)
    0.91
    """
    y, a, _ = standardized("gamma.sf", x, a, loc=loc, scale=scale)
    below = ops.lt(y, 0)
    return ops.where(below, 1, ops.igammac(a, ops.where(below, 1, y)))


@composed
def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`.

    >>> round(float(logcdf(0.5, 2.0)), 3)
    -2.406
    """
    return log_of_probability(cdf(x, a, loc, scale), sf(x, a, loc, scale))


@composed
def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`.

    >>> round(float(logsf(0.5, 2.0)), 3)
    -0.095
    """
    return log_of_probability(sf(x, a, loc, scale), cdf(x, a, loc, scale))
