"""Python integers that become arrays by themselves, and not beside other arrays: those beyond int64 are uint64."""

from __future__ import annotations

from typing import Any, Final

import numpy
from lawful.core import IntegerOverflowError, is_of_ml_dtypes, shorten

__all__ = ["GREATEST", "LEAST", "array_of_integer", "is_large", "not_fitting", "with_dtype", "with_large_integers"]

#: The ends of int64. NumPy converts a Python integer outside of them to uint64 or to an object.
LEAST: Final = -(2**63)
GREATEST: Final = 2**63 - 1


def array_of_integer(x: int, dtype: numpy.dtype[Any] | None) -> Any:
    """Returns the array of an integer, of int64 or uint64 unless a dtype is given.

    Raises:
      IntegerOverflowError: there is none.

    >>> array_of_integer(2**63, None)
    array(9223372036854775808, dtype=uint64)
    """
    try:
        result = with_large_integers(x, dtype)
    except OverflowError:
        result = None
    if result is None or result.dtype.kind == "O":
        raise not_fitting("a value", "fits", dtype, x)
    return result


def with_large_integers(values: Any, dtype: numpy.dtype[Any] | None) -> Any:
    """Returns ``numpy.array(values, dtype)``, also of integers beyond int64 in floats of ml_dtypes.

    >>> import ml_dtypes
    >>> with_large_integers([2**63, 1], numpy.dtype(ml_dtypes.bfloat16)).tolist()
    [9.223372036854776e+18, 1.0]
    """
    try:
        return numpy.array(values, dtype)
    except TypeError:
        if dtype is None or not is_of_ml_dtypes(dtype):
            raise
        return numpy.array(values, numpy.float64).astype(dtype)


def is_large(x: Any) -> bool:
    """Whether a value is a Python integer beyond int64.

    >>> is_large(2**63), is_large(-(2**63)), is_large(1e30)
    (True, False, False)
    """
    return type(x) is int and not LEAST <= x <= GREATEST


def with_dtype(x: Any) -> Any:
    """Returns a Python integer beyond int64 as NumPy's functions of arrays convert it, and anything else as it is.

    Raises:
      IntegerOverflowError: it does not fit 64 bits.

    >>> with_dtype(2**63), with_dtype(2)
    (np.uint64(9223372036854775808), 2)
    """
    return array_of_integer(x, None)[()] if is_large(x) else x


def not_fitting(expected: str, fits: str, dtype: numpy.dtype[Any] | None, got: Any) -> IntegerOverflowError:
    """Returns the error for what a dtype, or any of 64 bits, cannot hold.

    >>> not_fitting("a value", "fits", numpy.dtype("int8"), 300).message
    'array: expected a value that fits int8, got 300; use a wider dtype'
    """
    advice = "use a float" if dtype is None or dtype.itemsize >= 8 else "use a wider dtype"
    wanted = "64 bits" if dtype is None else str(dtype)
    return IntegerOverflowError(f"array: expected {expected} that {fits} {wanted}, got {shorten(got)}; {advice}")
