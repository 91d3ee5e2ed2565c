"""The binomial distribution.

>>> from lawful.special.stats import binom
>>> f"{binom.pmf(1, 2, 0.5):.3f}"
'0.500'

Source: ``scipy.stats.binom``, ``jax.scipy.stats.binom``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats._standardized import counted


@composed
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of ``k`` of ``n``, each of probability ``p``: -∞ if it is no count.

    >>> round(float(logpmf(2, 5, 0.3)), 3)
    -1.175
    """
    k, n, p, loc = floats("binom.logpmf", k, n, p, loc)
    k, impossible = counted(k, loc, 0, n)
    rest = ops.sub(n, k)
    # log(n over k)
    ways = ops.neg(ops.add(ops.log1p(n), ops.betaln(ops.add(rest, 1), ops.add(k, 1))))
    log_probability = ops.add(ways, ops.add(ops.xlogy(k, p), ops.xlog1py(rest, ops.neg(p))))
    return ops.where(impossible, -math.inf, log_probability)


@composed
def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``.

    >>> round(float(pmf(2, 5, 0.3)), 3)
    0.309
    """
    return ops.exp(logpmf(k, n, p, loc))
