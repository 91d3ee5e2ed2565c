"""The Dirichlet distribution.

>>> import numpy
>>> from lawful.special.stats import dirichlet
>>> dirichlet.pdf(numpy.array([0.5, 0.5]), numpy.ones(2))
np.float64(1.0)

Source: ``scipy.stats.dirichlet``, ``jax.scipy.stats.dirichlet``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.special._arguments import composed, inexact

# How far a sum of shares may be from 1.
_TOLERANCE = 1e-6


@composed
def logpdf(x: Any, alpha: Any) -> Any:
    """Returns the logarithm of the density.

    Args:
      x: shares, along the first dimension: of shape (n, ...), or (n - 1, ...) without the last share.
      alpha: the exponents, of shape (n,).

    Raises:
      ArgumentValueError: the shapes do not fit.

    Where shares are not positive, or their sum is not 1, it is -∞.

    >>> import numpy as np
    >>> round(float(logpdf(np.array([0.2, 0.8]), np.array([2.0, 3.0]))), 3)
    0.429
    """
    x, alpha = inexact("dirichlet.logpdf", x), inexact("dirichlet.logpdf", alpha)
    shape, exponents = get_aval(x).shape, get_aval(alpha).shape
    if len(exponents) != 1 or not shape or shape[0] not in (exponents[0], exponents[0] - 1):
        raise ArgumentValueError(
            f"dirichlet.logpdf: expected alpha of shape (n,) and x of shape (n, ...) or (n - 1, ...), got {exponents} "
            f"and {shape}; give one exponent for each share"
        )
    if shape[0] != exponents[0]:
        last = ops.sub(1, ops.numpy_reduction.sum(x, axis=0, keepdims=True))
        x = ops.concatenate([x, last], 0)
    positive, total = ops.gt(x, 0), ops.numpy_reduction.sum(x, axis=0)
    is_share = ops.bitwise_and(
        ops.numpy_reduction.all(positive, axis=0), ops.lt(ops.abs(ops.sub(total, 1)), _TOLERANCE)
    )
    powers = ops.xlogy(ops.reshape(ops.sub(alpha, 1), (*exponents, *[1] * (len(shape) - 1))), ops.where(positive, x, 1))
    # The logarithm of the beta function of many numbers, of which gamma functions would cancel.
    totals = ops.cumsum(alpha, 0)
    norm = ops.numpy_reduction.sum(ops.betaln(totals[:-1], alpha[1:]))
    return ops.where(is_share, ops.sub(ops.numpy_reduction.sum(powers, axis=0), norm), -math.inf)


@composed
def pdf(x: Any, alpha: Any) -> Any:
    """Returns the density.

    >>> import numpy as np
    >>> round(float(pdf(np.array([0.2, 0.8]), np.array([2.0, 3.0]))), 3)
    1.536
    """
    return ops.exp(logpdf(x, alpha))
