"""The beta distribution.

>>> from lawful.special.stats import beta
>>> [round(float(f(0.5, 2.0, 2.0)), 12) for f in (beta.pdf, beta.cdf)]
[1.5, 0.5]

Source: ``scipy.stats.beta``, ``jax.scipy.stats.beta``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import log_of_probability, standardized


@composed
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density with shapes ``a`` and ``b``: -∞ outside of ``loc`` to ``loc + scale``.

    >>> round(float(logpdf(0.5, 2.0, 3.0)), 3)
    0.405
    """
    y, a, b, scale = standardized("beta.logpdf", x, a, b, loc=loc, scale=scale)
    outside = ops.bitwise_or(ops.lt(y, 0), ops.gt(y, 1))
    y = ops.where(outside, 0.5, y)
    powers = ops.add(ops.xlogy(ops.sub(a, 1), y), ops.xlog1py(ops.sub(b, 1), ops.neg(y)))
    log_density = ops.sub(powers, ops.add(ops.betaln(a, b), ops.log(scale)))
    return ops.where(outside, -math.inf, log_density)


@composed
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 2.0, 3.0)), 3)
    1.5
    """
    return ops.exp(logpdf(x, a, b, loc, scale))


@composed
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``.

    >>> round(float(cdf(0.5, 2.0, 3.0)), 4)
    0.6875
    """
    y, a, b, _ = standardized("beta.cdf", x, a, b, loc=loc, scale=scale)
    return ops.betainc(a, b, ops.clamp(0.0, y, 1.0))


@composed
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5, 2.0, 3.0)), 4)
    0.3125
    """
    y, a, b, _ = standardized("beta.sf", x, a, b, loc=loc, scale=scale)
    return ops.betainc(b, a, ops.clamp(0.0, ops.sub(1, y), 1.0))


@composed
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`.

    >>> round(float(logcdf(0.5, 2.0, 3.0)), 3)
    -0.375
    """
    return log_of_probability(cdf(x, a, b, loc, scale), sf(x, a, b, loc, scale))


@composed
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`.

    >>> round(float(logsf(0.5, 2.0, 3.0)), 3)
    -1.163
    """
    return log_of_probability(sf(x, a, b, loc, scale), cdf(x, a, b, loc, scale))
