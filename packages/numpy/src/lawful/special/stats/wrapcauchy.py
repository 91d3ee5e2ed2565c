"""The wrapped Cauchy distribution.

>>> from lawful.special.stats import wrapcauchy
>>> wrapcauchy.logpdf(0.0, 0.5)
np.float64(-0.73926477774...)

Source: ``scipy.stats.wrapcauchy``, ``jax.scipy.stats.wrapcauchy``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats


@composed
def logpdf(x: Any, c: Any) -> Any:
    """Returns the logarithm of the density at an angle: -∞ outside of 0 to 2π, NaN if ``c`` is not between 0 and 1.

    >>> round(float(logpdf(0.5, 0.5)), 3)
    -1.138
    """
    x, c = floats("wrapcauchy.logpdf", x, c)
    is_right = ops.bitwise_and(ops.gt(c, 0), ops.lt(c, 1))
    c = ops.where(is_right, c, 0.5)
    outside = ops.bitwise_or(ops.lt(x, 0), ops.gt(x, 2 * math.pi))
    # 1 + c² - 2 c cos x, without the loss of digits near 0.
    squares = ops.square(ops.sub(1, c)), ops.mul(ops.mul(c, 4), ops.square(ops.sin(ops.mul(x, 0.5))))
    logs = ops.add(ops.log1p(ops.neg(c)), ops.log1p(c))
    log_density = ops.sub(ops.sub(logs, math.log(2 * math.pi)), ops.log(ops.add(*squares)))
    return ops.where(is_right, ops.where(outside, -math.inf, log_density), math.nan)


@composed
def pdf(x: Any, c: Any) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 0.5)), 3)
    0.321
    """
    return ops.exp(logpdf(x, c))
