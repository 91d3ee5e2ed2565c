"""Dtypes: accumulation of sums and products, extreme values, and checks of dtype kinds."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np

from lawful.core import ArgumentTypeError, ShapedArray, is_float, kind, require_arithmetic, storage_dtypes

#: The complex dtype of a real part, and the reverse.
COMPLEX_OF: Final[dict[np.dtype[Any], np.dtype[Any]]] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}
REAL_OF: Final[dict[np.dtype[Any], np.dtype[Any]]] = {of: dtype for dtype, of in COMPLEX_OF.items()}


@cache
def accumulation_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype to add or multiply many numbers of ``dtype`` in: float32 for floats of fewer bits.

    A sum of ones in bfloat16 stops at 256.
    """
    return np.dtype(np.float32) if is_float(dtype) and dtype.itemsize < 4 else dtype


@cache
def lowest(dtype: np.dtype[Any]) -> Any:
    """Returns the smallest value of a dtype: the identity element of the maximum."""
    return _extreme(dtype, -1)


@cache
def highest(dtype: np.dtype[Any]) -> Any:
    """Returns the largest value of a dtype: the identity element of the minimum."""
    return _extreme(dtype, 1)


def _extreme(dtype: np.dtype[Any], sign: int) -> Any:
    if dtype.kind == "b":
        return np.bool_(sign > 0)
    if dtype.kind == "c":
        return dtype.type(complex(sign * np.inf, sign * np.inf))
    if dtype.kind in "iu" or dtype in storage_dtypes:
        info: Any = ml_dtypes.iinfo(dtype)
        return dtype.type(info.max if sign > 0 else info.min)
    with np.errstate(invalid="ignore", over="ignore"):
        infinity = np.asarray(sign * np.inf, np.float32).astype(dtype)[()]
    if np.isinf(infinity.astype(np.float32)):
        return infinity
    largest = ml_dtypes.finfo(dtype).max  # of a float8 without infinities
    return np.asarray(sign * float(largest)).astype(dtype)[()]


KIND_NAMES = {
    "b": "bool",
    "i": "integer",
    "u": "unsigned integer",
    "f": "floating",
    "c": "complex",
    "V": "small integer",
}


def check_kind(name: str, aval: ShapedArray, kinds: str) -> None:
    """Raises ArgumentTypeError if an array's dtype kind is not one that an op is defined for."""
    if kind(aval.dtype) not in kinds:
        require_arithmetic(name, aval.dtype)
        names = [KIND_NAMES[letter] for letter in kinds]
        raise ArgumentTypeError(
            f"{name}: expected an array of {', '.join(names[:-1])} or {names[-1]} dtype, got {aval}; "
            "convert with astype"
        )


@cache
def least_normal(dtype: np.dtype[Any]) -> float:
    """Returns the smallest positive normal number of a floating dtype."""
    return float(ml_dtypes.finfo(dtype).smallest_normal)
