"""Python integers beyond int64, which take the dtype of the array that they meet."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lawful.core import IntegerOverflowError, get_aval, kind, shorten

__all__ = ["clip_bounds"]

#: The least integer that Python rounds to no float.
BEYOND_FLOATS: Final = 2**1024 - 2**970


def clip_bounds(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Returns the bounds between which ``numpy.clip`` limits an array, None for a Python integer beyond its dtype.

    >>> clip_bounds(np.int8([1, 2]), -5, 300)
    (-5, None)
    """
    dtype = get_aval(x).dtype
    if dtype.kind not in "iu":
        return low, high
    info = np.iinfo(dtype)
    return (
        None if type(low) is int and low < info.min else low,
        None if type(high) is int and high > info.max else high,
    )


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
