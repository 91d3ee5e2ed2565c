"""JAX's functions of dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy

from lawful import numpy as lawful_numpy
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, get_aval, is_of_ml_dtypes, supported_dtypes

issubdtype, finfo, iinfo = lawful_numpy.issubdtype, lawful_numpy.finfo, lawful_numpy.iinfo
TypePromotionError = ArgumentTypeError


class extended(numpy.generic):
    """The abstract type of dtypes that are not numbers: no array has it.

    >>> issubclass(prng_key, extended)
    True
    """


class prng_key(extended):
    """The abstract type of keys: here they are arrays of two words, and no array has it.

    >>> issubclass(prng_key, numpy.number)
    False
    """


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> numpy.dtype[Any]:
    """Returns a dtype: types are x64 always, so it is itself.

    >>> canonicalize_dtype("float64")
    dtype('float64')
    """
    return as_dtype(dtype)


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Returns the dtype of an operation between arrays, by NumPy's promotion.

    >>> result_type(1.0, numpy.float32(2))
    dtype('float32')
    """
    dtype = lawful_numpy.result_type(*args)
    return (dtype, all(type(x) in (bool, int, float, complex) for x in args)) if return_weak_type_flag else dtype


def itemsize_bits(dtype: Any) -> int:
    """Returns the number of bits of an element.

    >>> itemsize_bits("float32")
    32
    """
    if dtype is None:
        raise ArgumentValueError("itemsize_bits: expected a dtype, got None; name one")
    dtype = numpy.dtype(dtype)
    if dtype.isbuiltin != 2:
        return int(dtype.itemsize) * 8
    limits: Any = ml_dtypes.iinfo if "int" in dtype.name else ml_dtypes.finfo
    return int(limits(dtype).bits)


def scalar_type_of(x: Any) -> type:
    """Returns the Python type of the elements: bool, int, float or complex.

    >>> scalar_type_of(1.5)
    <class 'float'>
    """
    dtype = lawful_numpy.result_type(x)
    kinds: dict[str, type] = {"b": bool, "i": int, "u": int, "c": complex}
    return kinds.get(dtype.kind, int if "int" in dtype.name else float)


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays of a dtype can be exchanged with other libraries.

    >>> is_supported_dtype("float32"), is_supported_dtype(bfloat16)
    (True, False)
    """
    return numpy.dtype(dtype) in supported_dtypes and not is_of_ml_dtypes(numpy.dtype(dtype))


def dtype_of(x: Any) -> numpy.dtype[Any]:
    """Returns the dtype of an array, number or tracer; that which is named by a dtype or a class of scalars.

    >>> dtype_of(1.5)
    dtype('float64')
    """
    return as_dtype(x) if isinstance(x, type | numpy.dtype) else get_aval(x).dtype


bfloat16 = ml_dtypes.bfloat16
