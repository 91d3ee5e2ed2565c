"""Python's divisions: true, floor and modulo, composed of primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import get_aval, is_inexact
from lawful.ops._elementwise.arithmetic.arithmetic import add, div, div_p, rem, round_nearest_even, sub
from lawful.ops._elementwise.arithmetic.signs import with_zero_of_sign
from lawful.ops._elementwise.comparison import bitwise_and, eq, lt, ne
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._support.dtypes import accumulation_dtype
from lawful.ops._support.eager import is_eager
from lawful.ops._support.promotion import convert, promote

__all__ = ["floor_divide", "remainder", "true_divide"]

true_divide = Elementwise(
    div_p,
    np.true_divide,
    np.true_divide,
    2,
    "Returns ``x / y`` elementwise; of integers a float, as NumPy.",
    example=("true_divide(np.array([1, 3]), 2)", "array([0.5, 1.5])"),
)


def remainder(x: Any, y: Any, /, *, operator: bool = False) -> Any:
    """Returns ``x % y`` with the sign of ``y``, as ``numpy.remainder``.

    >>> remainder(-7, 3), remainder(-7.5, 3.0)
    (np.int64(2), np.float64(1.5))
    """
    if not operator and is_eager(x, y):
        return np.remainder(x, y)
    x, y, dtype, weak = _operands("remainder", np.remainder, x, y, operator)
    return convert(_signed_remainder(x, y), dtype, weak)


def floor_divide(x: Any, y: Any, /, *, operator: bool = False) -> Any:
    """Returns the largest integer not above ``x / y``, as ``numpy.floor_divide``.

    >>> floor_divide(-7, 3), floor_divide(-7.5, 3.0)
    (np.int64(-3), np.float64(-3.0))
    """
    if not operator and is_eager(x, y):
        return np.floor_divide(x, y)
    x, y, dtype, weak = _operands("floor_divide", np.floor_divide, x, y, operator)
    r = rem(x, y)
    # x - r is a multiple of y up to rounding.
    quotient = div(sub(x, r), y)
    if is_inexact(dtype):
        quotient = round_nearest_even(quotient)
    quotient = where(_other_sign(r, y), sub(quotient, 1), quotient)
    if is_inexact(dtype):
        is_zero = eq(y, 0)
        infinite = div(x, where(is_zero, y, 1))  # elsewhere no quotient: its slope may overflow
        quotient = with_zero_of_sign(where(is_zero, infinite, quotient), div(x, y))
    return convert(quotient, dtype, weak)


def _operands(name: str, function: np.ufunc, x: Any, y: Any, operator: bool) -> tuple[Any, Any, np.dtype[Any], bool]:
    """Returns operands in the dtype to compute in, float32 for narrow floats; and the result's dtype and weakness."""
    x, y = promote(name, function, (x, y), operator=operator)
    aval = get_aval(x)
    weak = aval.weak_type and get_aval(y).weak_type
    wide = accumulation_dtype(aval.dtype)
    if wide != aval.dtype:
        x, y = convert(x, wide), convert(y, wide)
    return x, y, aval.dtype, weak


def _signed_remainder(x: Any, y: Any) -> Any:
    r = rem(x, y)
    r = where(_other_sign(r, y), add(r, y), r)
    return with_zero_of_sign(r, y) if is_inexact(get_aval(r).dtype) else r


def _other_sign(r: Any, y: Any) -> Any:
    """Returns where a remainder, which has the dividend's sign, does not have the divisor's."""
    return bitwise_and(ne(r, 0), ne(lt(r, 0), lt(y, 0)))
