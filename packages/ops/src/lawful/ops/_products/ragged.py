"""Products of matrices whose rows belong to groups, each of which has a matrix of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.ops._products.dot_general import dot_general

__all__ = ["RaggedDotDimensionNumbers", "batch_matmul", "ragged_dot"]


class RaggedDotDimensionNumbers(NamedTuple):
    """Which dimensions of a grouped product are contracted, shared, ragged, and of groups.

    Source: ``jax.lax.RaggedDotDimensionNumbers``.
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Returns the products of matrices in the last two dimensions. Source: ``jax.lax.batch_matmul``.

    >>> batch_matmul(np.ones((2, 1, 3)), np.ones((2, 3, 1))).shape
    (2, 1, 1)
    """
    ndim = get_aval(lhs).ndim
    if ndim < 2 or ndim != get_aval(rhs).ndim:
        raise ArgumentValueError(
            f"batch_matmul: expected two stacks of matrices of one rank, got {get_aval(lhs)} and {get_aval(rhs)}"
        )
    batch = tuple(range(ndim - 2))
    return dot_general(lhs, rhs, (((ndim - 1,), (ndim - 2,)), (batch, batch)), precision=precision)


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: None = None,
) -> Any:
    """Returns the product of each row with the matrix of its group.

    Args:
      lhs: shape (m, k).
      rhs: shape (g, k, n): a matrix for each group.
      group_sizes: how many rows each group has, in order, of shape (g,); rows after the last group give 0.
      precision: as for `dot_general`.
      preferred_element_type: the same.
      group_offset: None.

    Raises:
      ArgumentValueError: shapes do not fit, or a ``group_offset`` is given.

    >>> ragged_dot(np.ones((3, 1)), np.array([[[1.0]], [[2.0]]]), np.array([1, 2]))
    array([[1.],
           [2.],
           [2.]])

    Source: ``jax.lax.ragged_dot``.
    """
    left, right, sizes = get_aval(lhs).shape, get_aval(rhs).shape, get_aval(group_sizes).shape
    if group_offset is not None:
        raise ArgumentValueError("ragged_dot: expected no group_offset; leave it out")
    if len(left) != 2 or len(right) != 3 or left[1] != right[1] or sizes != right[:1]:
        raise ArgumentValueError(
            f"ragged_dot: expected shapes (m, k), (g, k, n) and (g,), got {left}, {right} and {sizes}"
        )
    ends = ops.cumsum(group_sizes, 0)
    row = ops.iota(get_aval(ends).dtype, left[0])
    shape = (right[0], left[0])
    rows, lasts, firsts = (
        ops.broadcast_in_dim(x, shape, (dim,)) for x, dim in ((row, 1), (ends, 0), (ops.sub(ends, group_sizes), 0))
    )
    member = ops.bitwise_and(ops.ge(rows, firsts), ops.lt(rows, lasts))
    grouped = ops.broadcast_in_dim(lhs, (right[0], *left), (1, 2))
    mask = ops.broadcast_in_dim(member, (right[0], *left), (0, 1))
    zeros = np.zeros((right[0], *left), get_aval(lhs).dtype)
    chosen = ops.select_n(mask, zeros, grouped)
    return dot_general(
        chosen,
        rhs,
        (((0, 2), (0, 1)), ((), ())),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
