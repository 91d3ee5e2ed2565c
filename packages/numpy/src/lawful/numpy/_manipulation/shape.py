"""The shape of an array, and the order of its dimensions and elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, get_aval, require_size
from lawful.numpy._eager import direct, eager
from lawful.ops import canonical_axes, canonical_axis, is_axis_of_scalar, static_integers

# fmt: off
__all__ = [
    "reshape", "ravel", "transpose", "matrix_transpose", "permute_dims", "swapaxes", "moveaxis", "squeeze",
    "expand_dims", "flip", "roll", "resize", "rollaxis",
]
# fmt: on


def _reshaped(name: str, a: Any, shape: Any, order: str) -> Any:
    """Returns the elements in another shape; in column-major order this is the reshape between two transposes."""
    if order not in ("C", "A", "K", "F"):
        raise ArgumentValueError(f"{name}: expected order='C' or 'F', got {order!r}; choose one")
    if order != "F":
        return ops.reshape(a, shape)
    sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    return _reversed_dims(ops.reshape(_reversed_dims(a), sizes[::-1]))


def _reversed_dims(x: Any) -> Any:
    return ops.transpose(x, tuple(range(get_aval(x).ndim))[::-1])


def _numpy_reshape(a: Any, shape: Any) -> Any:
    if shape is None:  # NumPy gives a view of the same shape
        raise TypeError(shape)
    return a.reshape(shape)


# An order is left to the function: NumPy's "A" depends on how the elements lie in memory.
@direct(_numpy_reshape, most=2)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """Returns the elements, in row-major order by default, in another shape.

    Args:
      a: an array.
      shape: the new shape, an integer or a tuple. One length may be -1: it is found from the others.
      order: ``'C'``, or ``'F'`` to read and to place the elements in column-major order.
      copy: True if a NumPy array is to be copied in any case, False for an error where it would have to be.

    Raises:
      ArgumentValueError: the new shape has not as many elements, or there would have to be a copy.

    >>> reshape(numpy.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])

    >>> reshape(numpy.arange(6), (2, -1), order="F")
    array([[0, 2, 4],
           [1, 3, 5]])

    Source: ``numpy.reshape``.
    """
    reshaped = _reshaped("reshape", a, shape, order)
    if type(reshaped) is not numpy.ndarray:
        return reshaped
    if copy is False and reshaped.size and not numpy.may_share_memory(reshaped, a):
        raise ArgumentValueError(
            f"reshape: expected with copy=False an array whose elements lie in row-major order, got {get_aval(a)} "
            "with others; leave out copy=False"
        )
    return numpy.array(reshaped) if copy else reshaped


@direct(numpy.ndarray.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """Returns the elements, in row-major order or by ``order="F"`` in column-major order, in one dimension.

    >>> ravel(numpy.array([[1, 2], [3, 4]]))
    array([1, 2, 3, 4])

    Source: ``numpy.ravel``.
    """
    return _reshaped("ravel", a, (get_aval(a).size,), order)


@eager(numpy.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    """Returns the array with its dimensions in another order.

    Args:
      a: an array.
      axes: for each dimension of the result the one of ``a`` that it was; by default from the last to the first.

    Raises:
      ArgumentValueError: they do not name each dimension once.

    >>> transpose(numpy.zeros((2, 3))).shape
    (3, 2)

    Source: ``numpy.transpose``.
    """
    ndim = get_aval(a).ndim
    return ops.transpose(a, tuple(reversed(range(ndim))) if axes is None else axes)


permute_dims = transpose


def matrix_transpose(x: Any, /) -> Any:
    """Returns the array with its last two dimensions swapped.

    Raises:
      ArgumentValueError: there are fewer than two.

    >>> matrix_transpose(numpy.zeros((5, 2, 3))).shape
    (5, 3, 2)

    Source: ``numpy.matrix_transpose``.
    """
    aval = get_aval(x)
    if aval.ndim < 2:
        raise ArgumentValueError(f"matrix_transpose: expected an array of at least two dimensions, got {aval}")
    return swapaxes(x, -1, -2)


@direct(numpy.ndarray.swapaxes, most=3)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Returns the array with two dimensions swapped.

    Raises:
      AxisError: there is no such dimension.

    >>> swapaxes(numpy.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)

    Source: ``numpy.swapaxes``.
    """
    order = list(range(get_aval(a).ndim))
    first, second = (canonical_axis("swapaxes", axis, len(order)) for axis in (axis1, axis2))
    order[first], order[second] = second, first
    return ops.transpose(a, order)


@direct(numpy.moveaxis, most=3)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Returns the array with some dimensions at other positions, and the others in their order.

    Args:
      a: an array.
      source: the dimension, or a sequence of them.
      destination: the position of each one in the result.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: one is named twice, or there are not as many positions as dimensions.

    >>> moveaxis(numpy.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)

    Source: ``numpy.moveaxis``.
    """
    ndim = get_aval(a).ndim
    sources, targets = canonical_axes("moveaxis", source, ndim), canonical_axes("moveaxis", destination, ndim)
    if len(sources) != len(targets):
        raise ArgumentValueError(
            f"moveaxis: expected a destination for each dimension, got {source!r} and {destination!r}"
        )
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return ops.transpose(a, order)


@eager(numpy.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Returns the array without dimensions of length 1.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of length 1 by default.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: it has another length.

    >>> squeeze(numpy.zeros((1, 3, 1)), 0).shape
    (3, 1)

    Source: ``numpy.squeeze``.
    """
    shape = get_aval(a).shape
    if axis is None or is_axis_of_scalar(axis, len(shape)):
        axis = tuple(i for i, size in enumerate(shape) if size == 1)
    return ops.squeeze(a, axis)


