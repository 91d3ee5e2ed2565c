"""Dtypes by NumPy's names, and how they promote."""

from __future__ import annotations

import builtins
from typing import Any

import numpy
from lawful import core
from lawful.core import ArgumentValueError, as_dtype, get_aval, is_array, promote_dtypes
from lawful.ops import canonical_axis

bool = bool_ = numpy.bool
int8, int16, int32, int64 = numpy.int8, numpy.int16, numpy.int32, numpy.int64
uint8, uint16, uint32, uint64 = numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64
float16, float32, float64 = numpy.float16, numpy.float32, numpy.float64
bfloat16 = core.bfloat16.type
complex64, complex128 = numpy.complex64, numpy.complex128


def _operand(x: Any) -> tuple[numpy.dtype[Any], builtins.bool]:
    if isinstance(x, type | str | numpy.dtype):
        return as_dtype(x), False
    aval = get_aval(x)
    return aval.dtype, aval.weak_type


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """Returns the dtype to which arrays, numbers and dtypes are promoted together.

    Args:
      arrays_and_dtypes: arrays, Python numbers (which yield to the dtype of any array of their kind) and dtypes.

    Raises:
      ArgumentValueError: there are none.
      ArgumentTypeError: they have no common dtype.

    >>> result_type(numpy.zeros(3, "float32"), 1.0), result_type("bfloat16", numpy.int8)
    (dtype('float32'), dtype(bfloat16))

    Source: ``numpy.result_type``.
    """
    if not arrays_and_dtypes:
        raise ArgumentValueError("result_type: expected at least one array or dtype, got none; give one")
    return promote_dtypes(*map(_operand, arrays_and_dtypes))[0]


def promote_types(type1: Any, type2: Any) -> numpy.dtype[Any]:
    """Returns the smallest dtype to which both can be promoted.

    Raises:
      ArgumentTypeError: they have no common dtype.

    >>> promote_types("int8", "uint8")
    dtype('int16')

    Source: ``numpy.promote_types``.
    """
    return promote_dtypes((as_dtype(type1), False), (as_dtype(type2), False))[0]


def shape(a: Any) -> tuple[int, ...]:
    """Returns the lengths of an array's dimensions; of a number ``()``.

    >>> shape(numpy.zeros((2, 3))), shape(1.0)
    ((2, 3), ())
    """
    return get_aval(a).shape


def ndim(a: Any) -> int:
    """Returns the number of an array's dimensions.

    >>> ndim(numpy.zeros((2, 3)))
    2
    """
    return get_aval(a).ndim


def size(a: Any, axis: Any = None) -> int:
    """Returns the number of an array's elements, or the length of one dimension.

    Raises:
      AxisError: there is no such dimension.

    >>> size(numpy.zeros((2, 3))), size(numpy.zeros((2, 3)), axis=1)
    (6, 3)
    """
    aval = get_aval(a)
    return aval.size if axis is None else aval.shape[canonical_axis("size", axis, aval.ndim)]


def iscomplexobj(x: Any) -> builtins.bool:
    """Returns whether an array has a complex dtype, whatever its values are.

    >>> iscomplexobj(numpy.array([1.0])), iscomplexobj(1j)
    (False, True)
    """
    return is_array(x) and get_aval(x).dtype.kind == "c"


def isrealobj(x: Any) -> builtins.bool:
    """Returns whether an array has a dtype that is not complex.

    >>> isrealobj(numpy.array([1.0]))
    True
    """
    return not iscomplexobj(x)
