"""The uniform distribution.

>>> from lawful.special.stats import uniform
>>> uniform.pdf(1.0, 0.0, 4.0), uniform.cdf(1.0, 0.0, 4.0)
(np.float64(0.25), np.float64(0.25))

Source: ``scipy.stats.uniform``, ``jax.scipy.stats.uniform``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import probability, scaled, standardized


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density between ``loc`` and ``loc + scale``: -∞ outside.

    >>> round(float(logpdf(0.5, scale=2.0)), 3)
    -0.693
    """
    y, scale = standardized("uniform.logpdf", x, loc=loc, scale=scale)
    outside = ops.bitwise_or(ops.lt(y, 0), ops.gt(y, 1))
    return ops.where(outside, -math.inf, ops.where(ops.ne(y, y), math.nan, ops.neg(ops.log(scale))))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    1.0
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``.

    >>> round(float(cdf(0.5)), 3)
    0.5
    """
    y, _ = standardized("uniform.cdf", x, loc=loc, scale=scale)
    # Not a clamp, whose derivative at the ends is 0, unlike the density.
    return ops.where(ops.lt(y, 0), 0, ops.where(ops.gt(y, 1), 1, y))


@composed
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``q``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25)), 3)
    0.25
    """
    q = probability("uniform.ppf", q, loc, scale)
    outside = ops.bitwise_or(ops.lt(q, 0), ops.gt(q, 1))
    return scaled("uniform.ppf", ops.where(outside, math.nan, q), loc, scale)
