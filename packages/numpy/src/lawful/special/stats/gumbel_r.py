"""The Gumbel distribution with a long right tail: that of negated numbers of the one with a long left tail.

>>> from lawful.special.stats import gumbel_r
>>> gumbel_r.logpdf(0.0), gumbel_r.cdf(0.0), gumbel_r.ppf(0.5)
(np.float64(-1.0), np.float64(0.36787944117144...), np.float64(0.3665129205816...))

Source: ``scipy.stats.gumbel_r``, ``jax.scipy.stats.gumbel_r``.
"""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats import gumbel_l
from lawful.special.stats._standardized import probability, scaled


@composed
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density, with mode ``loc``.

    >>> round(float(logpdf(0.5)), 3)
    -1.107
    """
    return gumbel_l.logpdf(*_negated("gumbel_r.logpdf", x, loc, scale))


@composed
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5)), 3)
    0.331
    """
    return gumbel_l.pdf(*_negated("gumbel_r.pdf", x, loc, scale))


@composed
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, exact where that is small.

    >>> round(float(cdf(0.5)), 3)
    0.545
    """
    return gumbel_l.sf(*_negated("gumbel_r.cdf", x, loc, scale))


@composed
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`, exact where that is small.

    >>> round(float(logcdf(0.5)), 3)
    -0.607
    """
    return gumbel_l.logsf(*_negated("gumbel_r.logcdf", x, loc, scale))


@composed
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5)), 3)
    0.455
    """
    return gumbel_l.cdf(*_negated("gumbel_r.sf", x, loc, scale))


@composed
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`, exact where that is small.

    >>> round(float(logsf(0.5)), 3)
    -0.788
    """
    return gumbel_l.logcdf(*_negated("gumbel_r.logsf", x, loc, scale))


@composed
def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the number below which the probability is ``p``: NaN outside of 0 to 1.

    >>> round(float(ppf(0.25)), 3)
    -0.327
    """
    p = probability("gumbel_r.ppf", p, loc, scale)
    return scaled("gumbel_r.ppf", ops.neg(ops.log(ops.neg(ops.log(p)))), loc, scale)


def _negated(name: str, x: Any, loc: Any, scale: Any) -> tuple[Any, Any, Any]:
    x, loc, scale = floats(name, x, loc, scale, keep_scalars=True)
    return ops.neg(x), ops.neg(loc), scale
