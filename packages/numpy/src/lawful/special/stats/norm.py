"""The normal distribution.

>>> from lawful.special.stats import norm
>>> norm.logpdf(0.0), norm.cdf(0.0), norm.ppf(0.5)
(np.float64(-0.91893853320467...), np.float64(0.5), np.float64(0.0))

Source: ``scipy.stats.norm``, ``jax.scipy.stats.norm``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special._functions import ndtr
from lawful.special.stats._standardized import probability, scaled, standardized

_LOG_NORM = math.log(2 * math.pi) / 2


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density, with mean ``loc`` and standard deviation ``scale``.

    >>> round(float(logpdf(0.5)), 3)
    -1.044
    """
    z, scale = standardized("norm.logpdf", x, loc=loc, scale=scale)
    return ops.neg(ops.add(ops.add(ops.mul(ops.square(z), 0.5), _LOG_NORM), ops.log(scale)))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.352
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``.

    >>> round(float(cdf(0.5)), 3)
    0.691
    """
    return ndtr(standardized("norm.cdf", x, loc=loc, scale=scale)[0])


@composed
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`, exact where that is small.

    >>> round(float(logcdf(0.5)), 3)
    -0.369
    """
    return ops.log_ndtr(standardized("norm.logcdf", x, loc=loc, scale=scale)[0])


@composed
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5)), 3)
    0.309
    """
    return ndtr(ops.neg(standardized("norm.sf", x, loc=loc, scale=scale)[0]))


@composed
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`, exact where that is small.

    >>> round(float(logsf(0.5)), 3)
    -1.176
    """
    return ops.log_ndtr(ops.neg(standardized("norm.logsf", x, loc=loc, scale=scale)[0]))


@composed
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``q``.

    >>> round(float(ppf(0.25)), 3)
    -0.674
    """
    return scaled("norm.ppf", ops.ndtri(probability("norm.ppf", q, loc, scale)), loc, scale)


@composed
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number above which the probability is ``q``.

    >>> round(float(isf(0.25)), 3)
    0.674
    """
    return scaled("norm.isf", ops.neg(ops.ndtri(probability("norm.isf", q, loc, scale))), loc, scale)
