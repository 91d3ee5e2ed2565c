"""Matrix products with NumPy's names and rules, composed of `dot_general`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    LawfulError,
    ShapedArray,
    ShapeMismatchError,
    get_aval,
    shorten,
)
from lawful.ops._composite import composite
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._products.dot_general import dot_general
from lawful.ops._shape.reshape import reshape, transpose
from lawful.ops._support.eager import is_eager
from lawful.ops._support.structural import canonical_axes

__all__ = ["dot", "matmul", "tensordot"]

Shape = tuple[int, ...]


def matmul(a: Any, b: Any) -> Any:
    """Returns the matrix product, as ``numpy.matmul`` and the operator ``@``.

    Args:
      a: an array with at least one dimension, the last of length k. The last two are matrices.
      b: an array with at least one dimension. The last two are matrices, of k rows; if there is only one it is a
        column. The dimensions before them are broadcast.

    Raises:
      ArgumentValueError: an operand is a scalar, or the shapes do not fit.

    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])

    Law: ``matmul(matmul(a, b), c) = matmul(a, matmul(b, c))``. Source: ``numpy.matmul``.
    """
    if is_eager(a, b):
        try:
            return np.matmul(a, b)
        except (ValueError, OverflowError):
            pass  # the path below raises the error
    return _matmul(a, b)


@composite(arrays=2)
def _matmul(a: Any, b: Any) -> Any:
    left, right = get_aval(a), get_aval(b)
    _check(left, right)
    return _batched_matmul(a, b, left.shape, right.shape)


def _check(a: ShapedArray, b: ShapedArray) -> None:
    if not a.shape or not b.shape:
        raise ArgumentValueError(
            f"matmul: expected arrays with at least one dimension, got {a} and {b}; multiply by a scalar with *"
        )
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        raise ShapeMismatchError(
            f"matmul: expected as many columns on the left as rows on the right, got the shapes "
            f"{a.shape} and {b.shape}; transpose or reshape one"
        )
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        raise ShapeMismatchError(
            f"matmul: expected stacks of matrices that broadcast together, got the shapes {a.shape} and {b.shape}; "
            "reshape one so that the dimensions before the last two are equal or 1"
        ) from error


def _batched_matmul(a: Any, b: Any, a_shape: Shape, b_shape: Shape) -> Any:
    """Multiplies without broadcasting: a dimension that only one operand has is a free dimension of it."""
    a_matrix, b_matrix = a_shape[-2:], b_shape[-2:]
    ndim = max(len(a_shape), len(b_shape), 2) - 2
    a_batch = (1,) * (ndim - max(len(a_shape) - 2, 0)) + a_shape[:-2]
    b_batch = (1,) * (ndim - max(len(b_shape) - 2, 0)) + b_shape[:-2]
    only_a = [axis for axis in range(ndim) if b_batch[axis] == 1 != a_batch[axis]]
    only_b = [axis for axis in range(ndim) if a_batch[axis] == 1 != b_batch[axis]]
    both = [axis for axis in range(ndim) if axis not in only_a and axis not in only_b]
    # Dimensions of length 1 where the other operand is longer are dropped.
    a_axes = [axis for axis in range(ndim) if axis not in only_b]
    b_axes = [axis for axis in range(ndim) if axis not in only_a]
    a = reshape(a, (*[a_batch[axis] for axis in a_axes], *a_matrix))
    b = reshape(b, (*[b_batch[axis] for axis in b_axes], *b_matrix))
    contract = (len(a_axes) + len(a_matrix) - 1,), (len(b_axes),)
    batch = tuple([a_axes.index(axis) for axis in both]), tuple([b_axes.index(axis) for axis in both])
    out = dot_general(a, b, (contract, batch))
    # The result has the dimensions: both, only_a, rows, only_b, columns.
    rows, columns = len(a_matrix) - 1, len(b_matrix) - 1
    start_b = len(both) + len(only_a) + rows
    positions = {axis: position for position, axis in enumerate(both + only_a)}
    positions |= {axis: start_b + position for position, axis in enumerate(only_b)}
    order = [positions[axis] for axis in range(ndim)]
    order += [len(both) + len(only_a)] * rows + [start_b + len(only_b)] * columns
    return transpose(out, tuple(order))


@composite(arrays=2)
def dot(a: Any, b: Any) -> Any:
    """Returns the product over the last dimension of ``a`` and the last but one of ``b``, as ``numpy.dot``.

    Of two vectors this is the inner product, of two matrices the matrix product; with a scalar it is ``a * b``.

    Raises:
      ShapeMismatchError: these dimensions differ in length.

    >>> dot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])

    Source: ``numpy.dot``, ``jax.lax.dot``.
    """
    left, right = get_aval(a), get_aval(b)
    if not left.shape or not right.shape:
        return mul(a, b)
    contracted = max(right.ndim - 2, 0)
    if left.shape[-1] != right.shape[contracted]:
        raise ShapeMismatchError(
            f"dot: expected as many columns on the left as rows on the right (the last dimension but one), got "
            f"the shapes {left.shape} and {right.shape}; transpose or reshape one"
        )
    return dot_general(a, b, (((left.ndim - 1,), (contracted,)), ((), ())))


def _contracted(axes: Any) -> tuple[Any, Any]:
    """Returns the dimensions of both operands that an ``axes`` argument names."""
    if isinstance(axes, np.ndarray) and axes.ndim:
        axes = axes.tolist()
    is_pair = isinstance(axes, tuple | list)
    try:
        if is_pair and len(axes) == 2:
            return axes[0], axes[1]
        count = operator.index(axes)
    except TypeError:
        error: type[LawfulError] = ArgumentValueError if is_pair else ArgumentTypeError
        raise error(
            f"tensordot: expected an integer or a pair of sequences of integers as axes, got {shorten(axes)}; give how "
            "many dimensions are contracted, or those of each array"
        ) from None
    return range(-count, 0), range(count)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Returns the product over several pairs of dimensions, as ``numpy.tensordot``.

    Args:
      a: an array.
      b: an array.
      axes: how many of the last dimensions of ``a`` and the first of ``b`` are contracted, or a pair: the
        dimensions of ``a``, and those of ``b`` that belong to them.

    Raises:
      ArgumentValueError: the dimensions differ in number or length.
      AxisError: there is no such dimension.

    >>> tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), ((1, 2), (1, 0)))[0]
    array([12., 12., 12., 12., 12.])

    Source: ``numpy.tensordot``.
    """
    left, right = get_aval(a), get_aval(b)
    first, second = _contracted(axes)
    a_axes, b_axes = canonical_axes("tensordot", first, left.ndim), canonical_axes("tensordot", second, right.ndim)
    if [left.shape[axis] for axis in a_axes] != [right.shape[axis] for axis in b_axes]:
        raise ShapeMismatchError(
            f"tensordot: expected pairs of dimensions of equal length, got the dimensions {a_axes} of the shape "
            f"{left.shape} and {b_axes} of the shape {right.shape}; correct axes"
        )
    return dot_general(a, b, ((a_axes, b_axes), ((), ())))
