"""The derivatives of a real power, of any order in its base and its exponent, each as one primitive.

The factors of a product of powers may overflow or underflow where the derivative does not: the derivative of
``x ** 0`` by its base is 0, but its factor ``x ** -1`` is infinite for the smallest ``x``.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import Choose, Interval, Primitive, of_numpy
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.double import lowered

__all__ = ["pow_derivative_p"]


def _derivative(x: Any, y: Any, *, by_base: int, by_exponent: int) -> Any:
    """Returns a factor times ``x ** (y - m)``, divided by ``x ** (by_base - m)``.

    The factor is near 0 where ``y`` is near an integer ``m`` below ``by_base``; there the power is finite.
    """
    factor = _factor(x, y, by_base, by_exponent)
    moved = np.where(y > -0.5, np.minimum(np.maximum(np.rint(y), 0.0), by_base), by_base)
    moved = np.where((x != 0) & (np.abs(x) < np.inf), moved, by_base)
    out = _power(x, y, moved, by_base)
    if by_exponent:
        out = factor * out
    else:  # one by one, as their product may overflow
        for k in range(by_base):
            out = (y - k if k else y) * out
    for k in range(by_base):
        out = np.where(moved <= k, out / x, out)
    # At 0 the power is constant in x if y is 0, a polynomial if y is whole, and taken as constant in y if y >= 0.
    is_zero = (factor == 0) & (np.abs(x) < np.inf) & ((x != 0) | (y >= 0))
    if by_exponent:
        is_zero = is_zero | ((x == 0) & (y >= 0))
    return np.where(is_zero, 0.0, out)


def _power(x: Any, y: Any, moved: Any, by_base: int) -> Any:
    """Returns ``x ** (y - moved)``, where the parity of a large ``y`` counts: ``y - moved`` may be rounded.

    Args:
      x: the base.
      y: the exponent.
      moved: an integer; it is ``by_base`` where ``y`` is large.
      by_base: the order of the derivative.
    """
    is_rounded = (x < 0) & (np.abs(y) >= _first_whole(x.dtype)) & (np.abs(y) < np.inf)
    out = np.power(np.where(is_rounded, -x, x), y - moved)
    return np.where(is_rounded & (np.fmod(np.abs(y), 2.0) != by_base % 2), -out, out)


@cache
def _first_whole(dtype: np.dtype[Any]) -> float:
    """Returns the least number from which all floats of a dtype are integers."""
    return 1 / float(ml_dtypes.finfo(dtype).eps)


def _factor(x: Any, y: Any, by_base: int, by_exponent: int) -> Any:
    """Returns the factor of ``x ** (y - by_base)``, where the logarithm of 0 counts as 0."""
    total = None
    logarithm = np.log(np.where(x == 0, 1.0, x)) if by_exponent else None
    for k in range(min(by_base, by_exponent) + 1):
        term = _falling_factorial(y, by_base, k) * math.comb(by_exponent, k)
        for _ in range(by_exponent - k):
            term = term * logarithm
        total = term if total is None else total + term
    return total


def _falling_factorial(y: Any, count: int, order: int) -> Any:
    """Returns the derivative of an order of ``y (y - 1) ... (y - count + 1)``."""
    if order == 0:
        return math.prod([y - m if m else y for m in range(count)])
    first, *rest = np.polyder(np.poly(range(count)), order).tolist()
    total = first
    for coefficient in rest:
        total = total * y + coefficient
    return total


@of_numpy
def _numpy_derivative(x: Any, y: Any, *, by_base: int, by_exponent: int) -> Any:
    dtype = np.result_type(x, y)
    with np.errstate(all="ignore"):
        if not by_base or not by_exponent:  # the common case
            factor = _falling_factorial(y, by_base, 0) if by_base else np.log(x) ** by_exponent
            out = factor * np.power(x, y - by_base if by_base else y)
            if np.isfinite(out).all() and (not by_base or np.abs(y).max(initial=0) < _first_whole(dtype)):
                return out.astype(dtype, copy=False)
        x, y = np.asarray(x, dtype), np.asarray(y, dtype)
        return _derivative(x, y, by_base=by_base, by_exponent=by_exponent).astype(dtype)[()]


def _next_by_base(t: Any, ans: Any, x: Any, y: Any, *, by_base: int, by_exponent: int) -> Any:
    return mul(t, pow_derivative_p.bind(x, y, by_base=by_base + 1, by_exponent=by_exponent))


def _next_by_exponent(t: Any, ans: Any, x: Any, y: Any, *, by_base: int, by_exponent: int) -> Any:
    return mul(t, pow_derivative_p.bind(x, y, by_base=by_base, by_exponent=by_exponent + 1))


def _sample_params(choose: Choose) -> dict[str, Any]:
    by_base = choose.integer(0, 2)
    return {"by_base": by_base, "by_exponent": choose.integer(0 if by_base else 1, 2)}


pow_derivative_p: Primitive = elementwise(
    "pow_derivative",
    "",
    _numpy_derivative,
    lowered(_derivative),
    arity=2,
    promote_as=np.arctan2,
    derivatives=(_next_by_base, _next_by_exponent),
    domain=(Interval(0.3, 2.0), Interval()),
    params=_sample_params,
).primitive
