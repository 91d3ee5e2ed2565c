"""Random numbers between two bounds in the tail of the normal distribution, where the error function rounds to 1.

With the survival function Q and the Mills ratio R(x) = Q(x) / Q'(x), the equation Q(a + t) / Q(a) = w becomes
t (a + t / 2) - log(R(a + t) / R(a)) = -log(w), in which nothing underflows.
"""

from __future__ import annotations

import math
from typing import Any, Final

import ml_dtypes
import numpy as np

from lawful import ops
from lawful.core import get_aval

# Enough for full precision in the tail.
_FRACTION_TERMS: Final = 16
_NEWTON_STEPS: Final = 3
#: exp(-x) is zero in every dtype for this x.
_NOTHING: Final = 800.0


def _border(dtype: np.dtype[Any]) -> Any:
    """Returns the start of the tail, where the error function has lost half of its digits."""
    eps = float(ml_dtypes.finfo(dtype).eps)
    return dtype.type(math.sqrt(-math.log(eps)))


def is_in_tail(low: Any, high: Any) -> Any:
    """Returns where both bounds are in the same tail, and in order."""
    border = _border(get_aval(low).dtype)
    far = ops.bitwise_or(ops.gt(low, border), ops.lt(high, -border))
    return ops.bitwise_and(far, ops.lt(low, high))


def normal_in_tail(between: Any, low: Any, high: Any) -> Any:
    """Returns numbers of the normal distribution between bounds in one tail.

    Args:
      between: uniform numbers between 0 and 1.
      low: the lower bound.
      high: the upper bound. Where the bounds are not in one tail, the result is finite and of no use.
    """
    dtype = get_aval(low).dtype
    border, one, half = _border(dtype), dtype.type(1), dtype.type(0.5)
    in_tail, is_upper = is_in_tail(low, high), ops.gt(low, dtype.type(0))
    near = ops.where(in_tail, ops.where(is_upper, low, ops.neg(high)), border)
    distance = ops.where(in_tail, ops.sub(high, low), one)
    mills = _mills_ratio(near)

    def log_survival(t: Any, mills_there: Any) -> Any:
        """The logarithm of Q(near + t) / Q(near)."""
        return ops.sub(ops.log(ops.div(mills_there, mills)), ops.mul(t, ops.add(near, ops.mul(t, half))))

    distance = ops.min(distance, ops.div(dtype.type(_NOTHING), near))
    whole = ops.expm1(log_survival(distance, _mills_ratio(ops.add(near, distance))))
    wanted = ops.log1p(ops.mul(between, whole))
    # Start from the solution for a constant Mills ratio.
    ratio = ops.div(ops.neg(wanted), near)
    two = dtype.type(2)
    t = ops.div(ops.mul(two, ratio), ops.add(one, ops.sqrt(ops.add(one, ops.div(ops.mul(two, ratio), near)))))
    # The Mills ratio is nearly constant. The derivative of the logarithm is -1 / R.
    for _ in range(_NEWTON_STEPS):
        there = _mills_ratio(ops.add(near, t))
        t = ops.add(t, ops.mul(ops.sub(log_survival(t, there), wanted), there))
    drawn = ops.add(near, t)
    return ops.where(is_upper, drawn, ops.neg(drawn))


def _mills_ratio(x: Any) -> Any:
    """Returns 1 / (x + 1 / (x + 2 / (x + 3 / ...)))."""
    dtype = get_aval(x).dtype
    value = x
    for k in reversed(range(1, _FRACTION_TERMS)):
        value = ops.add(x, ops.div(dtype.type(k), value))
    return ops.div(dtype.type(1), value)
