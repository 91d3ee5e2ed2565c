"""The greatest common divisor of integers, by Euclid's algorithm.

>>> gcd(np.array([12, 18]), 8)
array([4, 2])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.iteration import Iteration

__all__ = ["gcd", "gcd_p"]


def _start(x: Any, y: Any) -> tuple[Any, Any, Any]:
    divisor = np.abs(y)
    return divisor != 0, np.abs(x), divisor


def _step(active: Any, dividend: Any, divisor: Any) -> tuple[Any, Any, Any]:
    remainder = np.fmod(dividend, np.where(active, divisor, 1))
    dividend, divisor = np.where(active, divisor, dividend), np.where(active, remainder, divisor)
    return divisor != 0, dividend, divisor


_EUCLID = Iteration(_start, _step)


def _lower(ctx: Any, x: Any, y: Any) -> Any:
    _, dividend, _ = _EUCLID.lower(ctx, x, y)
    return ctx.hlo.abs(dividend) if ctx.avals_out[0].dtype.kind == "i" else dividend


gcd: Elementwise = elementwise(
    "gcd",
    """Returns the greatest common divisor elementwise, not negative; that of 0 and 0 is 0.

    >>> gcd(np.array([12, 0]), np.array([-18, 0]))
    array([6, 0])

    Source: ``numpy.gcd``.
    """,
    np.gcd,
    _lower,
    arity=2,
    kinds="iu",
    domain=(Interval(-100.0, 100.0),),
    commutes=True,
    associates=True,
)
gcd_p = gcd.primitive
