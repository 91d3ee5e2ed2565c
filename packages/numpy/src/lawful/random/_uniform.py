"""Random bits, uniform numbers and integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    InvalidArgumentError,
    Tracer,
    as_dtype,
    eval_trace,
    get_aval,
    is_float,
    set_current,
    to_numpy,
)
from lawful.random._keys import bits_of_64, require_key, shape_of, split


def bits(key: Any, shape: Any = (), dtype: Any = np.uint32) -> Any:
    """Returns random bits.

    Args:
      key: a key.
      shape: that of the result.
      dtype: an unsigned integer dtype.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is not unsigned.

    Law: the bits are those of ``jax.random.bits`` with its default settings.

    >>> from lawful.random import key
    >>> bits(key(0), (2,))
    array([4070199207, 4202968722], dtype=uint32)
    """
    dtype = as_dtype(np.uint32 if dtype is None else dtype)
    if dtype.kind != "u":
        raise InvalidArgumentError(f"bits: expected an unsigned integer dtype, got {dtype}; use 'uint32' or 'uint64'")
    wide = bits_of_64("bits", key, shape_of("bits", shape))
    if dtype.itemsize == 8:
        return wide
    # Combine both words, so that narrow dtypes use all of the randomness.
    high = ops.shift_right_logical(wide, np.uint64(32))
    return ops.convert_element_type(ops.bitwise_xor(high, wide), dtype)


def floating(name: str, dtype: Any) -> np.dtype[Any]:
    """Returns a real floating dtype.

    Raises:
      ArgumentTypeError: it is another one.
    """
    found = as_dtype(dtype)
    if not is_float(found):
        raise InvalidArgumentError(f"{name}: expected a real floating dtype, got {found}; use 'float64' or 'float32'")
    return found


def integral(name: str, dtype: Any) -> np.dtype[Any]:
    """Returns an integer dtype; int64 for None, which is the default in JAX.

    Raises:
      ArgumentTypeError: it is another one.
    """
    found = as_dtype(int if dtype is None else dtype)
    if found.kind not in "iu":
        raise ArgumentTypeError(f"{name}: expected an integer dtype, got {found}; use 'int64'")
    return found


def parameters(name: str, dtype: np.dtype[Any], *values: Any) -> list[Any]:
    """Returns the parameters of a distribution, numbers, arrays or lists of them, in a real floating dtype.

    Raises:
      ArgumentTypeError: one is complex.
    """
    found = [np.asarray(x) if isinstance(x, list | tuple) else x for x in values]
    for x in found:
        if get_aval(x).dtype.kind == "c":
            raise ArgumentTypeError(f"{name}: expected real parameters, got {get_aval(x)}; give the real part")
    converted = [ops.convert_element_type(x, dtype) for x in found]
    # Arrays, because the operators of a bfloat16 scalar give float32.
    return [x if isinstance(x, Tracer) else np.asarray(x) for x in converted]


def uniform(key: Any, shape: Any = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Returns numbers that are uniform between two bounds: the lower one is included, the upper one is not.

    Where the upper bound is not greater than the lower one, the lower one is returned.

    Args:
      key: a key.
      shape: that of the result.
      dtype: a real floating dtype.
      minval: the lower bound; broadcasts to the shape.
      maxval: the upper bound; broadcasts to the shape. The distance of the bounds may overflow the dtype.

    Raises:
      ArgumentTypeError: it is not a key, the dtype is not real and floating, or a bound is complex.

    Law: the numbers are those of ``jax.random.uniform`` for the same dtype.

    >>> from lawful.random import key
    >>> uniform(key(0), (2,), "float32")
    array([0.947667 , 0.9785799], dtype=float32)
    """
    require_key("uniform", key)
    shape, dtype = shape_of("uniform", shape), floating("uniform", dtype)
    width, mantissa = dtype.itemsize * 8, int(ml_dtypes.finfo(dtype).nmant)
    drawn = 8 if mantissa < 8 else width
    unsigned = np.dtype(f"uint{width}")
    # A random mantissa with the exponent of 1 is uniform between 1 and 2.
    random = ops.convert_element_type(bits(key, shape, f"uint{drawn}"), unsigned)
    one = np.ones((), dtype).view(unsigned)
    with_exponent = ops.bitwise_or(ops.shift_right_logical(random, unsigned.type(drawn - mantissa)), one[()])
    between = ops.sub(ops.bitcast_convert_type(with_exponent, dtype), dtype.type(1))
    low, high = parameters("uniform", dtype, minval, maxval)
    if may_hold(_is_too_wide, dtype, minval, maxval):
        # The distance of the bounds overflows: draw at half of the scale, which is exact.
        scale = ops.where(_is_too_wide(low, high), dtype.type(0.5), dtype.type(1))
        start, stop = ops.mul(low, scale), ops.mul(high, scale)
        drawn = ops.max(low, ops.div(ops.add(ops.mul(between, ops.sub(stop, start)), start), scale))
    else:
        drawn = ops.max(low, ops.add(ops.mul(between, ops.sub(high, low)), low))
    if not may_hold(_may_be_reached, dtype, minval, maxval):
        return drawn
    # Rounding must not give the upper bound.
    is_above = ops.bitwise_and(ops.ge(drawn, high), ops.lt(low, high))
    return ops.where(is_above, ops.nextafter(high, low), drawn)


