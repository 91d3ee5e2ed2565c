"""The chi-squared distribution.

>>> from lawful.special.stats import chi2
>>> chi2.cdf(2.0, 2.0), chi2.sf(2.0, 2.0)
(np.float64(0.6321205588285...), np.float64(0.3678794411714...))

Source: ``scipy.stats.chi2``, ``jax.scipy.stats.chi2``.
"""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats
from lawful.special.stats import gamma


@composed
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of the density with ``df`` degrees of freedom: -∞ below ``loc``.

    >>> round(float(logpdf(0.5, 3.0)), 3)
    -1.516
    """
    return gamma.logpdf(*_of_gamma("chi2.logpdf", x, df, loc, scale))


@composed
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 3.0)), 3)
    0.22
    """
    return gamma.pdf(*_of_gamma("chi2.pdf", x, df, loc, scale))


@composed
def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``.

    >>> round(float(cdf(0.5, 3.0)), 3)
    0.081
    """
    return gamma.cdf(*_of_gamma("chi2.cdf", x, df, loc, scale))


@composed
def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`.

    >>> round(float(logcdf(0.5, 3.0)), 3)
    -2.512
    """
    return gamma.logcdf(*_of_gamma("chi2.logcdf", x, df, loc, scale))


@composed
def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small.

    >>> round(float(sf(0.5, 3.0)), 3)
    0.919
    """
    return gamma.sf(*_of_gamma("chi2.sf", x, df, loc, scale))


@composed
def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`.

    >>> round(float(logsf(0.5, 3.0)), 3)
    -0.085
    """
    return gamma.logsf(*_of_gamma("chi2.logsf", x, df, loc, scale))


def _of_gamma(name: str, x: Any, df: Any, loc: Any, scale: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the arguments of the gamma distribution that it is."""
    x, df, loc, scale = floats(name, x, df, loc, scale, keep_scalars=True)
    return x, ops.mul(df, 0.5), loc, ops.mul(scale, 2)
