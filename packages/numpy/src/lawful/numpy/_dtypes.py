"""Dtypes by NumPy's names, their promotion and their limits."""

from __future__ import annotations

import builtins
import math
from typing import Any

import ml_dtypes

import numpy
from lawful import core
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    as_dtype,
    get_aval,
    is_array,
    is_inexact,
    kind,
    promote_dtypes,
    shorten,
    storage_dtypes,
)
from lawful.ops import canonical_axes

# fmt: off
__all__ = [
    "finfo", "iinfo", "bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "bfloat16", "complex64", "complex128", "result_type", "can_cast", "isdtype",
    "promote_types", "shape", "ndim", "size", "iscomplexobj", "isrealobj", "byte", "short", "intc", "int_", "intp",
    "ubyte", "ushort", "uintc", "uint", "uintp", "long", "ulong", "longlong", "ulonglong", "half", "single",
    "double", "csingle", "cdouble", "generic", "number", "integer", "inexact", "signedinteger", "unsignedinteger",
    "floating", "complexfloating", "common_type", "issubdtype",
]
# fmt: on

bool = bool_ = numpy.bool
int8, int16, int32, int64 = numpy.int8, numpy.int16, numpy.int32, numpy.int64
uint8, uint16, uint32, uint64 = numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64
float16, float32, float64 = numpy.float16, numpy.float32, numpy.float64
bfloat16 = core.bfloat16.type
complex64, complex128 = numpy.complex64, numpy.complex128

# Aliases, and the abstract classes of scalar types.
byte, short, intc, int_, intp = numpy.byte, numpy.short, numpy.intc, numpy.int_, numpy.intp
ubyte, ushort, uintc, uint, uintp = numpy.ubyte, numpy.ushort, numpy.uintc, numpy.uint, numpy.uintp
long, ulong, longlong, ulonglong = numpy.long, numpy.ulong, numpy.longlong, numpy.ulonglong
half, single, double, csingle, cdouble = numpy.half, numpy.single, numpy.double, numpy.csingle, numpy.cdouble
generic, number, integer, inexact = numpy.generic, numpy.number, numpy.integer, numpy.inexact
signedinteger, unsignedinteger = numpy.signedinteger, numpy.unsignedinteger
floating, complexfloating = numpy.floating, numpy.complexfloating


def _operand(x: Any) -> tuple[numpy.dtype[Any], builtins.bool]:
    if isinstance(x, type | str | numpy.dtype):
        return as_dtype(x), False
    if type(x) is int:
        return numpy.dtype(int_), True  # also beyond int64
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


def common_type(*arrays: Any) -> type:
    """Returns the floating type to which arrays are promoted together: of integers float64.

    Raises:
      ArgumentTypeError: one has booleans.

    >>> common_type(numpy.zeros(2, "float32"), numpy.array([1j], "complex64"))
    <class 'numpy.complex64'>

    Source: ``numpy.common_type``.
    """
    dtypes = []
    for x in arrays:
        dtype = get_aval(x).dtype
        if dtype.kind == "b":
            raise ArgumentTypeError(f"common_type: expected numbers, got {get_aval(x)}; convert with astype")
        dtypes.append(dtype if is_inexact(dtype) else numpy.dtype(numpy.float64))
    return promote_dtypes(*[(dtype, False) for dtype in (*dtypes, numpy.dtype(numpy.float16))])[0].type


def promote_types(type1: Any, type2: Any) -> numpy.dtype[Any]:
    """Returns the smallest dtype to which both can be promoted.

    Raises:
      ArgumentTypeError: they have no common dtype.

    >>> promote_types("int8", "uint8")
    dtype('int16')

    Source: ``numpy.promote_types``.
    """
    return promote_dtypes((as_dtype(type1), False), (as_dtype(type2), False))[0]


