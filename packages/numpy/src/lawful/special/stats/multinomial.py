"""The multinomial distribution.

>>> import numpy
>>> from lawful.special.stats import multinomial
>>> f"{multinomial.pmf(numpy.array([1, 1]), 2, numpy.array([0.5, 0.5])):.3f}"
'0.500'

Source: ``scipy.stats.multinomial``, ``jax.scipy.stats.multinomial``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats


@composed
def logpmf(x: Any, n: Any, p: Any) -> Any:
    """Returns the logarithm of the probability of counts.

    Args:
      x: the counts, along the last dimension.
      n: their sum; for other counts the result is -∞.
      p: the probabilities, along the last dimension.

    >>> import numpy as np
    >>> round(float(logpmf(np.array([1, 2]), 3, np.array([0.2, 0.8]))), 3)
    -0.957
    """
    x, p = floats("multinomial.logpmf", x, p)
    parts = ops.sub(ops.xlogy(x, p), ops.lgamma(ops.add(x, 1)))
    n, total = floats("multinomial.logpmf", n, ops.numpy_reduction.sum(x, axis=-1))
    log_probability = ops.add(ops.lgamma(ops.add(n, 1)), ops.numpy_reduction.sum(parts, axis=-1))
    return ops.where(ops.eq(total, n), log_probability, -math.inf)


@composed
def pmf(x: Any, n: Any, p: Any) -> Any:
    """Returns the probability of counts.

    >>> import numpy as np
    >>> round(float(pmf(np.array([1, 2]), 3, np.array([0.2, 0.8]))), 3)
    0.384
    """
    return ops.exp(logpmf(x, n, p))
