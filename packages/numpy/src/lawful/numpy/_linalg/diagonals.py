"""Diagonals of matrices, matrices of diagonals, flips and rotations."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.shape import flip, ravel, swapaxes
from lawful.ops import canonical_axes, numpy_reduction, static_integers

__all__ = ["trace", "diag", "diagflat", "diagonal", "fliplr", "flipud", "rot90"]


@eager(numpy.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Returns the diagonals of the matrices in two dimensions, as the last dimension.

    Args:
      a: an array of at least two dimensions.
      offset: which diagonal: 0 for the main one, positive above it, negative below it.
      axis1: the dimension of the rows.
      axis2: the dimension of the columns.

    Raises:
      ArgumentValueError: there are fewer than two dimensions, or both are the same.
      AxisError: there is no such dimension.

    >>> diagonal(numpy.array([[1, 2], [3, 4]]))
    array([1, 4])

    Source: ``numpy.diagonal``.
    """
    ndim = get_aval(a).ndim
    if ndim < 2:
        raise ArgumentValueError(f"diagonal: expected an array of at least two dimensions, got {get_aval(a)}")
    (offset,) = static_integers("diagonal", "offset", offset)
    row, column = canonical_axes("diagonal", (axis1, axis2), ndim)
    x = ops.transpose(a, [*[axis for axis in range(ndim) if axis not in (row, column)], row, column])
    *shape, rows, columns = get_aval(x).shape
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    if not length:
        return ops.slice_in_dim(ops.reshape(x, (*shape, rows * columns)), 0, 0, axis=-1)
    # The diagonal of a row-major square is evenly spaced.
    x = ops.slice_in_dim(x, max(-offset, 0), max(-offset, 0) + length, axis=-2)
    x = ops.slice_in_dim(x, max(offset, 0), max(offset, 0) + length, axis=-1)
    return ops.slice_in_dim(ops.reshape(x, (*shape, length * length)), 0, length * length, length + 1, axis=-1)


@eager(numpy.diag)
def diag(v: Any, k: int = 0) -> Any:
    """Returns the diagonal of a matrix, or the matrix of zeros with a vector as diagonal.

    Args:
      v: a matrix, or a vector.
      k: which diagonal: 0 for the main one, positive above it, negative below it.

    Raises:
      ArgumentValueError: it is neither.

    >>> diag(numpy.array([1, 2]))
    array([[1, 0],
           [0, 2]])

    Source: ``numpy.diag``.
    """
    aval = get_aval(v)
    if aval.ndim == 2:
        return diagonal(v, k)
    if aval.ndim != 1:
        raise ArgumentValueError(f"diag: expected a vector or a matrix, got {aval}; use diagonal, or diagflat")
    (k,) = static_integers("diag", "k", k)
    n = aval.shape[0]
    zero = aval.dtype.type(0)
    square = ops.reshape(ops.pad(v, zero, [(0, 0, n)]), (n, n))
    above, below = max(k, 0), max(-k, 0)
    return ops.pad(square, zero, [(below, above, 0), (above, below, 0)])


@eager(numpy.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """Returns the matrix of zeros with the flattened array as diagonal; arguments are those of `diag`.

    >>> diagflat(numpy.array([[1], [2]]))
    array([[1, 0],
           [0, 2]])

    Source: ``numpy.diagflat``.
    """
    return diag(ravel(v), k)


@eager(numpy.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Returns the sum of the diagonals of the matrices in two dimensions.

    Args:
      a: an array of at least two dimensions.
      offset: which diagonal: 0 for the main one, positive above it, negative below it.
      axis1: the dimension of the rows.
      axis2: the dimension of the columns.
      dtype: the dtype of the sum; by default as `sum` has it.
      out: None only.

    Raises:
      ArgumentValueError: there are fewer than two dimensions, or both are the same.
      AxisError: there is no such dimension.

    >>> trace(numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    np.float64(5.0)

    Source: ``numpy.trace``.
    """
    return numpy_reduction.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


# Flips and rotations


@eager(numpy.fliplr)
def fliplr(m: Any) -> Any:
    """Returns the array with its second dimension in reversed order.

    Raises:
      ArgumentValueError: there is no second dimension.

    >>> fliplr(numpy.array([[1, 2]]))
    array([[2, 1]])

    Source: ``numpy.fliplr``.
    """
    if get_aval(m).ndim < 2:
        raise ArgumentValueError(f"fliplr: expected an array of at least two dimensions, got {get_aval(m)}")
    return flip(m, 1)


@eager(numpy.flipud)
def flipud(m: Any) -> Any:
    """Returns the array with its first dimension in reversed order.

    Raises:
      ArgumentValueError: it is a scalar.

    >>> flipud(numpy.array([1, 2]))
    array([2, 1])

    Source: ``numpy.flipud``.
    """
    if get_aval(m).ndim < 1:
        raise ArgumentValueError(f"flipud: expected an array of at least one dimension, got {get_aval(m)}")
    return flip(m, 0)


@eager(numpy.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Returns the array turned by right angles, from the first of two dimensions to the second.

    Args:
      m: an array.
      k: how many right angles.
      axes: the two dimensions.

    Raises:
      ArgumentValueError: they are not two different dimensions of the array.

    >>> rot90(numpy.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])

    Source: ``numpy.rot90``.
    """
    plane = static_integers("rot90", "axes", axes)
    if len(plane) != 2:
        raise ArgumentValueError(f"rot90: expected two axes, got {axes!r}; name the plane of rotation")
    first, second = canonical_axes("rot90", plane, get_aval(m).ndim)
    (count,) = static_integers("rot90", "k", k)
    count %= 4
    if count == 0:
        return flip(flip(m, first), first)
    if count == 2:
        return flip(m, (first, second))
    if count == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)