def may_hold(condition: Callable[..., Any], dtype: np.dtype[Any], *bounds: Any) -> bool:
    """Whether a condition of bounds, converted to a dtype, may hold anywhere: it is known unless a bound is traced."""
    if any(isinstance(bound, Tracer) for bound in bounds):
        return True
    with np.errstate(over="ignore"), set_current(eval_trace):
        return bool(np.any(condition(*[np.asarray(to_numpy(bound)).astype(dtype) for bound in bounds])))


def _is_too_wide(low: Any, high: Any) -> Any:
    """Whether the distance of two finite bounds overflows."""
    dtype = get_aval(low).dtype
    half, most = dtype.type(0.5), float(ml_dtypes.finfo(dtype).max)
    distance = ops.sub(ops.mul(high, half), ops.mul(low, half))
    return ops.gt(ops.abs(distance), dtype.type(most / 2))


def _may_be_reached(low: Any, high: Any) -> Any:
    """Whether the largest number drawn may be rounded to the upper bound, also where a product is fused with a sum."""
    info = ml_dtypes.finfo(get_aval(low).dtype)
    largest = ops.add(ops.mul(ops.sub(high, low), ops.sub(1, info.eps)), low)
    second = ops.nextafter(ops.nextafter(high, low), low)
    is_rounded = ops.bitwise_or(ops.ne(low, 0), ops.lt(high, info.tiny))  # elsewhere it is exact, or a product
    return ops.bitwise_and(ops.lt(low, high), ops.bitwise_and(is_rounded, ops.gt(largest, second)))


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = int) -> Any:
    """Returns integers that are uniform between two bounds, the lower one included.

    Args:
      key: a key.
      shape: that of the result.
      minval: the lower bound; broadcasts to the shape.
      maxval: the upper bound, which may be one more than the dtype's largest; where it is not greater than the lower
        one, the lower one is returned.
      dtype: an integer dtype.

    Raises:
      ArgumentTypeError: it is not a key, the dtype or a bound is not of integers.

    Law: the integers are those of ``jax.random.randint`` for the same dtype.

    >>> from lawful.random import key
    >>> randint(key(0), (5,), 0, 10)
    array([5, 1, 5, 7, 3])
    """
    require_key("randint", key)
    shape, dtype = shape_of("randint", shape), integral("randint", dtype)
    for bound in (minval, maxval):
        # A Python integer is clipped to the range of the dtype.
        if type(bound) is not int and get_aval(bound).dtype.kind not in "iu":
            raise ArgumentTypeError(f"randint: expected integer bounds, got {get_aval(bound)}; round them")
    if dtype.itemsize < 4:  # from 32 bits, so that the bias of the remainder is small
        limits = np.iinfo(dtype)
        low, high = _clipped(minval, limits.min, limits.max), _clipped(maxval, limits.min, limits.max + 1)
        return ops.convert_element_type(_integers(key, shape, low, high, np.dtype(np.int32)), dtype)
    return _integers(key, shape, minval, maxval, dtype)


def _integers(key: Any, shape: tuple[int, ...], minval: Any, maxval: Any, dtype: np.dtype[Any]) -> Any:
    """Returns integers of at least 32 bits."""
    limits = np.iinfo(dtype)
    beyond = _is_beyond(maxval, dtype)
    low, high = (
        dtype.type(bound) if type(bound) is int else ops.convert_element_type(bound, dtype)
        for bound in (_clipped(bound, limits.min, limits.max) for bound in (minval, maxval))
    )
    unsigned = np.dtype(f"uint{dtype.itemsize * 8}")
    is_empty = ops.le(high, low)
    span = ops.convert_element_type(ops.sub(high, low), unsigned)
    span = ops.where(is_empty, unsigned.type(1), ops.add(span, ops.convert_element_type(beyond, unsigned)))
    upper_key, lower_key = split(key)
    upper, lower = (bits(half, shape, unsigned) for half in (upper_key, lower_key))
    # The remainder of a number with twice as many bits; its upper half has the factor 2 ** width.
    half = _remainder(unsigned.type(2 ** (unsigned.itemsize * 4)), span)
    weight = _remainder(ops.mul(half, half), span)
    offset = ops.add(ops.mul(_remainder(upper, span), weight), _remainder(lower, span))
    offset = _remainder(offset, span)
    return ops.add(low, ops.convert_element_type(offset, dtype))


def _remainder(number: Any, span: Any) -> Any:
    """Returns the remainder by a span of integers; a span of 0 means all integers, and changes nothing."""
    return ops.where(ops.eq(span, 0), number, ops.rem(number, ops.max(span, 1)))


def _is_beyond(bound: Any, dtype: np.dtype[Any]) -> Any:
    largest = np.iinfo(dtype).max
    if isinstance(bound, int):
        return np.bool_(bound > largest)
    if np.iinfo(get_aval(bound).dtype).max <= largest:
        return np.zeros((), bool)[()]
    return ops.gt(bound, get_aval(bound).dtype.type(largest))


def _clipped(bound: Any, least: int, most: int) -> Any:
    """Returns a bound in its own dtype, clipped to the part of [least, most] that the dtype can represent."""
    if isinstance(bound, int):
        return min(max(bound, least), most)
    info = np.iinfo(get_aval(bound).dtype)
    scalar = info.dtype.type
    return ops.clamp(scalar(max(least, info.min)), bound, scalar(min(most, info.max)))
