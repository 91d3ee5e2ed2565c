"""The logistic distribution.

>>> from lawful.special.stats import logistic
>>> logistic.logpdf(0.0), logistic.cdf(0.0), logistic.ppf(0.5)
(np.float64(-1.3862943611198...), np.float64(0.5), np.float64(0.0))

Source: ``scipy.stats.logistic``, ``jax.scipy.stats.logistic``.
"""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.special._arguments import composed
from lawful.special.stats._standardized import probability, scaled, standardized


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density, with mean ``loc``.

    >>> round(float(logpdf(0.5)), 3)
    -1.448
    """
    z, scale = standardized("logistic.logpdf", x, loc=loc, scale=scale)
    # -log(1 + exp(-z)) - log(1 + exp(z))
    logs = ops.add(ops.logaddexp(ops.neg(z), 0), ops.logaddexp(z, 0))
    return ops.neg(ops.add(logs, ops.log(scale)))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.235
    """
    return ops.exp(logpdf(x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5)), 3)
    0.622
    """
    return ops.logistic(standardized("logistic.cdf", x, loc=loc, scale=scale)[0])


@composed
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5)), 3)
    0.378
    """
    return ops.logistic(ops.neg(standardized("logistic.sf", x, loc=loc, scale=scale)[0]))


@composed
def ppf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``x``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25)), 3)
    -1.099
    """
    return scaled("logistic.ppf", _logit(probability("logistic.ppf", x, loc, scale)), loc, scale)


@composed
def isf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number above which the probability is ``x``: NaN outside of 0 to 1.

    >>> round(float(isf(0.25)), 3)
    1.099
    """
    return scaled("logistic.isf", ops.neg(_logit(probability("logistic.isf", x, loc, scale))), loc, scale)


def _logit(q: Any) -> Any:
    return ops.sub(ops.log(q), ops.log1p(ops.neg(q)))
