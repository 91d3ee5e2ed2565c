"""The negative binomial distribution.

>>> from lawful.special.stats import nbinom
>>> f"{nbinom.pmf(1, 2, 0.5):.3f}"
'0.250'

Source: ``scipy.stats.nbinom``, ``jax.scipy.stats.nbinom``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats._standardized import counted


@composed
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of ``k`` failures before ``n`` successes of probability ``p``.

    >>> round(float(logpmf(2, 5, 0.3)), 3)
    -4.025
    """
    k, n, p, loc = floats("nbinom.logpmf", k, n, p, loc)
    k, impossible = counted(k, loc, 0, math.inf)
    # log(n + k - 1 over k)
    ways = ops.neg(ops.add(ops.log(ops.add(n, k)), ops.betaln(n, ops.add(k, 1))))
    log_probability = ops.add(ways, ops.add(ops.xlogy(n, p), ops.xlog1py(k, ops.neg(p))))
    return ops.where(impossible, -math.inf, log_probability)


@composed
def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``.

    >>> round(float(pmf(2, 5, 0.3)), 3)
    0.018
    """
    return ops.exp(logpmf(k, n, p, loc))
