"""The Pareto distribution.

>>> from lawful.special.stats import pareto
>>> pareto.logpdf(1.0, 1.0), pareto.cdf(1.0, 3.0)
(np.float64(0.0), np.float64(0.0))

Source: ``scipy.stats.pareto``, ``jax.scipy.stats.pareto``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats._standardized import log_of_complement, nan_unless_positive, probability, scaled, standardized


@composed
def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density with exponent ``b``: -∞ below ``loc + scale``.

    >>> round(float(logpdf(2.0, 3.0)), 3)
    -1.674
    """
    y, b, scale, below = _logarithm("pareto.logpdf", x, b, loc, scale)
    log_density = ops.sub(ops.sub(ops.log(b), ops.mul(ops.add(b, 1), y)), ops.log(scale))
    return ops.where(below, -math.inf, log_density)


@composed
def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(2.0, 3.0)), 4)
    0.1875
    """
    return ops.exp(logpdf(x, b, loc, scale))


@composed
def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(2.0, 3.0)), 3)
    0.875
    """
    y, b, _, below = _logarithm("pareto.cdf", x, b, loc, scale)
    return ops.where(below, 0, ops.neg(ops.expm1(ops.neg(ops.mul(b, y)))))


@composed
def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`, exact where that is small.

    >>> round(float(logcdf(2.0, 3.0)), 3)
    -0.134
    """
    y, b, _, below = _logarithm("pareto.logcdf", x, b, loc, scale)
    return ops.where(below, -math.inf, log_of_complement(ops.mul(b, y)))


@composed
def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(2.0, 3.0)), 3)
    0.125
    """
    return ops.exp(logsf(x, b, loc, scale))


@composed
def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`, exact where that is small.

    >>> round(float(logsf(2.0, 3.0)), 3)
    -2.079
    """
    y, b, _, below = _logarithm("pareto.logsf", x, b, loc, scale)
    return ops.where(below, 0, ops.neg(ops.mul(b, y)))


@composed
def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``q``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25, 3.0)), 3)
    1.101
    """
    given = b
    q, b = floats("pareto.ppf", probability("pareto.ppf", q, b, loc, scale), b)
    quantile = nan_unless_positive(ops.exp(ops.neg(ops.div(ops.log1p(ops.neg(q)), b))), [given], [b])
    return scaled("pareto.ppf", ops.where(ops.lt(q, 0), math.nan, quantile), loc, scale)


def _logarithm(name: str, x: Any, b: Any, loc: Any, scale: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the logarithm of the standardized number, ``b``, the scale, and where that number is below 1."""
    y, b, scale = standardized(name, x, b, loc=loc, scale=scale)
    below = ops.lt(y, 1)
    return ops.log(ops.where(below, 1, y)), b, scale, below
