"""Python integers beyond int64, which take the dtype of the array that they meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful import ops
from lawful.core import IntegerOverflowError, ShapedArray, get_aval, kind, promote_dtypes, shorten, storage_dtypes

__all__ = ["clip_operands"]

#: The least integer that Python rounds to no float.
BEYOND_FLOATS: Final = 2**1024 - 2**970


def clip_operands(x: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Returns an array and the bounds between which ``numpy.clip`` limits it.

    A bound is None for a Python integer beyond the dtype of the array. With two bounds the array has the dtype to which
    all three are promoted: promotion is not associative.

    >>> clip_operands(np.int8([1, 2]), -5, 300)
    (array([1, 2], dtype=int8), -5, None)
    >>> clip_operands(np.int16([1, 2]), np.uint16(1), np.float32(2))
    (array([1., 2.], dtype=float32), np.uint16(1), np.float32(2.0))
    """
    aval = get_aval(x)
    if aval.dtype.kind in "iu":
        info = np.iinfo(aval.dtype)
        low = None if type(low) is int and low < info.min else low
        high = None if type(high) is int and high > info.max else high
    if low is None or high is None or (type(low) is type(high) is float):
        return x, low, high
    bounds = [(np.dtype(np.int64), True) if type(y) is int else _type(get_aval(y)) for y in (low, high)]
    dtype, _ = promote_dtypes(_type(aval), *bounds)
    return x if dtype == aval.dtype else ops.convert_element_type(x, dtype), low, high


def _type(aval: ShapedArray) -> tuple[np.dtype[Any], bool]:
    return aval.dtype, aval.weak_type


def fitting_integer(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns a Python integer beyond int64 as uint64 or float, by the dtype that it gets; other values unchanged.

    Raises:
      IntegerOverflowError: the dtype cannot hold it.
    """
    if type(x) is not int or -(2**63) <= x < 2**63:
        return x
    if kind(dtype) in "fc" and abs(x) < BEYOND_FLOATS:
        return float(x)
    require_fitting(x, dtype)
    return np.uint64(x) if dtype == np.uint64 else x


def converted_integer(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns a value as `fitting_integer`; a Python integer beyond int64 that becomes a boolean is true."""
    is_true = dtype.kind == "b" and type(x) is int and not -(2**63) <= x < 2**63
    return True if is_true else fitting_integer(x, dtype)


def require_fitting(x: int, dtype: np.dtype[Any]) -> None:
    """Raises IntegerOverflowError if an integer dtype cannot hold a Python integer."""
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
        expected = f"integer: expected a value that fits {dtype}"
        raise IntegerOverflowError(f"{expected}, got {shorten(x)}; convert the array first")


def without_narrowing(args: Sequence[Any], types: Sequence[tuple[Any, bool]]) -> list[tuple[Any, bool]]:
    """Returns the types of operands, with Python integers as int64 if they may not fit the integers beside them.

    NumPy compares ``-2 < uint8(3)`` by value, and so must a staged program, where the value is unknown. Integers of 2
    and 4 bits are compared as those of 8 bits.
    """
    types = [(storage_dtypes.get(dtype, dtype), weak) for dtype, weak in types]
    strong = [dtype for dtype, weak in types if not weak and dtype.kind in "iu"]
    if not strong:
        return types
    limits = np.iinfo(strong[0])
    return [
        (dtype, weak and not (dtype.kind == "i" and not (type(x) is int and limits.min <= x <= limits.max)))
        for x, (dtype, weak) in zip(args, types, strict=True)
    ]
