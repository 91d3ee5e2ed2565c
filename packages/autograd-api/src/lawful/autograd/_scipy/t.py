"""Student's t distribution, with its distribution function, which lawful has not."""

from __future__ import annotations

from typing import Any

import lawful.numpy as np
from lawful import special
from lawful.special.stats import t as density


def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of less than ``x``, with ``df`` degrees of freedom.

    >>> cdf(0.0, 3.0), cdf(1.0, 1.0)
    (array(0.5), array(0.75))
    """
    z = (np.asarray(x) - loc) / scale
    square = z * z
    # Near 0 the part between 0 and z is exact, elsewhere the tail. At 0 itself both have infinite factors.
    near, tiny = np.less(square, df), np.less(np.abs(z), 1e-100)
    inside = np.where(near & ~tiny, square, 0.5 * df)
    outside = np.where(near, 2.0 * df, square)
    middle = 0.5 + 0.5 * np.sign(z) * special.betainc(0.5, 0.5 * df, inside / (df + inside))
    tail = 0.5 * special.betainc(0.5 * df, 0.5, df / (df + outside))
    far = np.where(np.greater(z, 0.0), 1.0 - tail, tail)
    return np.where(tiny, 0.5 + z * density.pdf(0.0, df), np.where(near, middle, far))


def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the probability of more than ``x``, exact where that is small."""
    return cdf(-(np.asarray(x) - loc) / scale, df)


def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `cdf`."""
    return np.log(cdf(x, df, loc, scale))


def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """Returns the logarithm of `sf`."""
    return np.log(sf(x, df, loc, scale))


#: The functions by name.
functions = {
    "cdf": cdf, "sf": sf, "logcdf": logcdf, "logsf": logsf, "logpdf": density.logpdf, "pdf": density.pdf,
}  # fmt: skip
