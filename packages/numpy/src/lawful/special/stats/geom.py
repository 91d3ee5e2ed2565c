"""The geometric distribution.

>>> from lawful.special.stats import geom
>>> geom.pmf(2, 0.5)
np.float64(0.25)

Source: ``scipy.stats.geom``, ``jax.scipy.stats.geom``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats._standardized import counted


@composed
def logpmf(k: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the logarithm of the probability of a first success at attempt ``k``, each with probability ``p``.

    >>> round(float(logpmf(2, 0.3)), 3)
    -1.561
    """
    k, p, loc = floats("geom.logpmf", k, p, loc)
    k, impossible = counted(k, loc, 1, math.inf)
    log_probability = ops.add(ops.xlog1py(ops.sub(k, 1), ops.neg(p)), ops.log(p))
    return ops.where(impossible, -math.inf, log_probability)


@composed
def pmf(k: Any, p: Any, loc: Any = 0) -> Any:
    """Returns the probability of ``k``.

    >>> round(float(pmf(2, 0.3)), 3)
    0.21
    """
    return ops.exp(logpmf(k, p, loc))
