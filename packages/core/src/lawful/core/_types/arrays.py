"""The types of arrays: NumPy's arrays and scalars, Python numbers, tracers, and registered types.

>>> get_aval(np.zeros((2, 3), "int8")), get_aval(1.5)
(ShapedArray(i8[2,3]), ShapedArray(~f64[]))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy import ndarray

from lawful.core._errors import ArgumentTypeError, IntegerOverflowError, NonArrayError, NonNumberError, shorten
from lawful.core._types.aval import MOST_DIMENSIONS, ShapedArray, recent_avals
from lawful.core._types.dtypes import python_scalar_dtype, storage_dtypes, supported_dtypes
from lawful.tree.base import public_caller, register_scalar_type

AvalOf = Callable[[Any], ShapedArray]
ToNumpy = Callable[[Any], Any]

# Functions that return the aval of a value, and its NumPy form, by the value's Python type.
_aval_of: dict[type, AvalOf] = {}
_to_numpy: dict[type, ToNumpy] = {}

python_scalar_types: Final = frozenset((bool, int, float, complex))

register_scalar_type(np.generic, lambda x: (x.dtype, x.tobytes()))


def register_array_type(cls: type, *, aval: AvalOf, to_numpy: ToNumpy | None = None) -> None:
    """Makes instances of ``cls`` arrays for every op and transformation.

    Args:
      cls: the type; subclasses are not included.
      aval: gives the :class:`ShapedArray` of an instance.
      to_numpy: gives its value as a NumPy array or scalar, without a copy where that is possible. None for a
        tracer, which has no value.

    >>> class Celsius:
    ...     degrees = np.array([20.0, 25.0])
    >>> register_array_type(Celsius, aval=lambda x: get_aval(x.degrees), to_numpy=lambda x: x.degrees)
    >>> get_aval(Celsius()), to_numpy(Celsius())
    (ShapedArray(f64[2]), array([20., 25.]))
    """
    _aval_of[cls] = aval
    if to_numpy is not None:
        _to_numpy[cls] = to_numpy


def _array_aval(x: Any) -> ShapedArray:
    try:
        return recent_avals[x.shape, x.dtype, False]  # 2× faster than the constructor
    except KeyError:
        pass
    return ShapedArray(x.shape, x.dtype)


def _itself(x: Any) -> Any:
    return x


def _native(x: Any) -> Any:
    """Returns an array in this machine's byte order."""
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _int64(x: int) -> int:
    if not -(2**63) <= x < 2**63:
        raise IntegerOverflowError(
            f"integer: expected a value that fits int64, got {shorten(x)}; use a float, or numpy.uint64 up to 2**64 - 1"
        )
    return x


_WEAK_AVALS = {cls: ShapedArray((), python_scalar_dtype(cls), weak_type=True) for cls in python_scalar_types}


def _int_aval(x: int) -> ShapedArray:
    _int64(x)
    return _WEAK_AVALS[int]


def _register_python_scalars() -> None:
    for cls, aval in _WEAK_AVALS.items():
        register_array_type(cls, aval=lambda _, aval=aval: aval, to_numpy=_itself)  # type: ignore[misc]
    register_array_type(int, aval=_int_aval, to_numpy=_int64)


_register_python_scalars()
register_array_type(np.ndarray, aval=_array_aval, to_numpy=_native)


def _register_numpy_scalars() -> None:
    for dtype in (*supported_dtypes, *storage_dtypes):
        scalar = ShapedArray((), dtype)
        register_array_type(dtype.type, aval=lambda _, aval=scalar: aval, to_numpy=_itself)  # type: ignore[misc]


_register_numpy_scalars()


def _adopt(x: Any) -> AvalOf:
    """Registers a type seen for the first time, if its values are arrays; raises NonArrayError if not."""
    cls = type(x)
    # `np.ma` would import masked arrays, which costs as much as a package of lawful.
    masked = sys.modules.get("numpy.ma")
    if isinstance(x, np.matrix) or (masked is not None and isinstance(x, masked.MaskedArray)):
        raise NonNumberError(f"array: expected a plain array, got {cls.__name__}; convert it with numpy.asarray")
    if isinstance(x, np.generic | np.ndarray):
        register_array_type(cls, aval=_array_aval, to_numpy=_native)
    elif isinstance(x, bool | int | float | complex):
        base = next(base for base in (bool, int, float, complex) if isinstance(x, base))
        register_array_type(cls, aval=_aval_of[base], to_numpy=base)
    else:
        raise NonArrayError(_explain_non_array(x))
    return _aval_of[cls]


