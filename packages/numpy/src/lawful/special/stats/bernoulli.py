"""The Bernoulli distribution.

>>> from lawful.special.stats import bernoulli
>>> bernoulli.pmf(1, 0.25), bernoulli.cdf(0, 0.25)
(np.float64(0.25), np.float64(0.75))

Source: ``scipy.stats.bernoulli``, ``jax.scipy.stats.bernoulli``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats


@composed
def logpmf(k: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of ``k``, that of 1 being ``p``: -∞ of another ``k - loc``.

    >>> round(float(logpmf(1, 0.3)), 3)
    -1.204
    """
    k, p, loc = floats("bernoulli.logpmf", k, p, loc)
    n = ops.sub(k, loc)
    possible = ops.bitwise_or(ops.bitwise_or(ops.eq(n, 0), ops.eq(n, 1)), ops.ne(n, n))
    n = ops.where(possible, n, 0)
    log_probability = ops.add(ops.xlogy(n, p), ops.xlog1py(ops.sub(1, n), ops.neg(p)))
    return _of_probability(p, ops.where(possible, log_probability, -math.inf))


@composed
def pmf(k: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``.

    >>> round(float(pmf(1, 0.3)), 3)
    0.3
    """
    return ops.exp(logpmf(k, p, loc))


@composed
def cdf(k: Any, p: Any) -> Any:
    """Returns the probability of at most ``k``.

    >>> round(float(cdf(0, 0.3)), 3)
    0.7
    """
    k, p = floats("bernoulli.cdf", k, p)
    out = ops.where(ops.lt(k, 0), 0, ops.where(ops.lt(k, 1), ops.sub(1, p), ops.where(ops.eq(k, k), 1.0, k)))
    return _of_probability(p, out)


@composed
def ppf(q: Any, p: Any) -> Any:
    """Returns 0 or 1, the smallest ``k`` whose `cdf` is at least ``q``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25, 0.3)), 3)
    0.0
    """
    q, p = floats("bernoulli.ppf", q, p)
    inside = ops.bitwise_and(ops.ge(q, 0), ops.le(q, 1))
    smallest = ops.where(ops.le(q, ops.sub(1, p)), 0.0, 1.0)
    return _of_probability(p, ops.where(inside, smallest, math.nan))


def _of_probability(p: Any, out: Any) -> Any:
    """Returns NaN where ``p`` is not from 0 to 1."""
    return ops.where(ops.bitwise_and(ops.ge(p, 0), ops.le(p, 1)), out, math.nan)
