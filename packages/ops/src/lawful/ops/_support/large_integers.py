"""Python integers beyond int64, which take the dtype of the array that they meet."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lawful.core import IntegerOverflowError, kind, shorten

#: The least integer that Python rounds to no float.
BEYOND_FLOATS: Final = 2**1024 - 2**970


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


def require_fitting(x: int, dtype: np.dtype[Any]) -> None:
    """Raises IntegerOverflowError if an integer dtype cannot hold a Python integer."""
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
        expected = f"integer: expected a value that fits {dtype}"
        raise IntegerOverflowError(f"{expected}, got {shorten(x)}; convert the array first")
