"""Creation of arrays. It is recorded too when a program is recorded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    MOST_DIMENSIONS,
    ArgumentValueError,
    NonArrayError,
    NonNumberError,
    Tracer,
    as_dtype,
    check_device,
    current,
    get_aval,
    is_array,
    placed,
    shorten,
    storage_dtypes,
)
from lawful.numpy._eager import ARRAY_TYPES, PLAIN_TYPES, direct
from lawful.numpy._integers import array_of_integer, is_large, not_fitting, with_large_integers
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.joining import stack
from lawful.ops import static_integers

# fmt: off
__all__ = [
    "array", "asarray", "copy", "astype", "full", "zeros", "ones", "empty", "full_like", "zeros_like", "ones_like",
    "empty_like", "from_dlpack",
]
# fmt: on

_FLOAT = numpy.dtype(numpy.float64)

# From values


# NumPy gives objects for integers beyond 64 bits.
@direct(numpy.array, sequence=True, types=PLAIN_TYPES, results=ARRAY_TYPES)
def array(object: Any, dtype: Any = None, *, copy: bool = True, device: Any = None) -> Any:
    """Returns an array of given values: the only function, with :func:`asarray`, that takes lists.

    Args:
      object: an array, a number, something that has the buffer protocol, a range, or nested lists or tuples of arrays
        and numbers, which may be traced.
      dtype: the dtype of the result; by default the one that the values are promoted to.
      copy: whether a NumPy array is copied.
      device: ``"cpu"``, or the device of an array; None for where the values are.

    Raises:
      ArgumentValueError: the lists are ragged, or there is no such device.
      NonArrayError: there is something in them that is no number.

    >>> array([[1, 2], [3, 4]], "float32")
    array([[1., 2.],
           [3., 4.]], dtype=float32)

    Source: ``numpy.array``.
    """
    return placed("array", _array(object, None if dtype is None else as_dtype(dtype), copy), device)


def _array(object: Any, dtype: numpy.dtype[Any] | None, copy: bool) -> Any:
    if isinstance(object, list | tuple):
        return _of_sequence(object, dtype)
    if type(object) is int:
        return array_of_integer(object, dtype)
    if type(object) is range:
        return _of_values(object, dtype)
    if isinstance(object, Tracer):
        return ops.convert_element_type(object, get_aval(object).dtype if dtype is None else dtype)
    if not is_array(object):
        object = _foreign(object)
    aval = get_aval(object)
    if dtype in storage_dtypes or aval.dtype in storage_dtypes:  # NumPy converts some of them only
        object = ops.convert_element_type(object, aval.dtype if dtype is None else dtype)
    if type(object) is numpy.ndarray or isinstance(object, bool | int | float | complex | numpy.generic):
        return numpy.array(object, aval.dtype if dtype is None else dtype, copy=copy or None)
    return ops.convert_element_type(object, aval.dtype if dtype is None else dtype)


def _foreign(x: Any) -> Any:
    """Returns an object with ``__array__`` or the buffer protocol as an array, any other object unchanged.

    An object with ``__jax_array__`` is replaced by the result of that method, which may be a tracer.
    """
    if hasattr(type(x), "__jax_array__"):
        return x.__jax_array__()
    if hasattr(x, "__array__"):
        return numpy.asarray(x)
    with suppress(TypeError):
        return numpy.asarray(memoryview(x))
    return x


def _of_sequence(values: list[Any] | tuple[Any, ...], dtype: numpy.dtype[Any] | None) -> Any:
    leaves = _leaves(values)
    if type(None) in map(type, leaves):  # NumPy converts None to NaN if a dtype is given
        raise NonNumberError(
            f"array: expected numbers, got None in {shorten(values)}; give a number, such as nan, in its place"
        )
    if not any(isinstance(x, Tracer) for x in leaves):
        return _of_values(values, dtype)
    parts = [_array(x, dtype, False) for x in values]
    shapes = [get_aval(x).shape for x in parts]
    if len(set(shapes)) > 1:
        raise ArgumentValueError(
            f"array: expected values of one shape in a list, got {', '.join(map(str, shapes))}; "
            "make the rows equally long"
        )
    return stack(parts)


def _of_values(values: Any, dtype: numpy.dtype[Any] | None) -> Any:
    """Returns a range, or nested lists without tracers, as an array."""
    try:
        result = with_large_integers(values, dtype)
    except (TypeError, ValueError) as error:
        raise _explain(values, error) from error
    except OverflowError as error:
        raise not_fitting("values", "fit", dtype, values) from error
    if result.dtype.kind == "O" and any(map(is_large, _leaves([*values]))):
        raise not_fitting("values", "fit", dtype, values)
    get_aval(result)  # raises for strings and objects
    return result


def _leaves(values: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Returns what is in nested lists, level by level: they may be nested more deeply than Python's stack."""
    leaves: list[Any] = []
    level: list[Any] = [*values]
    for _ in range(MOST_DIMENSIONS):
        lists = [x for x in level if isinstance(x, list | tuple)]
        leaves += level if not lists else [x for x in level if not isinstance(x, list | tuple)]
        if not lists:
            return leaves
        level = [x for row in lists for x in row]
    raise ArgumentValueError(
        f"array: expected lists nested at most {MOST_DIMENSIONS} deep, got more levels in {shorten(values)}; "
        "arrays have no more dimensions: flatten the lists"
    )


