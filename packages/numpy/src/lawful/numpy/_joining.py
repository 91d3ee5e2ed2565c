"""Putting arrays together, repeating them, and taking them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, get_aval
from lawful.numpy._broadcasting import atleast_1d, atleast_2d
from lawful.numpy._eager import eager
from lawful.numpy._manipulation import ravel
from lawful.ops import canonical_axis, static_integers

# Together


def _in_sequence(name: str, arrays: Any, dtype: Any) -> list[Any]:
    """Returns the arrays of a sequence, or the rows of one array."""
    if not isinstance(arrays, Sequence) and not get_aval(arrays).ndim:
        raise ArgumentTypeError(f"{name}: expected a sequence of arrays, got {get_aval(arrays)}; put it into a list")
    parts = list(arrays)
    if not parts:
        raise ArgumentValueError(f"{name}: expected at least one array, got an empty sequence")
    return parts if dtype is None else [ops.convert_element_type(x, as_dtype(dtype)) for x in parts]


@eager(numpy.concatenate, sequence=True)
def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None) -> Any:
    """Returns arrays joined along an existing dimension, promoted to one dtype.

    Args:
      arrays: a sequence of arrays whose shapes are equal but for that dimension.
      axis: the dimension; None joins the flattened arrays.
      out: None only.
      dtype: the dtype of the result.

    Raises:
      ArgumentValueError: there are no arrays, or their shapes do not fit.
      AxisError: there is no such dimension.

    >>> concatenate([numpy.array([1, 2]), numpy.array([0.5])])
    array([1. , 2. , 0.5])

    Source: ``numpy.concatenate``.
    """
    parts = _in_sequence("concatenate", arrays, dtype)
    return ops.concatenate([ravel(x) for x in parts] if axis is None else parts, 0 if axis is None else axis)


concat = concatenate


@eager(numpy.stack, sequence=True)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Any:
    """Returns arrays of one shape joined along a new dimension, promoted to one dtype.

    Args:
      arrays: a sequence of arrays.
      axis: where in the result the new dimension stands.
      out: None only.
      dtype: the dtype of the result.

    Raises:
      ArgumentValueError: there are no arrays, or their shapes differ.
      AxisError: there is no such place.

    >>> stack([numpy.array([1, 2]), numpy.array([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]])

    Source: ``numpy.stack``.
    """
    parts = _in_sequence("stack", arrays, dtype)
    shapes = {get_aval(x).shape for x in parts}
    if len(shapes) > 1:
        raise ArgumentValueError(
            f"stack: expected arrays of one shape, got {', '.join(map(str, sorted(shapes)))}; reshape or broadcast them"
        )
    axis = canonical_axis("stack", axis, len(shapes.pop()) + 1)
    return ops.concatenate([ops.expand_dims(x, (axis,)) for x in parts], axis)


@eager(numpy.vstack, sequence=True)
def vstack(tup: Any, *, dtype: Any = None) -> Any:
    """Returns arrays joined along the first dimension; vectors are rows.

    >>> vstack([numpy.array([1, 2]), numpy.array([3, 4])])
    array([[1, 2],
           [3, 4]])

    Source: ``numpy.vstack``.
    """
    return concatenate([atleast_2d(x) for x in _in_sequence("vstack", tup, dtype)], 0)


@eager(numpy.hstack, sequence=True)
def hstack(tup: Any, *, dtype: Any = None) -> Any:
    """Returns arrays joined along the second dimension, vectors along their only one.

    >>> hstack([numpy.array([1, 2]), numpy.array([3])])
    array([1, 2, 3])

    Source: ``numpy.hstack``.
    """
    parts = [atleast_1d(x) for x in _in_sequence("hstack", tup, dtype)]
    return concatenate(parts, 0 if get_aval(parts[0]).ndim == 1 else 1)


@eager(numpy.column_stack, sequence=True)
def column_stack(tup: Any) -> Any:
    """Returns arrays joined along the second dimension; vectors are columns.

    >>> column_stack([numpy.array([1, 2]), numpy.array([3, 4])])
    array([[1, 3],
           [2, 4]])

    Source: ``numpy.column_stack``.
    """
    parts = _in_sequence("column_stack", tup, None)
    return concatenate([x if get_aval(x).ndim > 1 else ops.reshape(x, (get_aval(x).size, 1)) for x in parts], 1)


# Repeated


def tile(A: Any, reps: Any) -> Any:
    """Returns the array repeated as a whole.

    Args:
      A: an array.
      reps: how often along each dimension, static integers. If there are fewer than dimensions, those before them
        are not repeated; if there are more, the array gets new first dimensions.

    >>> tile(numpy.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])

    Source: ``numpy.tile``.
    """
    times = static_integers("tile", "reps", reps)
    shape = get_aval(A).shape
    ndim = max(len(times), len(shape))
    times, shape = (1,) * (ndim - len(times)) + times, (1,) * (ndim - len(shape)) + shape
    pairs = [size for pair in zip(times, shape, strict=True) for size in pair]
    repeated = ops.broadcast_in_dim(ops.reshape(A, shape), pairs, tuple(range(1, 2 * ndim, 2)))
    return _owned(ops.reshape(repeated, tuple(n * size for n, size in zip(times, shape, strict=True))))


def _owned(x: Any) -> Any:
    """Returns an array that can be written to: a broadcast one is a view of other memory."""
    return x.copy() if type(x) is numpy.ndarray and x.base is not None else x


# Apart


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Returns the parts of an array along a dimension.

    Args:
      ary: an array.
      indices_or_sections: how many parts of equal length, or the positions at which it is cut.
      axis: the dimension.

    Raises:
      ArgumentValueError: there are no such parts of equal length.
      AxisError: there is no such dimension.

    >>> split(numpy.arange(6), 2), split(numpy.arange(3), [1])
    ([array([0, 1, 2]), array([3, 4, 5])], [array([0]), array([1, 2])])

    Source: ``numpy.split``.
    """
    shape = get_aval(ary).shape
    axis = canonical_axis("split", axis, len(shape))
    length = shape[axis]
    if not isinstance(indices_or_sections, list | tuple | numpy.ndarray):
        (sections,) = static_integers("split", "indices_or_sections", indices_or_sections)
        if sections < 1 or length % sections:
            raise ArgumentValueError(
                f"split: expected a number of parts that divides the length {length} of dimension {axis}, got "
                f"{sections}; give the positions of the cuts"
            )
        return ops.split(ary, (length // sections,) * sections, axis)
    indices = static_integers("split", "indices_or_sections", indices_or_sections)
    cuts = [slice(None, index).indices(length)[1] for index in indices]
    starts, ends = [0, *cuts], [*cuts, length]
    return [ops.slice_in_dim(ary, i, max(i, j), axis=axis) for i, j in zip(starts, ends, strict=True)]
