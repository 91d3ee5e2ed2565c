"""The generalized normal distribution.

>>> from lawful.special.stats import gennorm
>>> gennorm.logpdf(0.0, 2.0), gennorm.cdf(0.0, 2.0)
(np.float64(-0.5723649429247...), np.float64(0.5))

Source: ``scipy.stats.gennorm``, ``jax.scipy.stats.gennorm``.
"""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats


@composed
def logpdf(x: Any, beta: Any) -> Any:
    """Returns the logarithm of the density with exponent ``beta``.

    >>> round(float(logpdf(0.5, 2.0)), 3)
    -0.822
    """
    x, beta = floats("gennorm.logpdf", x, beta)
    norm = ops.sub(ops.log(ops.mul(beta, 0.5)), ops.lgamma(ops.div(1, beta)))
    return ops.sub(norm, ops.pow(ops.abs(x), beta))


@composed
def pdf(x: Any, beta: Any) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 2.0)), 3)
    0.439
    """
    return ops.exp(logpdf(x, beta))


@composed
def cdf(x: Any, beta: Any) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5, 2.0)), 3)
    0.76
    """
    x, beta = floats("gennorm.cdf", x, beta)
    half = ops.mul(ops.igammac(ops.div(1, beta), ops.pow(ops.abs(x), beta)), 0.5)
    return ops.where(ops.lt(x, 0), half, ops.sub(1, half))
