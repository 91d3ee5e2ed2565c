"""``round``: to the nearest integer, where ties go one way or the other."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, Interval
from lawful.ops._elementwise.arithmetic.arithmetic import round_nearest_even
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise

__all__ = ["RoundingMethod", "round", "round_nearest_away", "round_nearest_away_p"]


class RoundingMethod(IntEnum):
    """The rounding of numbers half-way between two integers. Source: ``jax.lax.RoundingMethod``.

    >>> round(2.5, RoundingMethod.AWAY_FROM_ZERO), round(2.5, RoundingMethod.TO_NEAREST_EVEN)
    (np.float64(3.0), np.float64(2.0))
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def _numpy_away(x: Any) -> Any:
    whole = np.trunc(x)
    with np.errstate(invalid="ignore"):  # infinity has no fraction
        goes_away = np.abs(np.subtract(x, whole)) >= 0.5
    return whole + np.copysign(goes_away.astype(whole.dtype), whole)


round_nearest_away: Elementwise = elementwise(
    "round_nearest_away",
    "Returns the integer nearest to ``x``, of two the one that is further from zero.",
    _numpy_away,
    "round_nearest_afz",
    promote_as=np.cbrt,  # of real numbers only, unlike rint
    domain=(Interval(0.6, 1.4),),
    example=("round_nearest_away(np.array([0.5, -1.5]))", "array([ 1., -2.])"),
)
round_nearest_away_p = round_nearest_away.primitive


def round(x: Any, rounding_method: RoundingMethod | int = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Returns the integer nearest to ``x``, as a number of its dtype.

    Args:
      x: floating.
      rounding_method: where a number half-way between two integers goes.

    Raises:
      ArgumentValueError: there is no such method.

    Source: ``jax.lax.round``.

    >>> round(-2.5), round(-2.5, RoundingMethod.TO_NEAREST_EVEN)
    (np.float64(-3.0), np.float64(-2.0))
    """
    if rounding_method not in tuple(RoundingMethod):
        raise ArgumentValueError(
            f"round: expected a rounding_method of RoundingMethod, got {rounding_method!r}; give AWAY_FROM_ZERO or "
            "TO_NEAREST_EVEN"
        )
    is_even = rounding_method == RoundingMethod.TO_NEAREST_EVEN
    return round_nearest_even(x) if is_even else round_nearest_away(x)