def _explain(values: Any, error: Exception) -> ArgumentValueError | NonArrayError:
    if isinstance(error, ValueError):
        return ArgumentValueError(
            f"array: expected equally long rows of numbers, got {shorten(values)}; make the rows equally long, and "
            f"every element a number (NumPy: {error})"
        )
    return NonArrayError(f"array: expected numbers, got {shorten(values)}; {error}")


@direct(numpy.asarray)
def asarray(a: Any, dtype: Any = None, *, copy: bool | None = None, device: Any = None) -> Any:
    """Returns a value as an array: itself where it is one of that dtype; else as :func:`array`.

    Args:
      a: a value as for :func:`array`.
      dtype: the dtype of the result.
      copy: True for a copy in any case, False for an error where one would have to be made.
      device: ``"cpu"``, or the device of an array; None for where the values are.

    Raises:
      ArgumentValueError: ``copy`` is False, and the values are no array of that dtype on that device.

    >>> asarray([1, 2])
    array([1, 2])

    Source: ``numpy.asarray``.
    """
    result = array(a, dtype, copy=bool(copy), device=device)
    is_view = result is a or (isinstance(result, numpy.ndarray) and numpy.may_share_memory(result, a))
    if copy is False and not is_view:
        raise ArgumentValueError(
            f"asarray: expected with copy=False an array that is {get_aval(result)} already, got "
            f"{type(a).__name__}; leave out copy=False"
        )
    return result


@direct(numpy.array)
def copy(a: Any) -> Any:
    """Returns a copy of an array; a tracer is immutable, so that it is its own copy.

    >>> copy(numpy.ones(2))
    array([1., 1.])
    """
    return array(a)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Returns an array converted to a dtype; of a complex one that becomes real, the real part.

    Args:
      x: an array.
      dtype: a dtype or its name.
      copy: whether a NumPy array that has the dtype is copied.
      device: ``"cpu"``, or the device of an array; None for where the array is.

    >>> astype(numpy.array([1.5, 2.5]), "int32")
    array([1, 2], dtype=int32)

    Source: ``numpy.astype``.
    """
    converted = ops.convert_element_type(x, dtype)
    return placed("astype", array(x) if copy and converted is x else converted, device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Returns the array of another library, which has the dlpack protocol: a NumPy array, without a copy if it can be.

    Args:
      x: an array with ``__dlpack__`` and ``__dlpack_device__``.
      device: ``"cpu"``, also of an array that is elsewhere; the device of an array; None for where it is.
      copy: True for a copy in any case, False for an error where one would have to be made.

    Raises:
      BufferError: NumPy cannot read the array; ``lawful.xla_backend.from_dlpack`` may.
      TracerArrayConversionError: it is traced: it is an array of lawful already.

    >>> from_dlpack(numpy.arange(3))
    array([0, 1, 2])

    Source: ``numpy.from_dlpack``.
    """
    check_device("from_dlpack", device)
    options: dict[str, Any] = {} if copy is None else {"copy": copy}
    if isinstance(device, str):
        options["device"] = device
    return placed("from_dlpack", numpy.from_dlpack(x, **options), device)