def can_cast(from_: Any, to: Any, casting: str = "safe") -> builtins.bool:
    """Returns whether every value of a dtype can be converted to another one.

    Args:
      from_: a dtype, or an array.
      to: a dtype.
      casting: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"`` or ``"unsafe"``: what counts as possible.

    Raises:
      ArgumentTypeError: ``from_`` is a Python number, which has no dtype.
      ArgumentValueError: there is no such ``casting``.

    >>> can_cast("int32", "float64"), can_cast(numpy.zeros(3), "float32")
    (True, False)

    Source: ``numpy.can_cast``.
    """
    dtype, is_weak = _operand(from_)
    if is_weak:
        raise ArgumentTypeError(f"can_cast: expected a dtype or an array, got {shorten(from_)}; give its dtype")
    try:
        return numpy.can_cast(dtype, as_dtype(to), casting)  # type: ignore[arg-type]
    except ValueError as error:
        raise ArgumentValueError(
            f"can_cast: expected casting 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', got {casting!r}; use one"
        ) from error


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Returns whether a dtype is another one, or of some kind.

    Args:
      dtype: a dtype.
      kind: a dtype; ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
        ``"complex floating"`` or ``"numeric"``; or a tuple of these, of which one has to fit.

    Raises:
      ArgumentValueError: there is no such kind.

    >>> isdtype(numpy.float32, "real floating"), isdtype(bfloat16, (float32, "integral"))
    (True, False)

    Source: ``numpy.isdtype``.
    """
    wanted = kind if isinstance(kind, tuple) else (kind,)
    return builtins.any([_is_of(as_dtype(dtype), one) for one in wanted])


def _is_of(dtype: numpy.dtype[Any], wanted: Any) -> builtins.bool:
    if not isinstance(wanted, str):
        return dtype == as_dtype(wanted)
    if wanted not in _KINDS:
        raise ArgumentValueError(
            f"isdtype: expected a dtype or one of {', '.join(map(repr, _KINDS))}, got {wanted!r}; give one of these"
        )
    letter = dtype.name[0] if dtype in storage_dtypes else kind(dtype)
    return letter in _KINDS[wanted]


def issubdtype(arg1: Any, arg2: Any) -> builtins.bool:
    """Whether a dtype is another one, or belongs to an abstract class of scalar types, such as `floating`.

    The floats and integers of ml_dtypes, such as bfloat16, belong to those classes, as they do in JAX.

    >>> issubdtype("float32", floating), issubdtype(bfloat16, floating), issubdtype(bfloat16, "float32")
    (True, True, False)

    Source: ``numpy.issubdtype``, where bfloat16 is no float; ``jax.numpy.issubdtype``.
    """
    if isinstance(arg1, type) and issubclass(arg1, numpy.generic) and arg1 in _ABSTRACT:
        return builtins.bool(numpy.issubdtype(arg1, arg2))
    dtype = numpy.dtype(arg1)
    category = _category(dtype)
    if category is None or (isinstance(arg2, type) and issubclass(arg2, numpy.generic) and arg2 not in _ABSTRACT):
        return builtins.bool(numpy.issubdtype(dtype, arg2))
    return issubclass(category, arg2) if arg2 in _ABSTRACT else dtype == numpy.dtype(arg2)


_ABSTRACT = (
    *(generic, number, inexact, floating, complexfloating, integer, signedinteger, unsignedinteger),
    *(numpy.flexible, numpy.character),
)


def _category(dtype: numpy.dtype[Any]) -> type | None:
    """Returns the abstract class of a dtype of ml_dtypes, which NumPy does not know; None for NumPy's dtypes."""
    if dtype.isbuiltin != 2:
        return None
    if "int" not in dtype.name:
        return floating
    return unsignedinteger if dtype.name.startswith("u") else signedinteger


def finfo(dtype: Any) -> Any:
    """Returns the limits of a floating dtype; of a complex one, those of its parts.

    Args:
      dtype: a dtype, or an array.

    Raises:
      ArgumentTypeError: it is not floating.

    >>> finfo("float32").eps, finfo(bfloat16).bits
    (np.float32(1.1920929e-07), 16)

    Source: ``numpy.finfo``.
    """
    found, _ = _operand(dtype)
    if not is_inexact(found):
        raise ArgumentTypeError(f"finfo: expected a floating dtype, got {found}; use iinfo for integers")
    of: Any = numpy.finfo if issubclass(found.type, numpy.inexact) else ml_dtypes.finfo
    return of(found)


def iinfo(int_type: Any) -> Any:
    """Returns the limits of an integer dtype.

    Args:
      int_type: a dtype, or an array.

    Raises:
      ArgumentTypeError: it is not one of integers.

    >>> iinfo("int8").min
    -128

    Source: ``numpy.iinfo``.
    """
    found, _ = _operand(int_type)
    if not issubdtype(found, integer):
        raise ArgumentTypeError(f"iinfo: expected an integer dtype, got {found}; use finfo for floats")
    return numpy.iinfo(found) if found.isbuiltin == 1 else ml_dtypes.iinfo(found)


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
    """Returns the number of an array's elements, or of those along some dimensions.

    Args:
      a: an array.
      axis: a dimension, or a tuple of them, whose lengths are multiplied; all of them if None.

    Raises:
      ArgumentTypeError: the dimensions are not integers.
      ArgumentValueError: one is repeated.
      AxisError: there is no such dimension.

    >>> size(numpy.zeros((2, 3))), size(numpy.zeros((2, 3)), axis=1), size(numpy.zeros((2, 3, 4)), axis=(0, 2))
    (6, 3, 8)

    Source: ``numpy.size``.
    """
    aval = get_aval(a)
    if axis is None:
        return aval.size
    return math.prod([aval.shape[dim] for dim in canonical_axes("size", axis, aval.ndim)])


def iscomplexobj(x: Any) -> builtins.bool:
    """Returns whether an array has a complex dtype, whatever its values are.

    >>> iscomplexobj(numpy.array([1.0])), iscomplexobj([1, 2j])
    (False, True)
    """
    if isinstance(x, list | tuple):
        return any(map(iscomplexobj, x))
    return is_array(x) and get_aval(x).dtype.kind == "c"


def isrealobj(x: Any) -> builtins.bool:
    """Returns whether an array has a dtype that is not complex.

    >>> isrealobj(numpy.array([1.0]))
    True
    """
    return not iscomplexobj(x)
