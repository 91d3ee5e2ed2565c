"""Making arrays. Under a transformation that records programs these are recorded too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, NonArrayError, Tracer, as_dtype, current, get_aval, is_array
from lawful.numpy._broadcasting import broadcast_to
from lawful.numpy._joining import stack
from lawful.ops import static_integers

_FLOAT = numpy.dtype(numpy.float64)

# From values


def array(object: Any, dtype: Any = None, *, copy: bool = True) -> Any:
    """Returns an array of given values: the only function, with :func:`asarray`, that takes lists.

    Args:
      object: an array, number, or nested lists or tuples of them, which may be traced.
      dtype: the dtype of the result; by default the one that the values are promoted to.
      copy: whether a NumPy array is copied.

    Raises:
      ArgumentValueError: the lists are ragged.
      NonArrayError: there is something in them that is no number.

    >>> array([[1, 2], [3, 4]], "float32")
    array([[1., 2.],
           [3., 4.]], dtype=float32)

    Source: ``numpy.array``.
    """
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(object, list | tuple):
        return _of_sequence(object, dtype)
    if isinstance(object, Tracer):
        return ops.convert_element_type(object, get_aval(object).dtype if dtype is None else dtype)
    if not is_array(object) and hasattr(object, "__array__"):
        object = numpy.asarray(object)
    aval = get_aval(object)
    if type(object) is numpy.ndarray or isinstance(object, bool | int | float | complex | numpy.generic):
        return numpy.array(object, aval.dtype if dtype is None else dtype, copy=copy or None)
    return ops.convert_element_type(object, aval.dtype if dtype is None else dtype)


def _of_sequence(values: list[Any] | tuple[Any, ...], dtype: numpy.dtype[Any] | None) -> Any:
    if not any(isinstance(x, Tracer) for x in _leaves(values)):
        try:
            result = numpy.array(values, dtype)
        except (TypeError, ValueError) as error:
            raise _explain(values, error) from error
        get_aval(result)  # raises for strings and objects
        return result
    parts = [array(x, dtype, copy=False) for x in values]
    shapes = [get_aval(x).shape for x in parts]
    if len(set(shapes)) > 1:
        raise ArgumentValueError(
            f"array: expected values of one shape in a list, got {', '.join(map(str, shapes))}; "
            "make the rows equally long"
        )
    return stack(parts)


def _leaves(values: Any) -> Any:
    if isinstance(values, list | tuple):
        for x in values:
            yield from _leaves(x)
    else:
        yield values


def _explain(values: Any, error: Exception) -> ArgumentValueError | NonArrayError:
    if isinstance(error, ValueError):
        return ArgumentValueError(
            f"array: expected equally long rows of numbers, got {values!r:.60}; make the rows equally long, and every "
            f"element a number (NumPy: {error})"
        )
    return NonArrayError(f"array: expected numbers, got {values!r:.60}; {error}")


def asarray(a: Any, dtype: Any = None, *, copy: bool | None = None) -> Any:
    """Returns a value as an array: itself where it is one of that dtype; else as :func:`array`.

    >>> asarray([1, 2])
    array([1, 2])

    Source: ``numpy.asarray``.
    """
    return array(a, dtype, copy=bool(copy))


def copy(a: Any) -> Any:
    """Returns a copy of an array; a tracer is immutable, so that it is its own copy.

    >>> copy(numpy.ones(2))
    array([1., 1.])
    """
    return array(a)


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    """Returns an array converted to a dtype; of a complex one that becomes real, the real part.

    >>> astype(numpy.array([1.5, 2.5]), "int32")
    array([1, 2], dtype=int32)

    Source: ``numpy.astype``.
    """
    converted = ops.convert_element_type(x, dtype)
    return array(x) if copy and converted is x else converted


# One value everywhere


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Returns an array of one value.

    Args:
      shape: an integer, or a tuple of integers.
      fill_value: a number, or an array that is broadcast to the shape.
      dtype: the dtype of the result; by default that of the value.

    Raises:
      ArgumentValueError: the value does not broadcast to the shape.

    >>> full((2, 2), 7)
    array([[7, 7],
           [7, 7]])

    Source: ``numpy.full``.
    """
    aval = get_aval(fill_value)
    if not aval.shape:
        return ops.full(shape, fill_value, dtype)
    value = ops.convert_element_type(fill_value, aval.dtype if dtype is None else dtype)
    return copy(broadcast_to(value, static_integers("full", "the shape", shape)))


def _repeated(eager: Callable[..., Any], value: int, shape: Any, dtype: Any) -> Any:
    dtype = _FLOAT if dtype is None else as_dtype(dtype)
    if current.trace.evaluates_constants:
        try:
            return eager(shape, dtype)
        except (TypeError, ValueError):
            pass  # the function below says what is wrong
    return ops.full(shape, value, dtype)


def zeros(shape: Any, dtype: Any = None) -> Any:
    """Returns an array of zeros; arguments are those of :func:`full`, the dtype float64 by default.

    >>> zeros(2)
    array([0., 0.])
    """
    return _repeated(numpy.zeros, 0, shape, dtype)


def ones(shape: Any, dtype: Any = None) -> Any:
    """Returns an array of ones; arguments are those of :func:`full`, the dtype float64 by default.

    >>> ones((1, 2), "int8")
    array([[1, 1]], dtype=int8)
    """
    return _repeated(numpy.ones, 1, shape, dtype)


def empty(shape: Any, dtype: Any = None) -> Any:
    """Returns an array of zeros: nothing is left to chance.

    >>> empty(2)
    array([0., 0.])
    """
    return zeros(shape, dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Returns an array of one value, of the shape and dtype of another array unless others are given.

    >>> full_like(numpy.zeros(2, "float32"), 7)
    array([7., 7.], dtype=float32)

    Source: ``numpy.full_like``.
    """
    aval = get_aval(a)
    return full(aval.shape if shape is None else shape, fill_value, aval.dtype if dtype is None else dtype)


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Returns zeros of the shape and dtype of another array, unless others are given.

    >>> zeros_like(numpy.ones(2, "int8"))
    array([0, 0], dtype=int8)
    """
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Returns ones of the shape and dtype of another array, unless others are given.

    >>> ones_like(numpy.zeros(2, "int8"))
    array([1, 1], dtype=int8)
    """
    return full_like(a, 1, dtype, shape=shape)


def empty_like(prototype: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Returns zeros of the shape and dtype of another array, as :func:`zeros_like`.

    >>> empty_like(numpy.ones(2))
    array([0., 0.])
    """
    return zeros_like(prototype, dtype, shape=shape)