# Constant arrays


def _numpy_full(shape: Any, fill_value: Any) -> Any:
    if type(fill_value) is float:
        filled = numpy.empty(shape)
    elif type(fill_value) is int:
        filled = numpy.empty(shape, numpy.int64)
    else:
        raise TypeError(fill_value)
    filled.fill(fill_value)
    return filled


@direct(_numpy_full, arrays=0, most=2)
def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns an array of one value.

    Args:
      shape: an integer, or a tuple of integers.
      fill_value: a number, or an array that is broadcast to the shape.
      dtype: the dtype of the result; by default that of the value.
      device: ``"cpu"``, or the device of an array.

    Raises:
      ArgumentValueError: the value does not broadcast to the shape, or there is no such device.

    >>> full((2, 2), 7)
    array([[7, 7],
           [7, 7]])

    Source: ``numpy.full``.
    """
    if is_large(fill_value):
        fill_value = array_of_integer(fill_value, None if dtype is None else as_dtype(dtype))[()]
    aval = get_aval(fill_value)
    if not aval.shape:
        return placed("full", ops.full(shape, fill_value, dtype), device)
    value = ops.convert_element_type(fill_value, aval.dtype if dtype is None else dtype)
    return placed("full", copy(broadcast_to(value, static_integers("full", "the shape", shape))), device)


def _repeated(eager: Callable[..., Any], value: int, shape: Any, dtype: Any, device: Any) -> Any:
    dtype = _FLOAT if dtype is None else as_dtype(dtype)
    if current.trace.evaluates_constants:
        try:
            return placed(eager.__name__, eager(shape, dtype), device)
        except (TypeError, ValueError):
            pass  # full raises the error
    return full(shape, value, dtype, device=device)


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns an array of zeros; arguments are those of :func:`full`, the dtype float64 by default.

    >>> zeros(2)
    array([0., 0.])
    """
    return _repeated(numpy.zeros, 0, shape, dtype, device)


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns an array of ones; arguments are those of :func:`full`, the dtype float64 by default.

    >>> ones((1, 2), "int8")
    array([[1, 1]], dtype=int8)
    """
    return _repeated(numpy.ones, 1, shape, dtype, device)


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns an array of zeros: nothing is left to chance.

    >>> empty(2)
    array([0., 0.])
    """
    return zeros(shape, dtype, device=device)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """Returns an array of one value, of the shape and dtype of another array unless others are given.

    >>> full_like(numpy.zeros(2, "float32"), 7)
    array([7., 7.], dtype=float32)

    Source: ``numpy.full_like``.
    """
    aval = get_aval(a)
    dtype = aval.dtype if dtype is None else dtype
    return full(aval.shape if shape is None else shape, fill_value, dtype, device=device)


@direct(lambda a: numpy.zeros(a.shape, a.dtype))
def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """Returns zeros of the shape and dtype of another array, unless others are given.

    >>> zeros_like(numpy.ones(2, "int8"))
    array([0, 0], dtype=int8)
    """
    return full_like(a, 0, dtype, shape=shape, device=device)


@direct(lambda a: numpy.ones(a.shape, a.dtype))
def ones_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """Returns ones of the shape and dtype of another array, unless others are given.

    >>> ones_like(numpy.zeros(2, "int8"))
    array([1, 1], dtype=int8)
    """
    return full_like(a, 1, dtype, shape=shape, device=device)


def empty_like(prototype: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    """Returns zeros of the shape and dtype of another array, as :func:`zeros_like`.

    >>> empty_like(numpy.ones(2))
    array([0., 0.])
    """
    return zeros_like(prototype, dtype, shape=shape, device=device)