@eager(numpy.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """Returns the array with new dimensions of length 1.

    Args:
      a: an array.
      axis: the position of the new dimension in the result, or a tuple of positions.

    Raises:
      AxisError: there is no such position.

    >>> expand_dims(numpy.zeros(3), (0, 2)).shape
    (1, 3, 1)

    Source: ``numpy.expand_dims``.
    """
    return ops.expand_dims(a, axis)


@eager(numpy.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """Returns the array with its elements in reversed order.

    Args:
      m: an array.
      axis: along which dimension, or a tuple of them; along all by default.

    Raises:
      AxisError: there is no such dimension.

    >>> flip(numpy.array([1, 2, 3]))
    array([3, 2, 1])

    Source: ``numpy.flip``.
    """
    return ops.rev(m, tuple(range(get_aval(m).ndim)) if axis is None else axis)


@eager(numpy.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Returns the array with its elements moved along a dimension, those beyond the end to the beginning.

    Args:
      a: an array.
      shift: how far, an integer, or one for each dimension; it may be traced.
      axis: the dimension, or a tuple of them; by default along the flattened array.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: there are not as many distances as dimensions.

    >>> roll(numpy.arange(5), 2)
    array([3, 4, 0, 1, 2])

    Source: ``numpy.roll``.
    """
    shape = get_aval(a).shape
    if axis is None:
        return ops.reshape(roll(ravel(a), shift, 0), shape)
    axes = static_integers("roll", "axis", axis)
    traced = any(isinstance(x, Tracer) for x in (shift if isinstance(shift, list | tuple) else [shift]))
    shifts: Any = _traced_shifts(shift) if traced else static_integers("roll", "shift", shift)
    if len(shifts) != len(axes):
        if 1 not in (len(shifts), len(axes)):
            raise ArgumentValueError(f"roll: expected a distance for each dimension, got {shift!r} for {axis!r}")
        shifts, axes = (shifts * len(axes), axes) if len(shifts) == 1 else (shifts, axes * len(shifts))
    for distance, dim in zip(shifts, axes, strict=True):
        dim = canonical_axis("roll", dim, len(shape))
        if traced:
            start = ops.remainder(ops.neg(distance), max(shape[dim], 1))
            a = ops.dynamic_slice_in_dim(ops.concatenate([a, a], dim), start, shape[dim], dim)
            continue
        split = shape[dim] - distance % shape[dim] if shape[dim] else 0
        if split < shape[dim]:
            last, first = ops.slice_in_dim(a, split, None, axis=dim), ops.slice_in_dim(a, 0, split, axis=dim)
            a = ops.concatenate([last, first], dim)
    return ops.convert_element_type(a, get_aval(a).dtype)


def _traced_shifts(shift: Any) -> tuple[Any, ...]:
    """Returns traced distances, each a scalar."""
    if isinstance(shift, list | tuple):
        return tuple(shift)
    aval = get_aval(shift)
    if aval.dtype.kind not in "iu" or aval.ndim > 1:
        raise ArgumentTypeError(f"roll: expected integers as shift, got {aval}; give one for each dimension")
    return (shift,) if not aval.ndim else tuple([ops.getitem(shift, i) for i in range(aval.size)])


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Returns the array with a dimension moved to before another one.

    Args:
      a: an array.
      axis: the dimension.
      start: the dimension before which it is moved; the number of dimensions for the last position.

    Raises:
      AxisError: there is no such dimension.

    >>> rollaxis(numpy.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)

    Source: ``numpy.rollaxis``.
    """
    ndim = get_aval(a).ndim
    axis = canonical_axis("rollaxis", axis, ndim)
    (before,) = static_integers("rollaxis", "start", start)
    before = ndim if before == ndim else canonical_axis("rollaxis", before, ndim)
    return moveaxis(a, axis, before - 1 if before > axis else before)


def resize(a: Any, new_shape: Any) -> Any:
    """Returns an array of another shape, with the elements in row-major order, repeated if there are too few.

    Args:
      a: an array.
      new_shape: the shape.

    Raises:
      ArgumentValueError: a length is negative.

    Of no elements zeros come.

    >>> resize(numpy.array([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]])

    Source: ``numpy.resize``.
    """
    shape, flat = static_integers("resize", "new_shape", new_shape), ravel(a)
    if any(size < 0 for size in shape):
        raise ArgumentValueError(f"resize: expected lengths that are not negative, got {shape}; correct the shape")
    require_size(shape, get_aval(flat).dtype)
    have, wanted = get_aval(flat).size, math.prod(shape)
    if not have:
        return ops.full(shape, 0, get_aval(flat).dtype)
    times = -(-wanted // have)
    whole = ops.concatenate([flat] * times, 0) if times > 1 else flat
    return ops.reshape(ops.slice_in_dim(whole, 0, wanted), shape)
