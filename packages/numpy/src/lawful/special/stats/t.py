"""Student's t distribution.

>>> from lawful.special.stats import t
>>> t.pdf(0.0, 1.0)
np.float64(0.318309886183...)

Source: ``scipy.stats.t``, ``jax.scipy.stats.t``.
"""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import standardized


@composed
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density with ``df`` degrees of freedom.

    >>> round(float(logpdf(0.5, 3.0)), 3)
    -1.161
    """
    z, df, scale = standardized("t.logpdf", x, df, loc=loc, scale=scale)
    half = ops.mul(df, 0.5)
    # The density is divided by the square root of π, which is gamma(1/2).
    norm = ops.add(ops.add(ops.betaln(half, 0.5), ops.mul(ops.log(df), 0.5)), ops.log(scale))
    return ops.neg(ops.add(norm, ops.mul(ops.add(half, 0.5), ops.log1p(ops.div(ops.square(z), df)))))


@composed
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 3.0)), 3)
    0.313
    """
    return ops.exp(logpdf(x, df, loc, scale))
