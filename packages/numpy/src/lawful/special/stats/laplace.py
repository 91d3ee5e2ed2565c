"""The Laplace distribution.

>>> from lawful.special.stats import laplace
>>> laplace.logpdf(0.0), laplace.cdf(0.0)
(np.float64(-0.6931471805599...), np.float64(0.5))

Source: ``scipy.stats.laplace``, ``jax.scipy.stats.laplace``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import standardized


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density, with mean ``loc``.

    >>> round(float(logpdf(0.5)), 3)
    -1.193
    """
    z, scale = standardized("laplace.logpdf", x, loc=loc, scale=scale)
    return ops.neg(ops.add(ops.add(ops.abs(z), math.log(2)), ops.log(scale)))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.303
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5)), 3)
    0.697
    """
    z, _ = standardized("laplace.cdf", x, loc=loc, scale=scale)
    half = ops.mul(ops.exp(ops.neg(ops.abs(z))), 0.5)
    return ops.where(ops.lt(z, 0), half, ops.sub(1, half))
