"""Python integers that become arrays by themselves, and not beside other arrays: those beyond int64 are uint64."""

from __future__ import annotations

from typing import Any, Final

import numpy
from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    IntegerOverflowError,
    Tracer,
    is_of_ml_dtypes,
    kind,
    shorten,
)

__all__ = [
    "GREATEST",
    "LEAST",
    "array_of_integer",
    "assigned",
    "is_large",
    "is_weak",
    "not_fitting",
    "with_dtype",
    "with_large_integers",
]

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


def is_weak(x: Any) -> bool:
    """Whether a value is the tracer of a Python number."""
    return isinstance(x, Tracer) and x.aval.weak_type


def assigned(name: str, x: Any, dtype: numpy.dtype[Any]) -> Any:
    """Returns a number in a dtype; where its value is known, as NumPy assigns it to an element.

    Raises:
      ArgumentTypeError: a complex Python number is to become a real one.
      ArgumentValueError: NaN is to become an integer.
      IntegerOverflowError: the dtype of integers cannot hold it.

    >>> assigned("max", 2.5, numpy.dtype(numpy.int8))
    array(2, dtype=int8)
    """
    if kind(dtype) not in "cb" and (type(x) is complex or (is_weak(x) and x.aval.dtype.kind == "c")):
        raise ArgumentTypeError(f"{name}: expected a real number for {dtype}, got {x}; take the real part")
    if dtype.kind not in "iu" or not isinstance(x, float | numpy.generic) or isinstance(x, numpy.complexfloating):
        return ops.convert_element_type(x, dtype)
    out = numpy.empty((), dtype)
    try:
        with numpy.errstate(invalid="ignore"):
            out[()] = x
    except ValueError:
        raise ArgumentValueError(f"{name}: expected a number for {dtype}, got {x}; convert the array first") from None
    except OverflowError:
        expected = f"{name}: expected a number that fits {dtype}"
        raise IntegerOverflowError(f"{expected}, got {x}; convert the array first") from None
    return out


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
