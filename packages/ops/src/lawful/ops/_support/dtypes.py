"""Dtypes: in which one sums and products accumulate, eagerly and compiled; extreme values; the kinds of an op."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import ArgumentTypeError, ShapedArray, is_float, kind


@cache
def accumulation_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype to add or multiply many numbers of ``dtype`` in: float32 for floats of fewer bits.

    A bfloat16 cannot even count to 257.
    """
    return np.dtype(np.float32) if is_float(dtype) and dtype.itemsize < 4 else dtype


@cache
def lowest(dtype: np.dtype[Any]) -> Any:
    """Returns the smallest value of a dtype: the unit of the maximum."""
    return _extreme(dtype, -1)


@cache
def highest(dtype: np.dtype[Any]) -> Any:
    """Returns the largest value of a dtype: the unit of the minimum."""
    return _extreme(dtype, 1)


def _extreme(dtype: np.dtype[Any], sign: int) -> Any:
    if dtype.kind == "b":
        return np.bool_(sign > 0)
    if dtype.kind == "c":
        return dtype.type(complex(sign * np.inf, sign * np.inf))
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return dtype.type(info.max if sign > 0 else info.min)
    with np.errstate(invalid="ignore", over="ignore"):
        infinity = np.asarray(sign * np.inf, np.float32).astype(dtype)[()]
    if np.isinf(infinity.astype(np.float32)):
        return infinity
    largest = ml_dtypes.finfo(dtype).max  # type: ignore[no-untyped-call]  # of a float8 without infinities
    return np.asarray(sign * float(largest)).astype(dtype)[()]


KIND_NAMES = {"b": "bool", "i": "integer", "u": "unsigned integer", "f": "floating", "c": "complex"}


def check_kind(name: str, aval: ShapedArray, kinds: str) -> None:
    """Raises ArgumentTypeError if an array's dtype is not of one of the kinds that an op is defined for."""
    if kind(aval.dtype) not in kinds:
        names = [KIND_NAMES[letter] for letter in kinds]
        raise ArgumentTypeError(
            f"{name}: expected an array of {', '.join(names[:-1])} or {names[-1]} dtype, got {aval}; "
            "convert with astype"
        )


@cache
def least_normal(dtype: np.dtype[Any]) -> float:
    """Returns the smallest positive number of a floating dtype that has all of its digits."""
    return float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]