def _explain_non_array(x: Any) -> str:
    if isinstance(x, list | tuple) and (shape := _shape_of_rows(x)) is not None:
        name, given = public_caller() or "array", f"{type(x).__name__} {shorten(x)}"
        if not shape:
            return f"{name}: expected an array or number, got the ragged {given}; make its rows equally long"
        try:
            is_array = np.asarray(x).dtype.kind != "O"
        except (TypeError, ValueError):
            return (
                f"{name}: expected an array or number, got the {type(x).__name__} of tracers {shorten(x)}; "
                "make an array of it by lawful.numpy.array([...])"
            )
        if is_array:
            return (
                f"{name}: expected an array or number, got the {given}; "
                "convert it with numpy.asarray or lawful.numpy.asarray"
            )
    return (
        f"array: expected an array or number, got {shorten(x)} of type {type(x).__name__}; "
        "convert it to an array, or mark it static (static_argnums of jit) if it is a setting"
    )


def _shape_of_rows(x: Any, depth: int = 0) -> tuple[int, ...] | None:
    """Returns the shape of the array of a nested list, () if its rows have several, or None if it has other values."""
    if depth > MOST_DIMENSIONS:
        return None
    if not isinstance(x, list | tuple):
        try:
            return get_aval(x).shape
        except (TypeError, ValueError):
            return None
    shapes: set[tuple[int, ...]] = set()
    for row in x:
        if (shape := _shape_of_rows(row, depth + 1)) is None:
            return None
        shapes.add(shape)
    is_ragged = len(shapes) > 1 or (() in shapes and any(isinstance(row, list | tuple) for row in x))
    return () if is_ragged else (len(x), *(shapes.pop() if shapes else ()))


def get_aval(x: Any) -> ShapedArray:
    """Returns the type of an array, number or tracer.

    Raises:
      NonArrayError: ``x`` is none of these.

    >>> get_aval(np.zeros((2, 3), "int8")), get_aval(1.5)
    (ShapedArray(i8[2,3]), ShapedArray(~f64[]))
    """
    try:
        return _aval_of[type(x)](x)
    except KeyError:  # an error that is raised here would show this one as its context
        pass
    return _adopt(x)(x)


def avals_of(values: Sequence[Any]) -> tuple[ShapedArray, ...]:
    """Returns the types of arrays, numbers or tracers. It is 2× faster than `get_aval` for each.

    Raises:
      NonArrayError: one is none of these.

    >>> avals_of([np.zeros((2, 3), "int8"), 1.5])
    (ShapedArray(i8[2,3]), ShapedArray(~f64[]))
    """
    try:
        return tuple(
            [recent_avals[x.shape, x.dtype, False] if type(x) is ndarray else _aval_of[type(x)](x) for x in values]
        )
    except KeyError:  # the first value of a type
        pass
    return tuple([get_aval(x) for x in values])


def as_float(x: Any) -> float | None:
    """Returns the float that can replace a Python number among floating numbers; None if there is none.

    A float replaces itself. An integer is replaced by an equal float: both are rounded to the same number of any dtype.

    >>> as_float(3), as_float(0.5), as_float(2**60), as_float(np.float64(0.5))
    (3.0, 0.5, None, None)
    """
    if type(x) is float:
        return x
    return float(x) if type(x) is int and -(2**53) <= x <= 2**53 else None


#: The types whose values are known to be arrays.
array_types = _aval_of.keys()


def is_array(x: Any) -> bool:
    """Whether ``x`` is an array, number or tracer: something that ops take.

    >>> is_array(2.0), is_array(np.zeros(2)), is_array([2.0])
    (True, True, False)
    """
    if type(x) in _aval_of:
        return True
    try:
        _adopt(x)
    except NonArrayError:
        return False
    return True


def as_bool(name: str, argument: str, value: object) -> bool:
    """Returns the value of a switch, which must be True or False: ``"no"`` would count as yes.

    Args:
      name: of the function that has the switch, for messages.
      argument: the switch.
      value: its value.

    Raises:
      ArgumentTypeError: it is something else.

    >>> as_bool("jit", "inline", np.True_)
    True
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    cure = f"write {name}(), with parentheses" if callable(value) else "pass one of them"
    raise ArgumentTypeError(f"{name}: expected True or False as {argument}, got {shorten(value)}; {cure}")


def to_numpy(x: Any) -> Any:
    """Returns the concrete value ``x`` as a NumPy array or scalar, or a Python scalar as it is.

    Raises:
      NonArrayError: ``x`` is not an array, or a tracer, which has no value.

    >>> to_numpy(np.array([1.0, 2.0])), to_numpy(2.0)
    (array([1., 2.]), 2.0)
    """
    convert = _to_numpy.get(type(x))
    if convert is None:
        _adopt(x)
        convert = _to_numpy[type(x)]
    return convert(x)
