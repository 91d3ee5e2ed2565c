"""The Poisson distribution.

>>> from lawful.special.stats import poisson
>>> poisson.pmf(0, 1.0), poisson.cdf(1, 1.0)
(np.float64(0.36787944117144...), np.float64(0.73575888234288...))

Source: ``scipy.stats.poisson``, ``jax.scipy.stats.poisson``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import floats, silent


@silent
def logpmf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of ``k``, with mean ``mu``: -∞ unless ``k - loc`` is natural."""
    k, mu, loc = floats("poisson.logpmf", k, mu, loc)
    n = ops.sub(k, loc)
    impossible = ops.bitwise_or(ops.lt(n, 0), ops.lt(ops.floor(n), n))
    n = ops.where(impossible, 0, n)
    log_probability = ops.sub(ops.sub(ops.xlogy(n, mu), mu), ops.lgamma(ops.add(n, 1)))
    return ops.where(impossible, -math.inf, log_probability)


@silent
def pmf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``."""
    return ops.exp(logpmf(k, mu, loc))


@silent
def cdf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """Returns the probability of at most ``k``."""
    k, mu, loc = floats("poisson.cdf", k, mu, loc)
    n = ops.floor(ops.sub(k, loc))
    below = ops.lt(n, 0)
    return ops.where(below, 0, ops.igammac(ops.add(ops.where(below, 0, n), 1), mu))
