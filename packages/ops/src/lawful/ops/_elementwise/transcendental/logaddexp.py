"""The logarithm of a sum of exponentials."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import min, mul, sub
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.hyperbolic import logistic

__all__ = ["logaddexp", "logaddexp_p"]


def lower_logaddexp(ctx: Any, x: Any, y: Any) -> Any:
    """Returns the logarithm of the sum of two exponentials as a value of HLO."""
    hlo = ctx.hlo
    difference = hlo.subtract(x, y)
    sums = hlo.add(hlo.maximum(x, y), hlo.log_plus_one(hlo.exponential(hlo.negate(hlo.abs(difference)))))
    # The difference of equal infinities is NaN.
    return hlo.select(ctx.compare(difference, difference, "NE"), hlo.add(x, y), sums)


@cache
def _largest(dtype: np.dtype[Any]) -> Any:
    return dtype.type(ml_dtypes.finfo(dtype).max)


def _share(x: Any, y: Any) -> Any:
    """Returns the derivative by ``x``; as in JAX it is 1 of equal infinities, and NaN of negative ones."""
    return logistic(sub(x, min(y, _largest(get_aval(y).dtype))))


logaddexp: Elementwise = elementwise(
    "logaddexp",
    """Returns ``log(exp(x) + exp(y))`` elementwise, promoted and broadcast as by ``numpy.logaddexp``, without overflow.

    >>> f"{logaddexp(1000.0, 1000.0):.10g}"
    '1000.693147'
    """,
    np.logaddexp,
    lower_logaddexp,
    arity=2,
    derivatives=(
        lambda t, ans, x, y: mul(t, _share(x, y)),
        lambda t, ans, x, y: mul(t, _share(y, x)),
    ),
    commutes=True,
)
logaddexp_p = logaddexp.primitive
