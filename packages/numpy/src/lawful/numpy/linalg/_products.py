"""The array API's products of vectors and matrices, diagonals and traces, over the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, as_dtype, get_aval
from lawful.numpy._linalg import diagonals, products
from lawful.numpy._manipulation import shape
from lawful.numpy.linalg._matrices import by_numpy, check_stack
from lawful.ops import numpy_reduction


def matmul(x1: Any, x2: Any, /) -> Any:
    """Returns the matrix product, as `lawful.numpy.matmul`.

    >>> matmul(numpy.array([[1, 2], [3, 4]]), numpy.array([1, 1]))
    array([3, 7])
    """
    return products.matmul(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Returns the product over several pairs of dimensions, as `lawful.numpy.tensordot`.

    >>> tensordot(numpy.ones((2, 3)), numpy.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return products.tensordot(x1, x2, axes)


def matrix_transpose(x: Any, /) -> Any:
    """Returns the matrices in the last two dimensions transposed, as `lawful.numpy.matrix_transpose`.

    >>> matrix_transpose(numpy.ones((2, 3))).shape
    (3, 2)
    """
    return shape.matrix_transpose(x)


def outer(x1: Any, x2: Any, /) -> Any:
    """Returns the products of each element of one vector with each of another.

    Raises:
      ArgumentValueError: an argument is not a vector.

    >>> outer(numpy.array([1, 2]), numpy.array([3, 4]))
    array([[3, 4],
           [6, 8]])

    Source: ``numpy.linalg.outer``.
    """
    if get_aval(x1).ndim != 1 or get_aval(x2).ndim != 1:
        raise ArgumentValueError(
            f"outer: expected vectors, got the shapes {get_aval(x1).shape} and {get_aval(x2).shape}; ravel them"
        )
    return products.outer(x1, x2)


@by_numpy(numpy.linalg.vecdot, arrays=2)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Returns the inner products of vectors along a dimension, the first ones conjugated.

    Raises:
      ArgumentValueError: the lengths differ.

    >>> vecdot(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([1.0, 1.0]))
    array([3., 7.])

    Source: ``numpy.linalg.vecdot``.
    """
    if not get_aval(x1).ndim or not get_aval(x2).ndim:
        raise ArgumentValueError("vecdot: expected arrays with at least one dimension, got a scalar; multiply by it")
    x1, x2 = shape.moveaxis(x1, axis, -1), shape.moveaxis(x2, axis, -1)
    left, right = get_aval(x1), get_aval(x2)
    if left.shape[-1] != right.shape[-1]:
        raise ArgumentValueError(
            f"vecdot: expected vectors of one length, got the shapes {left.shape} and {right.shape}; give axis"
        )
    rows = ops.expand_dims(ops.conj(x1) if left.dtype.kind == "c" else x1, (left.ndim - 1,))
    out = ops.matmul(rows, ops.expand_dims(x2, (right.ndim,)))
    ndim = get_aval(out).ndim
    return ops.squeeze(out, (ndim - 2, ndim - 1))


@by_numpy(numpy.linalg.cross, arrays=2)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Returns the cross products of vectors of three elements along a dimension.

    Raises:
      ArgumentValueError: the vectors have another length.

    >>> cross(numpy.array([1, 0, 0]), numpy.array([0, 1, 0]))
    array([0, 0, 1])

    Source: ``numpy.linalg.cross``.
    """
    left, right = (shape.moveaxis(x, axis, -1) for x in (x1, x2))
    shapes = get_aval(left).shape, get_aval(right).shape
    if any(shape[-1] != 3 for shape in shapes):
        raise ArgumentValueError(f"cross: expected vectors of 3 elements, got the shapes {shapes}; give axis")
    parts = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        part = ops.sub(ops.mul(left[..., j], right[..., k]), ops.mul(left[..., k], right[..., j]))
        parts.append(ops.expand_dims(part, (get_aval(part).ndim,)))
    return shape.moveaxis(ops.concatenate(parts, get_aval(parts[0]).ndim - 1), -1, axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Returns a diagonal of each matrix in the last two dimensions.

    Args:
      x: an array of shape (…, m, n).
      offset: 0 for the main diagonal, positive above it, negative below it.

    Raises:
      LinAlgError: the array has fewer than two dimensions.

    >>> diagonal(numpy.array([[1, 2], [3, 4]]), offset=1)
    array([2])

    Source: ``numpy.linalg.diagonal``.
    """
    check_stack("diagonal", x)
    return diagonals.diagonal(x, offset, -2, -1)


@by_numpy(numpy.linalg.trace)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Returns the sum of a diagonal of each matrix in the last two dimensions.

    Args:
      x: an array of shape (…, m, n).
      offset: 0 for the main diagonal, positive above it, negative below it.
      dtype: the dtype in which is added; by default as by ``sum``.

    Raises:
      LinAlgError: the array has fewer than two dimensions.

    >>> trace(numpy.array([[1, 2], [3, 4]]))
    np.int64(5)

    Source: ``numpy.linalg.trace``.
    """
    found = diagonal(x, offset=offset)
    if dtype is not None:
        found = ops.convert_element_type(found, as_dtype(dtype))
    out = numpy_reduction.sum(found, axis=-1)
    return out if dtype is None else ops.convert_element_type(out, as_dtype(dtype))


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """Returns the product of several matrices, in the order that takes the fewest multiplications.

    Args:
      arrays: at least two matrices; the first and the last may be vectors, a row and a column.
      out: None.

    Raises:
      ArgumentValueError: there are fewer than two, one is not a matrix, or the shapes do not fit.

    >>> multi_dot([numpy.ones((2, 3)), numpy.ones((3, 4)), numpy.ones(4)])
    array([12., 12.])

    Source: ``numpy.linalg.multi_dot``.
    """
    arrays = list(arrays)
    if len(arrays) < 2 or out is not None:
        raise ArgumentValueError(f"multi_dot: expected at least two arrays and no out=, got {len(arrays)}; use matmul")
    is_row, is_column = get_aval(arrays[0]).ndim == 1, get_aval(arrays[-1]).ndim == 1
    if is_row:
        arrays[0] = ops.expand_dims(arrays[0], (0,))
    if is_column:
        arrays[-1] = ops.expand_dims(arrays[-1], (1,))
    shapes = [get_aval(x).shape for x in arrays]
    if any(len(shape) != 2 for shape in shapes) or any(a[1] != b[0] for a, b in pairwise(shapes)):
        raise ArgumentValueError(f"multi_dot: expected matrices that fit, got the shapes {shapes}; transpose some")
    sizes = (*[shape[0] for shape in shapes], shapes[-1][1])

    @cache
    def best(first: int, last: int) -> tuple[int, int]:
        """Returns the fewest multiplications for some factors, and after which one to split them."""
        if first == last:
            return 0, first
        costs = [
            (best(first, k)[0] + best(k + 1, last)[0] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
            for k in range(first, last)
        ]
        return min(costs)

    def product(first: int, last: int) -> Any:
        if first == last:
            return arrays[first]
        split = best(first, last)[1]
        return ops.matmul(product(first, split), product(split + 1, last))

    found = product(0, len(arrays) - 1)
    return ops.squeeze(found, (0,) * is_row + (1,) * is_column)
