"""Elementwise functions that are no ufuncs: choosing, limiting and rounding."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, InvalidArgumentError, get_aval, is_inexact
from lawful.numpy._eager import PLAIN_TYPES, direct, eager

__all__ = ["where", "clip", "round", "around"]


# A Python integer takes the dtype of the other operand here.
@direct(numpy.where, arrays=3, types=PLAIN_TYPES - {int})
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Returns ``x`` where the condition holds and ``y`` elsewhere, promoted and broadcast together.

    Args:
      condition: an array of any dtype; what is not zero is true.
      x: an array or number.
      y: an array or number.

    Raises:
      ArgumentTypeError: there is no ``x`` or no ``y``. ``numpy.where(condition)`` has a shape that depends on values.
      ArgumentValueError: the shapes do not broadcast together.

    Both ``x`` and ``y`` are computed, and a derivative that is NaN where it was not chosen stays NaN: choose the
    argument of such a function, and not only its result.

    >>> where(numpy.array([True, False]), numpy.array([1.0, 2.0]), 0)
    array([1., 0.])

    Source: ``numpy.where``, ``jax.numpy.where``.
    """
    if x is None or y is None:
        raise ArgumentTypeError(
            "where: expected a condition and two arrays, got a condition only, whose result has a shape that depends "
            "on values; give both arrays, or use numpy.where outside of the transformation"
        )
    return ops.where(condition, x, y)


def _numpy_clip(a: Any, low: Any, high: Any) -> Any:
    if type(low) is float and type(high) is float and low < high:
        return numpy.minimum(numpy.maximum(a, low), high)
    raise TypeError(low, high)


@direct(_numpy_clip, most=3)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Returns the elements limited to an interval.

    Args:
      a: an array.
      a_min: the lower bound, an array or number; None for none.
      a_max: the upper bound; it wins where it is below the lower one.
      out: None only.
      min: another name of ``a_min``.
      max: another name of ``a_max``.

    Raises:
      ArgumentValueError: a bound is given under both names, or the shapes do not broadcast together.

    On a bound the derivative is shared equally between the array and the bound; where three are equal, the upper bound
    has all of it.

    >>> clip(numpy.array([-1.0, 0.5, 2.0]), 0, 1)
    array([0. , 0.5, 1. ])

    Source: ``numpy.clip``.
    """
    if out is not None:
        raise ArgumentTypeError("clip: expected no out=, got one: arrays are not overwritten; use the result")
    if (min is not None and a_min is not None) or (max is not None and a_max is not None):
        raise ArgumentValueError("clip: expected one lower and one upper bound, got two of one; leave one out")
    a, low, high = ops.clip_operands(a, a_min if min is None else min, a_max if max is None else max)
    if type(low) is float and type(high) is float and low != high:
        return _limited(a, low, high)
    limited = a
    if low is not None:
        limited = ops.max(limited, low)
    if high is not None:
        limited = ops.min(limited, high)
    if low is None and high is None:
        return ops.convert_element_type(a, get_aval(a).dtype)
    if low is None or high is None or _are_distinct_numbers(low, high):
        return limited
    # With equal bounds the result is the upper one, which gets the whole derivative.
    dtype = get_aval(limited).dtype
    if not is_inexact(dtype):
        return limited
    ends = [ops.convert_element_type(x, dtype) for x in (low, high)]  # which may be equal in a narrower dtype
    is_constant = ops.bitwise_and(ops.eq(*ends), ops.eq(a, ends[0]))
    return ops.where(is_constant, high, limited)


@ops.composite(arrays=3)
def _limited(a: Any, low: Any, high: Any) -> Any:
    return ops.min(ops.max(a, low), high)


def _are_distinct_numbers(low: Any, high: Any) -> bool:
    return isinstance(low, int | float) and isinstance(high, int | float) and low != high


def _numpy_round(a: Any, decimals: int = 0) -> Any:
    if decimals < 0 and numpy.asarray(a).dtype.kind in "iu":
        raise ValueError("NumPy rounds integers as float64")
    return numpy.round(a, decimals)


@eager(_numpy_round)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Returns the elements rounded to a number of decimals, halves to the even neighbour.

    Args:
      a: an array.
      decimals: how many digits to keep after the point, before it if negative.
      out: None only.

    Integers are rounded exactly. A result that does not fit their dtype wraps around, as that of a product does.

    >>> round(numpy.array([0.25, 1.75]), 1)
    array([0.2, 1.8])

    Source: ``numpy.round``.
    """
    aval = get_aval(a)
    a = ops.convert_element_type(a, aval.dtype)
    if aval.dtype.kind == "b":
        if decimals:
            raise InvalidArgumentError(
                f"round: expected numbers to round to {decimals} decimals, got {aval}; write a.astype(int)"
            )
        return ops.round_nearest_even(a)
    if not is_inexact(aval.dtype):
        return a if decimals >= 0 else ops.round_integer(a, -decimals)
    if aval.dtype.kind == "c":
        return ops.complex(_rounded(ops.real(a), decimals), _rounded(ops.imag(a), decimals))
    return ops.convert_element_type(_rounded(a, decimals), aval.dtype)


def _rounded(a: Any, decimals: int) -> Any:
    if decimals == 0:
        return ops.round_nearest_even(a)
    scale = float(10.0 ** numpy.abs(decimals))
    if decimals > 0:
        return ops.true_divide(ops.round_nearest_even(ops.mul(a, scale)), scale)
    return ops.mul(ops.round_nearest_even(ops.true_divide(a, scale)), scale)


around = round
