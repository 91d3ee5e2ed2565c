"""Elements by their positions, and the positions of elements."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ConcretizationTypeError, Tracer, get_aval
from lawful.numpy._eager import direct
from lawful.ops import put_along_axis

__all__ = ["take", "take_along_axis", "put_along_axis", "nonzero", "flatnonzero"]


def _numpy_take(a: Any, indices: Any, axis: Any = None) -> Any:
    # NumPy takes booleans as integers, and gives a scalar for one index.
    if indices.dtype.kind == "b" or not indices.ndim:
        raise TypeError(indices)
    return a.take(indices, axis)


@direct(_numpy_take, arrays=2, most=3, names=("axis",))
@functools.wraps(ops.take, assigned=())
def take(*args: Any, **kwargs: Any) -> Any:
    """Returns the elements of an array at positions along an axis; arguments and errors are those of `lawful.ops.take`.

    >>> take(numpy.array([[1, 2, 3], [4, 5, 6]]), numpy.array([2, 0]), axis=1)
    array([[3, 1],
           [6, 4]])

    Source: ``jax.numpy.take``.
    """
    return ops.take(*args, **kwargs)


@direct(numpy.take_along_axis, arrays=2, most=3, names=("axis",))
@functools.wraps(ops.take_along_axis, assigned=())
def take_along_axis(*args: Any, **kwargs: Any) -> Any:
    """Returns the elements of an array at positions along an axis that differ from row to row, as those of a sort.

    Arguments and errors are those of `lawful.ops.take_along_axis`.

    >>> x = numpy.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    >>> take_along_axis(x, numpy.argsort(x, axis=1), axis=1)
    array([[1., 2., 3.],
           [4., 5., 6.]])

    Source: ``numpy.take_along_axis``.
    """
    return ops.take_along_axis(*args, **kwargs)


@direct(numpy.ndarray.nonzero)
def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """Returns, for each dimension, the positions of the elements that are not zero.

    Args:
      a: an array with at least one dimension.
      size: how many positions are given; it has to be known where ``a`` is traced. More are left out.
      fill_value: the value where there are fewer: a number, or one for each dimension; by default 0.

    Raises:
      ArgumentTypeError: ``a`` is a scalar.
      ConcretizationTypeError: ``a`` is traced, and there is no ``size``.

    >>> nonzero(numpy.array([0, 5, 0, 7]))
    (array([1, 3]),)
    >>> nonzero(numpy.array([0, 5, 0, 7]), size=3, fill_value=-1)
    (array([ 1,  3, -1]),)

    Source: ``jax.numpy.nonzero``.
    """
    aval = get_aval(a)
    if not aval.ndim:
        raise ArgumentTypeError("nonzero: expected an array with at least one dimension, got a scalar; reshape it")
    value = a.concrete() if isinstance(a, Tracer) else ops.getitem(a, ...)
    if size is None:
        if value is None:
            raise ConcretizationTypeError(
                f"nonzero: expected an array whose values are known, got the tracer {aval}: how many are not zero "
                "would decide a shape; give the number of positions, nonzero(x, size=n)"
            )
        return numpy.asarray(value).nonzero()
    size = operator.index(size)
    is_chosen = ops.reshape(ops.ne(a, aval.dtype.type(0)), (aval.size,))
    count = ops.cumsum(ops.convert_element_type(is_chosen, "int64"))
    # Each chosen element writes its position; all others write behind the end.
    target = ops.where(is_chosen, ops.min(ops.sub(count, 1), size), size)
    ends = ops.at(ops.full((size + 1,), aval.size, "int64"))[target].set(ops.iota("int64", aval.size))
    flat = ops.slice_in_dim(ends, 0, size)
    is_filled = ops.ge(flat, aval.size)
    fills = fill_value if isinstance(fill_value, tuple | list) else (fill_value or 0,) * aval.ndim
    positions = []
    stride = aval.size
    for length, fill in zip(aval.shape, fills, strict=True):
        stride //= max(length, 1)
        where = ops.remainder(ops.floor_divide(flat, max(stride, 1)), max(length, 1))
        positions.append(ops.where(is_filled, ops.convert_element_type(fill, "int64"), where))
    return tuple(positions)


@direct(lambda a: a.ravel().nonzero()[0])
def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Returns the positions, in the flattened array, of the elements that are not zero.

    Args:
      a: an array.
      size: how many positions are given, as in `nonzero`.
      fill_value: the value where there are fewer.

    >>> flatnonzero(numpy.array([[0, 5], [0, 7]]))
    array([1, 3])

    Source: ``jax.numpy.flatnonzero``.
    """
    return nonzero(ops.reshape(a, (get_aval(a).size,)), size=size, fill_value=fill_value)[0]
