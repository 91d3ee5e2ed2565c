"""The von Mises distribution.

>>> from lawful.special.stats import vonmises
>>> vonmises.logpdf(0.0, 1.0)
np.float64(-1.0737...)

Source: ``scipy.stats.vonmises``, ``jax.scipy.stats.vonmises``.
"""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import composed, floats


@composed
def logpdf(x: Any, kappa: Any) -> Any:
    """Returns the logarithm of the density at an angle, with concentration ``kappa``: NaN if that is negative.

    >>> round(float(logpdf(0.5, 2.0)), 3)
    -0.907
    """
    x, kappa = floats("vonmises.logpdf", x, kappa)
    below = ops.lt(kappa, 0)
    size = ops.where(below, 1, kappa)
    # kappa (cos x - 1), without the loss of digits near 0.
    power = ops.mul(ops.mul(size, -2), ops.square(ops.sin(ops.mul(x, 0.5))))
    log_density = ops.sub(power, ops.add(ops.log(ops.bessel_i0e(size)), math.log(2 * math.pi)))
    return ops.where(below, math.nan, log_density)


@composed
def pdf(x: Any, kappa: Any) -> Any:
    """Returns the density.

    >>> round(float(pdf(0.5, 2.0)), 3)
    0.404
    """
    return ops.exp(logpdf(x, kappa))
