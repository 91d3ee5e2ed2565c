"""Broadcasting: repeating arrays along new dimensions and those of length 1."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, InvalidArgumentError, get_aval
from lawful.numpy._eager import direct
from lawful.numpy._integers import with_dtype
from lawful.ops import static_integers

__all__ = ["broadcast_to", "broadcast_shapes", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d"]


_view_of_shape = inspect.unwrap(numpy.broadcast_to)  # without NumPy's dispatch


def _numpy_broadcast_to(array: Any, shape: Any) -> Any:
    if type(shape) is not tuple:
        raise TypeError(shape)
    return array if array.shape == shape else _view_of_shape(array, shape)


@direct(_numpy_broadcast_to, most=2)
def broadcast_to(array: Any, shape: Any) -> Any:
    """Returns the array repeated along new first dimensions and those of length 1; of a NumPy array a view.

    Args:
      array: an array.
      shape: the shape of the result.

    Raises:
      ArgumentValueError: the array does not broadcast to this shape.

    >>> broadcast_to(numpy.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])

    Source: ``numpy.broadcast_to``.
    """
    shape = static_integers("broadcast_to", "the shape", shape)
    have = get_aval(array).shape
    new = len(shape) - len(have)
    if new < 0 or any(size not in (1, wanted) for size, wanted in zip(have, shape[max(new, 0) :], strict=True)):
        raise ArgumentValueError(
            f"broadcast_to: expected dimensions of length 1, or the last ones of the shape {shape}, got an array of "
            f"the shape {have}; reshape it first"
        )
    # Squeeze dimensions of length 1 first: to broadcast a new dimension costs nothing.
    dropped = [axis for axis, size in enumerate(have) if size != shape[new + axis]]
    remaining = tuple(new + axis for axis in range(len(have)) if axis not in dropped)
    return ops.broadcast_in_dim(ops.squeeze(array, tuple(dropped)), shape, remaining)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Returns the shape to which shapes broadcast together.

    Raises:
      ArgumentValueError: there is none.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)

    Source: ``numpy.broadcast_shapes``.
    """
    try:
        return numpy.broadcast_shapes(*args)
    except ValueError as error:
        raise InvalidArgumentError(
            f"broadcast_shapes: expected shapes that broadcast together, got {' and '.join(map(str, args))}"
        ) from error


def broadcast_arrays(*args: Any) -> list[Any]:
    """Returns a list of the arrays, each broadcast to the shape that they broadcast to together.

    Raises:
      ArgumentValueError: there is none.

    >>> [x.shape for x in broadcast_arrays(numpy.zeros((2, 1)), numpy.zeros(3))]
    [(2, 3), (2, 3)]

    Source: ``numpy.broadcast_arrays``, which returns a tuple; a list is the array API's.
    """
    arrays = [*map(with_dtype, args)]
    shape = broadcast_shapes(*[get_aval(x).shape for x in arrays])
    return [broadcast_to(x, shape) for x in arrays]


def _at_least(ndim: int, arrays: Sequence[Any], expand: Any) -> Any:
    if not arrays:
        raise ArgumentTypeError(f"atleast_{ndim}d: expected an array, got none")
    arrays = [*map(with_dtype, arrays)]
    results = [x if get_aval(x).ndim >= ndim else expand(x) for x in arrays]
    return results[0] if len(results) == 1 else tuple(results)


@direct(numpy.atleast_1d, arrays=None)
def atleast_1d(*arys: Any) -> Any:
    """Returns arrays with at least one dimension: an array, or a tuple for several.

    >>> atleast_1d(3.0)
    array([3.])
    """
    return _at_least(1, arys, lambda x: ops.reshape(x, (1,)))


@direct(numpy.atleast_2d, arrays=None)
def atleast_2d(*arys: Any) -> Any:
    """Returns arrays with at least two dimensions, a vector as a row: an array, or a tuple for several.

    >>> atleast_2d(numpy.array([1, 2]))
    array([[1, 2]])
    """
    return _at_least(2, arys, lambda x: ops.reshape(x, (1, get_aval(x).size)))


@direct(numpy.atleast_3d, arrays=None)
def atleast_3d(*arys: Any) -> Any:
    """Returns arrays with at least three dimensions: a vector and a matrix are the first plane but for a last one of 1.

    >>> atleast_3d(numpy.array([1, 2])).shape, atleast_3d(numpy.ones((2, 3))).shape
    ((1, 2, 1), (2, 3, 1))
    """
    return _at_least(
        3, arys, lambda x: ops.reshape(x, (*((1,) * (get_aval(x).ndim < 2)), *(get_aval(x).shape or (1,)), 1))
    )
