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
    """Returns the logarithm of the probability of ``k`` of ``n``, each with a probability of ``beta(a, b)``.

    >>> round(float(logpmf(2, 5, 2.0, 3.0)), 3)
    -1.435
    """
    k, n, a, b, loc = floats("betabinom.logpmf", k, n, a, b, loc)
    k, impossible = counted(k, loc, 0, n)
    rest = ops.sub(n, k)
    # A product of rising factorials over their factorials, as gamma functions of large a and b would cancel.
    parts = [_log_rising(x, m) for x, m in ((a, k), (b, rest), (ops.add(a, b), n))]
    log_probability = ops.sub(ops.add(parts[0], parts[1]), parts[2])
    out = ops.where(impossible, -math.inf, log_probability)
    return ops.where(ops.bitwise_and(ops.gt(a, 0), ops.gt(b, 0)), out, math.nan)


def _log_rising(x: Any, m: Any) -> Any:
    """Returns the logarithm of ``gamma(x + m) / (gamma(x) gamma(m + 1))``."""
    return ops.neg(ops.add(ops.betaln(x, ops.add(m, 1)), ops.log(ops.add(x, m))))


@composed
def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``.

    >>> round(float(pmf(2, 5, 2.0, 3.0)), 3)
    0.238
    """
    return ops.exp(logpmf(k, n, a, b, loc))
