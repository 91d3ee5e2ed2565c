"""Elementwise functions made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import abs, add, div, mul, rem, sign, sub
from lawful.ops._elementwise.comparison import bitwise_and, gt, shift_right_arithmetic, shift_right_logical
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._support.promotion import promote

__all__ = ["mulhi", "one_minus_square", "polynomial", "round_integer"]


def mulhi(x: Any, y: Any) -> Any:
    """Returns the upper half of the product of integers, which has twice as many bits.

    >>> mulhi(np.uint8(200), np.uint8(200)), mulhi(np.int64(2**62), np.int64(8))
    (np.uint8(156), np.int64(2))

    Raises:
      ArgumentTypeError: they are not integers.

    Source: ``jax.lax.mulhi``; of 64 bits by products of halves, as in Warren, "Hacker's Delight", 8-2.
    """
    x, y = promote("mulhi", None, (x, y))
    dtype = get_aval(x).dtype
    if dtype.kind not in "iu":
        raise ArgumentTypeError(f"mulhi: expected integers, got {get_aval(x)}; convert them")
    bits = dtype.itemsize * 8
    shift = shift_right_arithmetic if dtype.kind == "i" else shift_right_logical
    if bits < 64:
        wide = np.dtype(f"{dtype.kind}{dtype.itemsize * 2}")
        product = mul(convert_element_type(x, wide), convert_element_type(y, wide))
        return convert_element_type(shift(product, wide.type(bits)), dtype)
    half, low = dtype.type(32), dtype.type(2**32 - 1)
    x_low, x_high, y_low, y_high = bitwise_and(x, low), shift(x, half), bitwise_and(y, low), shift(y, half)
    carry = shift_right_logical(mul(x_low, y_low), half)
    middle = add(mul(x_high, y_low), carry)
    other = add(mul(x_low, y_high), bitwise_and(middle, low))
    return add(add(mul(x_high, y_high), shift(middle, half)), shift(other, half))


def one_minus_square(x: Any) -> Any:
    """Returns ``1 - x**2`` as ``(1 + x) * (1 - x)``, exact near -1 and 1.

    >>> one_minus_square(0.5)
    np.float64(0.75)

    Source: ``jax.lax.one_minus_square``.
    """
    (x,) = promote("one_minus_square", None, (x,))
    return mul(add(x, 1), sub(1, x))


def polynomial(x: Any, coeffs: Sequence[Any], *, unroll: int | None = None) -> Any:
    """Returns the value of a polynomial by Horner's rule.

    Args:
      x: an array.
      coeffs: the coefficients, the constant one first.
      unroll: has no effect.

    >>> polynomial(2.0, [1.0, 0.0, 3.0])
    np.float64(13.0)

    Source: ``jax.lax.polynomial``.
    """
    (x,) = promote("polynomial", None, (x,))
    value = mul(x, 0)
    for i in reversed(range(len(coeffs))):
        value = add(mul(value, x), coeffs[i])
    return value


#: Less than half of ``10**20`` fits 64 bits.
_MOST_DIGITS = 19


def round_integer(x: Any, digits: int) -> Any:
    """Returns integers rounded to multiples of ``10**digits``, halves to the even multiple.

    The result is exact. One that does not fit the dtype wraps around, as that of a product does.

    Raises:
      ArgumentTypeError: they are not integers.

    >>> round_integer(np.array([-25, 35, 9007199254740995]), 1)
    array([             -20,               40, 9007199254741000])
    >>> round_integer(np.int8(127), 1)
    np.int8(-126)
    """
    dtype = get_aval(x).dtype
    if dtype.kind not in "iu":
        raise ArgumentTypeError(f"round_integer: expected integers, got {get_aval(x)}; convert them")
    if digits > _MOST_DIGITS:
        return mul(x, dtype.type(0))
    scale, half = np.uint64(10**digits), np.uint64(10**digits // 2)
    size = abs(convert_element_type(x, np.int64)) if dtype.kind == "i" else x
    size = convert_element_type(size, np.uint64)  # also that of the least int64
    count, rest = div(size, scale), rem(size, scale)
    is_up = gt(add(rest, bitwise_and(count, np.uint64(1))), half)  # a half of an even count is not
    out = convert_element_type(mul(add(count, convert_element_type(is_up, np.uint64)), scale), dtype)
    return mul(out, sign(x)) if dtype.kind == "i" else out
