"""Products of matrices whose rows belong to groups, each of which has a matrix of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, ShapedArray, get_aval
from lawful.ops._products.dot_general import canonical_numbers, dot_general
from lawful.ops._products.matrix_products import DimensionNumbers, Shape, remaining_axes
from lawful.ops._support.structural import canonical_axes

__all__ = ["RaggedDotDimensionNumbers", "batch_matmul", "ragged_dot", "ragged_dot_general"]


class RaggedDotDimensionNumbers(NamedTuple):
    """Which dimensions of a grouped product are contracted, shared, ragged, and of groups.

    >>> numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
    >>> ragged_dot_general(np.ones((3, 1)), np.array([[[2.0]], [[5.0]]]), np.array([1, 2]), numbers).ravel()
    array([2., 5., 5.])

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
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(lhs, rhs, group_sizes, numbers, precision, preferred_element_type)


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: None = None,
) -> Any:
    """Returns a product of arrays of which one dimension consists of groups, which follow each other.

    The kind of the ragged dimension of ``lhs`` says what is computed:

    - A dimension that is not contracted: ``rhs`` has a dimension of groups, and each position of ``lhs`` is multiplied
      by the part of its group. Positions after the last group give 0.
    - A contracted dimension: the sums are over each group alone, and the result has the groups as its first dimension.
    - A batch dimension: the product is that of `dot_general`.

    Args:
      lhs: an array.
      rhs: an array; the dtypes are promoted.
      group_sizes: how many positions each group has, in order: integers of shape (g,), or of shape (…, g), where the
        other dimensions are the batch dimensions of ``lhs`` and the dimensions of the ragged one's kind before it.
      ragged_dot_dimension_numbers: those of `dot_general`, the one ragged dimension of ``lhs``, and the dimension of
        groups of ``rhs``, which there is only where the ragged dimension is not contracted.
      precision: as for `dot_general`.
      preferred_element_type: the same.
      group_offset: None.

    Raises:
      ArgumentTypeError: shapes, dtypes and dimension numbers do not fit together.
      ArgumentValueError: a ``group_offset`` is given.
      AxisError: there is no such dimension.

    >>> numbers = RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    >>> ragged_dot_general(np.ones((3, 1)), np.ones((3, 2)), np.array([1, 2]), numbers)  # contracted by groups
    array([[[1., 1.]],
    <BLANKLINE>
           [[2., 2.]]])

    Source: ``jax.lax.ragged_dot_general``.
    """
    if group_offset is not None:
        raise ArgumentValueError("ragged_dot_general: expected no group_offset; leave it out")
    left, right, sizes = get_aval(lhs), get_aval(rhs), get_aval(group_sizes)
    numbers, ragged, groups = _canonical_numbers(ragged_dot_dimension_numbers, left.ndim, right.ndim)
    (l_contract, r_contract), (l_batch, r_batch) = numbers
    options: Any = {"precision": precision, "preferred_element_type": preferred_element_type}
    kept = remaining_axes(left.ndim, (*l_contract, *l_batch))
    is_contracted, is_kept = ragged in l_contract, ragged in kept
    outer = _before(ragged, l_batch, l_contract if is_contracted else kept if is_kept else ())
    _check(left, right, sizes, outer, groups, is_kept=is_kept)
    if not is_contracted and not is_kept:
        return dot_general(lhs, rhs, numbers, **options)
    if len(sizes.shape) == 1 and outer:
        shape = (*[left.shape[dim] for dim in outer], sizes.shape[0])
        group_sizes = ops.broadcast_in_dim(group_sizes, shape, (len(outer),))
    expanded = _by_groups(lhs, group_sizes, ragged, outer)
    if is_kept:
        contract = (0, *_shifted(l_contract)), (*groups, *r_contract)
        return dot_general(expanded, rhs, (contract, (_shifted(l_batch), r_batch)), **options)
    r_ragged = r_contract[l_contract.index(ragged)]
    others = _by_groups(rhs, group_sizes, r_ragged, _before(r_ragged, r_batch, r_contract))
    contract = _shifted(l_contract), _shifted(r_contract)
    return dot_general(expanded, others, (contract, ((0, *_shifted(l_batch)), (0, *_shifted(r_batch)))), **options)


