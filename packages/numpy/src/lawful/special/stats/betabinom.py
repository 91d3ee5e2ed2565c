"""The beta-binomial distribution.

>>> from lawful.special.stats import betabinom
>>> f"{betabinom.pmf(1, 2, 1.0, 1.0):.3f}"
'0.333'

Source: ``scipy.stats.betabinom``, ``jax.scipy.stats.betabinom``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats._standardized import counted


@composed
def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of ``k`` of ``n``, each with a probability of ``beta(a, b)``."""
    k, n, a, b, loc = floats("betabinom.logpmf", k, n, a, b, loc)
    k, impossible = counted(k, loc, 0, n)
    rest = ops.sub(n, k)
    ways = ops.neg(ops.add(ops.log1p(n), ops.betaln(ops.add(rest, 1), ops.add(k, 1))))
    log_probability = ops.add(ways, ops.sub(ops.betaln(ops.add(k, a), ops.add(rest, b)), ops.betaln(a, b)))
    out = ops.where(impossible, -math.inf, log_probability)
    return ops.where(ops.bitwise_and(ops.gt(a, 0), ops.gt(b, 0)), out, math.nan)


@composed
def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``."""
    return ops.exp(logpmf(k, n, a, b, loc))
