"""The Poisson distribution.

>>> from lawful.special.stats import poisson
>>> poisson.pmf(0, 1.0), poisson.cdf(1, 1.0)
(np.float64(0.36787944117144...), np.float64(0.73575888234288...))

Source: ``scipy.stats.poisson``, ``jax.scipy.stats.poisson``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.core import get_aval
from lawful.special._arguments import composed, floats

# Up to this mean the entropy is a sum over counts, whose other terms are below rounding.
_FAR = 30.0
_COUNTS = 112
# The rational function of 1 / mu that interpolates mu (log(2 π e mu) / 2 - entropy) at the Chebyshev nodes from
# 1 / 3000 to 1 / 30. Computed with 40 digits; relative error 2e-16.
# fmt: off
_CORRECTION = (
    (0.08333333333333334, -3.090375271718868, 35.21334879652777, -144.37914892976215, 182.08390026343864,
     -28.672405950933282),
    (1.0, -37.58450326062633, 440.71910385523256, -1930.455820321727, 2917.742163469935, -1037.2026293683202),
)
# fmt: on


@composed
def logpmf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of ``k``, with mean ``mu``: -∞ unless ``k - loc`` is natural.

    >>> round(float(logpmf(2, 2.0)), 3)
    -1.307
    """
    k, mu, loc = floats("poisson.logpmf", k, mu, loc)
    n = ops.sub(k, loc)
    impossible = ops.bitwise_or(ops.lt(n, 0), ops.lt(ops.floor(n), n))
    n = ops.where(impossible, 0, n)
    log_probability = ops.sub(ops.sub(ops.xlogy(n, mu), mu), ops.lgamma(ops.add(n, 1)))
    return ops.where(impossible, -math.inf, log_probability)


@composed
def pmf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``.

    >>> round(float(pmf(2, 2.0)), 3)
    0.271
    """
    return ops.exp(logpmf(k, mu, loc))


@composed
def cdf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """Returns the probability of at most ``k``.

    >>> round(float(cdf(2, 2.0)), 3)
    0.677
    """
    k, mu, loc = floats("poisson.cdf", k, mu, loc)
    n = ops.floor(ops.sub(k, loc))
    below = ops.lt(n, 0)
    return ops.where(below, 0, ops.igammac(ops.add(ops.where(below, 0, n), 1), mu))


@composed
def entropy(mu: Any, loc: Any = 0) -> Any:
    """Returns the entropy, which does not depend on ``loc``: NaN for negative means.

    >>> entropy(1.0), entropy(1e10)
    (np.float64(1.30484224225625...), np.float64(12.93186399816...))
    """
    mu, _ = floats("poisson.entropy", mu, loc)
    near, far = ops.min(mu, _FAR), ops.max(mu, _FAR)
    counts = numpy.arange(_COUNTS).reshape((-1,) + (1,) * get_aval(mu).ndim)
    # The logarithm of a probability is k log(mu / k) + k - mu less a constant, in which no large terms cancel.
    scales = numpy.maximum(counts, 1)
    constants = [math.lgamma(k + 1) - k * math.log(max(k, 1)) + k for k in range(_COUNTS)]
    dtype = get_aval(mu).dtype
    counts, scales, excess = (numpy.reshape(x, counts.shape).astype(dtype) for x in (counts, scales, constants))
    logs = ops.add(ops.xlogy(counts, ops.div(near, scales)), ops.sub(ops.sub(counts, near), excess))
    total = ops.neg(ops.reduce_sum(ops.mul(ops.exp(logs), ops.where(ops.eq(logs, -math.inf), 0, logs)), (0,)))
    inverse = ops.div(1, far)
    correction = ops.mul(inverse, ops.div(*[_polynomial(inverse, x) for x in _CORRECTION]))
    large = ops.sub(ops.mul(ops.add(ops.log(far), 1 + math.log(2 * math.pi)), 0.5), correction)
    out = ops.where(ops.le(mu, _FAR), total, large)
    return ops.where(ops.lt(mu, 0), math.nan, out)


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Returns a polynomial whose constant coefficient is first."""
    total = ops.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = ops.add(ops.mul(total, x), c)
    return total