def _canonical_numbers(numbers: Any, lhs_ndim: int, rhs_ndim: int) -> tuple[DimensionNumbers, int, Shape]:
    """Returns the numbers of `dot_general`, the ragged dimension, and the dimension of groups if there is one."""
    name = "ragged_dot_general"
    if not isinstance(numbers, RaggedDotDimensionNumbers):
        raise ArgumentTypeError(
            f"{name}: expected ragged_dot_dimension_numbers, got {numbers!r}; make them with "
            "lawful.ops.RaggedDotDimensionNumbers"
        )
    ragged = canonical_axes(name, numbers.lhs_ragged_dimensions, lhs_ndim)
    groups = canonical_axes(name, numbers.rhs_group_dimensions, rhs_ndim)
    if len(ragged) != 1:
        raise ArgumentTypeError(f"{name}: expected one of lhs_ragged_dimensions, got {ragged}; choose one")
    return canonical_numbers(name, numbers.dot_dimension_numbers, lhs_ndim, rhs_ndim), ragged[0], groups


def _check(
    left: ShapedArray, right: ShapedArray, sizes: ShapedArray, outer: Shape, groups: Shape, *, is_kept: bool
) -> None:
    name = "ragged_dot_general"
    if sizes.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name}: expected integers as group_sizes, got {sizes}; convert with astype(int)")
    count = sizes.shape[-1:]
    full = tuple([left.shape[dim] for dim in outer]) + count
    if sizes.shape not in (count, full) or not count:
        raise ArgumentTypeError(
            f"{name}: expected group_sizes of shape (g,) or {(*full[: len(outer)], 'g')}, got {sizes}; reshape them"
        )
    if len(groups) != int(is_kept):
        many = "one dimension" if is_kept else "none"
        what = "neither contracted nor of the batch" if is_kept else "contracted or of the batch"
        raise ArgumentTypeError(
            f"{name}: expected {many} in rhs_group_dimensions, as the ragged dimension is {what}, got {groups}; "
            "correct them"
        )
    if is_kept and (right.shape[groups[0]],) != count:
        raise ArgumentTypeError(
            f"{name}: expected a dimension of length {count[0]} for the groups, got dimension {groups[0]} of {right}; "
            "give a size for each group"
        )


def _before(ragged: int, batch: Shape, kind: Shape) -> Shape:
    """Returns the dimensions that have group sizes of their own: of the batch, and of a kind before the ragged one."""
    return (*batch, *kind[: kind.index(ragged)]) if kind else batch[: batch.index(ragged)]


def _shifted(dims: Shape) -> Shape:
    return tuple([dim + 1 for dim in dims])


def _by_groups(x: Any, group_sizes: Any, ragged: int, outer: Shape) -> Any:
    """Returns an array for each group, stacked in front, with 0 at positions of the ragged dimension in no group of it.

    Args:
      x: an array.
      group_sizes: the sizes of the groups, along the last dimension.
      ragged: the dimension of ``x`` that consists of groups.
      outer: for each of the other dimensions of ``group_sizes`` that of ``x``.
    """
    aval = get_aval(x)
    order = (len(outer), *sorted(range(len(outer)), key=outer.__getitem__))
    shape = (get_aval(group_sizes).shape[-1], *aval.shape)
    ends = ops.cumsum(group_sizes, len(outer))
    firsts, lasts = (
        ops.broadcast_in_dim(ops.transpose(part, order), shape, (0, *_shifted(tuple(sorted(outer)))))
        for part in (ops.sub(ends, group_sizes), ends)
    )
    where = ops.broadcasted_iota(get_aval(ends).dtype, shape, ragged + 1)
    member = ops.bitwise_and(ops.ge(where, firsts), ops.lt(where, lasts))
    repeated = ops.broadcast_in_dim(x, shape, _shifted(tuple(range(aval.ndim))))
    return ops.select_n(member, np.zeros(shape, aval.dtype), repeated)
