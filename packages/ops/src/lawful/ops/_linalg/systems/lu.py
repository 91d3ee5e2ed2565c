"""The LU decomposition, with the pivots as swaps of rows and as a permutation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    Interval,
    Primitive,
    ShapedArray,
    Zero,
    get_aval,
)
from lawful.ops._elementwise.comparison import eq
from lawful.ops._elementwise.select import where
from lawful.ops._indexing.take_along_dimension import take_along_dimension
from lawful.ops._linalg.decomposition import decomposition, info_of, sample_dtype
from lawful.ops._linalg.matrices import (
    as_column,
    below_diagonal,
    check_matrices,
    columns_of,
    rows_of,
    with_dtype,
)
from lawful.ops._linalg.routines import getrf
from lawful.ops._linalg.systems.triangular_solve import triangular_solve
from lawful.ops._shape.iota import iota
from lawful.ops._shape.joining import concatenate
from lawful.ops._shape.reshape import broadcast_in_dim
from lawful.ops._support.batch_dimensions import move_batch_dim
from lawful.ops._support.operation_counts import of_matrices
from lawful.ops._support.structural import static_integers, without_derivative

__all__ = ["lu", "lu_p", "lu_pivots_to_permutation", "lu_pivots_to_permutation_p"]

_INT32 = np.dtype(np.int32)

# The number of columns that are eliminated one by one, before the columns on their right, by a product of matrices.
_PANEL = 32


def lu(x: Any) -> tuple[Any, Any, Any]:
    """Returns the LU decomposition with partial pivoting: ``x[permutation] = L U``.

    Args:
      x: an array of shape (…, m, n) of floating or complex dtype.

    Returns:
      ``(lu, pivots, permutation)``: ``lu`` has U in its upper triangle and L, whose diagonal is ones, below it;
      ``pivots``, int32 of shape (…, min(m, n)), says with which row each row was swapped in turn; ``permutation``,
      int32 of shape (…, m), says the same as one permutation.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the array has fewer than two dimensions.

    >>> lu(np.array([[1.0, 2.0], [2.0, 6.0]]))[0]
    array([[ 2. ,  6. ],
           [ 0.5, -1. ]])

    Law: ``x[permutation] = L U``. Source: ``jax.lax.linalg.lu``; the derivative is in de Hoog, Anderssen, Lukas
    2011, "Differentiation of matrix functionals using triangular factorization".
    """
    check_matrices("lu", get_aval(x))
    factors, pivots, permutation = lu_p.bind(x)
    return factors, pivots, permutation


def permutation_matrix(permutation: Any, dtype: Any) -> Any:
    """Returns the matrix P for which ``P x`` has the rows of ``x`` in the order of a permutation."""
    size = get_aval(permutation).shape[-1]
    return with_dtype(eq(as_column(permutation), iota(_INT32, size)), np.dtype(dtype))


def _derive(x: Any, x_dot: Any) -> tuple[list[Any], list[Any]]:
    factors, pivots, permutation = lu_p.bind(x)
    aval = get_aval(x)
    (rows, columns), dtype = aval.shape[-2:], aval.dtype
    rank = min(rows, columns)
    zero = dtype.type(0)
    strict = below_diagonal(rows, rank, -1)
    below = where(strict, columns_of(factors, 0, rank), zero)
    corner = where(rows_of(strict, 0, rank), zero, columns_of(rows_of(factors, 0, rank), 0, rank))
    # L⁻¹ P ẋ U⁻¹ = L⁻¹ L̇ + U̇ U⁻¹: the first term is strictly lower, the second upper triangular.
    divided = _divide_by_left(_permuted(x_dot, permutation), below)
    middle = triangular_solve(corner, columns_of(divided, 0, rank))
    lower, upper = where(strict, middle, zero), where(strict, zero, middle)
    derivative = lower + below @ rows_of(lower, 0, rank) + upper @ corner
    if columns > rank:
        rest = columns_of(divided, rank, columns) - lower @ columns_of(factors, rank, columns)
        derivative = concatenate([derivative, rest], aval.ndim - 1)
    zeros = [Zero(get_aval(out).to_tangent_aval()) for out in (pivots, permutation)]
    return [factors, pivots, permutation], [derivative, *zeros]


def _permuted(x: Any, permutation: Any) -> Any:
    """Returns the rows of matrices in the order of permutations."""
    shape = get_aval(x).shape
    if shape[-2] <= shape[-1]:
        return permutation_matrix(permutation, get_aval(x).dtype) @ x
    # For tall matrices the matrix of the permutation is larger than they are.
    indices = broadcast_in_dim(permutation, shape, range(len(shape) - 1))
    return take_along_dimension(x, indices, len(shape) - 2, unique_indices=True)


def _divide_by_left(x: Any, below: Any) -> Any:
    """Returns ``L⁻¹ x``, where L has ones on its diagonal and is made square by columns of the identity."""
    rows, rank = get_aval(below).shape[-2:]
    top = triangular_solve(rows_of(below, 0, rank), rows_of(x, 0, rank), left_side=True, lower=True, unit_diagonal=True)
    if rows == rank:
        return top
    rest = rows_of(x, rank, rows) - rows_of(below, rank, rows) @ top
    return concatenate([top, rest], get_aval(x).ndim - 2)


# Evaluation


def _compute(x: Any) -> tuple[Any, Any, Any]:
    rows, columns = x.shape[-2:]
    count = math.prod(x.shape[:-2])
    factors = np.array(x).reshape(count, rows, columns)
    pivots = np.zeros((count, min(rows, columns)), _INT32)
    for start in range(0, pivots.shape[1], _PANEL):
        _eliminate(factors, pivots, start, min(start + _PANEL, pivots.shape[1]))
    permutation = _permutation(pivots, rows)
    batch = x.shape[:-2]
    return factors.reshape(x.shape), pivots.reshape(*batch, pivots.shape[1]), permutation.reshape(*batch, rows)


def _eliminate(factors: Any, pivots: Any, start: int, stop: int) -> None:
    """Eliminates some columns of each matrix, with swaps of whole rows, and then the columns on their right."""
    each = np.arange(len(factors))
    for j in range(start, stop):
        candidates = factors[:, j:, j]
        # LAPACK compares complex numbers by the sum of both absolute values.
        size = np.abs(candidates.real) + np.abs(candidates.imag) if candidates.dtype.kind == "c" else np.abs(candidates)
        chosen = j + np.argmax(size, axis=1)
        pivots[:, j] = chosen
        factors[each, j], factors[each, chosen] = factors[each, chosen], factors[each, j]
        pivot = factors[:, j, j, None]
        factors[:, j + 1 :, j] /= np.where(pivot == 0, factors.dtype.type(1), pivot)
        factors[:, j + 1 :, j + 1 : stop] -= factors[:, j + 1 :, j, None] * factors[:, j, None, j + 1 : stop]
    right = factors[:, :, stop:]
    for j in range(start, stop):
        right[:, j] -= np.matmul(factors[:, j, None, start:j], right[:, start:j])[:, 0]
    right[:, stop:] -= np.matmul(factors[:, stop:, start:stop], right[:, start:stop])


def _permutation(pivots: Any, size: int) -> Any:
    """Returns swaps as a permutation; a swap with a row out of range gives the index 0."""
    batch, count = pivots.shape[:-1], pivots.shape[-1]
    # The last row represents rows out of range.
    others = np.where((pivots >= 0) & (pivots < size), pivots, size).reshape(math.prod(batch), count)
    permutation = np.zeros((len(others), size + 1), _INT32)
    permutation[:, :size] = np.arange(size)
    each = np.arange(len(others))
    for i in range(min(count, size)):
        other, here = others[:, i], permutation[:, i].copy()
        permutation[:, i] = permutation[each, other]
        permutation[each, other] = here
        permutation[:, size] = 0
    return permutation[:, :size].reshape(*batch, size).copy()


# Lowering


def _lower(ctx: Any, x: Any) -> tuple[list[Any], Any]:
    aval, pivot_aval, permutation_aval = ctx.avals_out
    transposed, pivots, info = getrf(ctx, x, aval)
    axes = [*range(aval.ndim - 2), aval.ndim - 1, aval.ndim - 2]
    factors = ctx.hlo.transpose(transposed, ctx.i64_array(axes))
    permutation = permutation_of_swaps(ctx, pivots, pivot_aval, permutation_aval)
    pivots = ctx.hlo.subtract(pivots, ctx.full(pivot_aval, 1))
    return [factors, pivots, permutation], ctx.compare(info, ctx.zeros(info_of(aval)), "GE")


def permutation_of_swaps(
    ctx: Any, pivots: Any, pivot_aval: ShapedArray, aval: ShapedArray, *, inverse: bool = False
) -> Any:
    """Returns the permutation, or its inverse, of swaps by `getrf`: pivots that are counted from 1, and in range."""
    if ctx.platform == "cpu" or not pivot_aval.size:
        return _lower_permutation(ctx, pivots, pivot_aval, aval, first=1, inverse=inverse)
    hlo = ctx.hlo
    pivots = hlo.subtract(pivots, ctx.full(pivot_aval, 1))
    (permutation,) = ctx.cuda_kernel(
        "cu_lu_pivots_to_permutation", [pivots], [aval], transposed_operands=[0], transposed_results=[0]
    )
    if not inverse:
        return permutation
    axis, types, scalar = aval.ndim - 1, [ctx.tensor_type(aval)] * 2, ctx.tensor_type(ShapedArray((), _INT32))
    position = hlo.iota(types[0], ctx.i64(axis))
    sort = hlo.SortOp(types, [permutation, position], dimension=ctx.i64(axis), is_stable=ctx.ir.BoolAttr.get(False))
    with ctx.block(sort.regions[0], [scalar] * 4) as (one, other, _, _):
        hlo.return_([ctx.compare(one, other, "LT")])
    return sort.results[1]


def _lower_permutation(
    ctx: Any, pivots: Any, pivot_aval: ShapedArray, aval: ShapedArray, *, first: int = 0, inverse: bool = False
) -> Any:
    """Lowers the loop of `_permutation`, of pivots counted from ``first``.

    With ``inverse`` the last swap is the first one, which gives the inverse permutation.
    """
    hlo = ctx.hlo
    scalar = ShapedArray((), _INT32)
    axis = aval.ndim - 1
    one = aval.update(shape=(*aval.shape[:-1], 1))
    position = hlo.iota(ctx.tensor_type(aval), ctx.i64(axis))
    count = pivot_aval.shape[-1]
    if not count or not aval.size:
        return position
    types = [ctx.tensor_type(scalar), ctx.tensor_type(aval)]
    loop = hlo.WhileOp(types, [ctx.constant(np.int32(0)), position])

    def repeated(column: Any) -> Any:
        return hlo.broadcast_in_dim(ctx.tensor_type(aval), column, ctx.i64_array(range(aval.ndim)))

    with ctx.block(loop.regions[0], types) as (i, _):
        hlo.return_([ctx.compare(i, ctx.constant(np.int32(count)), "LT")])
    with ctx.block(loop.regions[1], types) as (step, permutation):
        i = hlo.subtract(ctx.constant(np.int32(count - 1)), step) if inverse else step
        starts = [ctx.constant(np.int32(0))] * axis + [i]
        pivot = hlo.dynamic_slice(pivots, starts, ctx.i64_array(one.shape))
        pivot = hlo.subtract(pivot, ctx.full(one, first)) if first else pivot
        here = repeated(hlo.dynamic_slice(permutation, starts, ctx.i64_array(one.shape)))
        is_other = ctx.compare(position, repeated(pivot), "EQ")
        masked = hlo.select(is_other, permutation, ctx.zeros(aval))
        other = hlo.broadcast_in_dim(
            ctx.tensor_type(aval), ctx.reduce(masked, 0, (axis,), "add"), ctx.i64_array(range(axis))
        )
        is_here = ctx.compare(position, ctx.broadcast_scalar(i, aval), "EQ")
        swapped = hlo.select(is_here, other, hlo.select(is_other, here, permutation))
        hlo.return_([hlo.add(step, ctx.constant(np.int32(1))), swapped])
    return loop.results[1]


# For laws


def _sample(choose: Choose) -> Call:
    shape = (*choose.shape(max_ndim=1), choose.integer(0, 4), choose.integer(0, 4))
    return (ShapedArray(shape, sample_dtype(choose)),), {}


def _prepare(x: Any) -> tuple[Any]:
    rows, columns = x.shape[-2:]
    return (np.round(0.3 * x + 3 * np.roll(np.eye(rows, columns), 1, axis=0), 2).astype(x.dtype),)


def _reference(x: Any) -> list[Any]:
    factors, batch, rank = np.array(x), x.shape[:-2], min(x.shape[-2:])
    pivots = np.broadcast_to(np.arange(rank, dtype=_INT32), (*batch, rank)).copy()
    permutation = np.broadcast_to(np.arange(x.shape[-2], dtype=_INT32), x.shape[:-1]).copy()
    for index in np.ndindex(batch):
        matrix, order = factors[index], permutation[index]
        if not np.isfinite(matrix).all():
            matrix[...] = np.nan
            continue
        for j in range(rank):
            chosen = j + int(np.argmax(np.abs(matrix[j:, j].real) + np.abs(matrix[j:, j].imag)))
            pivots[index][j] = chosen
            matrix[[j, chosen]], order[[j, chosen]] = matrix[[chosen, j]], order[[chosen, j]]
            if matrix[j, j] != 0:
                matrix[j + 1 :, j] /= matrix[j, j]
            matrix[j + 1 :, j + 1 :] -= np.outer(matrix[j + 1 :, j], matrix[j, j + 1 :])
    return [factors, pivots, permutation]


def _infer(x: ShapedArray) -> tuple[ShapedArray, ...]:
    batch, rows = x.shape[:-2], x.shape[-2]
    return (
        ShapedArray(x.shape, x.dtype),
        ShapedArray((*batch, min(x.shape[-2:])), _INT32),
        ShapedArray((*batch, rows), _INT32),
    )


lu_p = decomposition(
    "lu",
    infer=_infer,
    compute=_compute,
    derive=_derive,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
)

# From swaps to a permutation

lu_pivots_to_permutation_p = Primitive("lu_pivots_to_permutation", pure_rules=True)


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """Returns swaps of rows, each with the row of its position, as one permutation.

    Args:
      pivots: int32, of shape (…, k): with which row each of the first k rows is swapped in turn, counted from 0.
      permutation_size: the number of rows, at least k.

    Returns:
      int32 of shape (…, permutation_size).

    Raises:
      ArgumentTypeError: the pivots are not int32.
      ArgumentValueError: they have no dimension, or ``permutation_size`` is smaller than k.

    >>> lu_pivots_to_permutation(np.array([2, 2], np.int32), 3)
    array([2, 0, 1], dtype=int32)

    Source: ``jax.lax.linalg.lu_pivots_to_permutation``.
    """
    (size,) = static_integers("lu_pivots_to_permutation", "permutation_size", (permutation_size,))
    _infer_permutation(get_aval(pivots), permutation_size=size)
    return lu_pivots_to_permutation_p.bind(pivots, permutation_size=size)


@lu_pivots_to_permutation_p.def_abstract_eval
def _infer_permutation(pivots: ShapedArray, *, permutation_size: int) -> ShapedArray:
    name = "lu_pivots_to_permutation"
    if pivots.dtype != _INT32:
        raise ArgumentTypeError(f"{name}: expected pivots of int32, got {pivots}; convert with astype")
    if not pivots.shape or pivots.shape[-1] > permutation_size:
        raise ArgumentValueError(
            f"{name}: expected a permutation_size of at least the number of pivots, got {permutation_size} for "
            f"{pivots}; give the number of rows of the matrix"
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), _INT32)


@lu_pivots_to_permutation_p.def_impl
def _permutation_impl(pivots: Any, *, permutation_size: int) -> Any:
    return _permutation(np.asarray(pivots), permutation_size)


without_derivative(lu_pivots_to_permutation_p)
lu_pivots_to_permutation_p.declare_absent("transpose", "it is not linear")


@lu_pivots_to_permutation_p.def_batch
def _permutation_batch(args: Sequence[Any], dims: Sequence[int], **params: int) -> tuple[Any, int]:
    return lu_pivots_to_permutation_p.bind(move_batch_dim(args[0], dims[0]), **params), 0


@lu_pivots_to_permutation_p.def_lowering
def _permutation_lowering(ctx: Any, pivots: Any, *, permutation_size: int) -> Any:
    return _lower_permutation(ctx, pivots, ctx.avals_in[0], ctx.avals_out[0])


def _sample_permutation(choose: Choose) -> Call:
    count = choose.integer(0, 4)
    aval = ShapedArray((*choose.shape(max_ndim=2), count), _INT32)
    return (aval,), {"permutation_size": count + choose.integer(0, 2)}


def _reference_permutation(pivots: Any, *, permutation_size: int) -> Any:
    out = np.empty((*pivots.shape[:-1], permutation_size), _INT32)
    for index in np.ndindex(pivots.shape[:-1]):
        order = list(range(permutation_size))
        for i, pivot in enumerate(pivots[index]):
            here = order[i]
            order[i] = order[pivot] if 0 <= pivot < permutation_size else 0
            if 0 <= pivot < permutation_size:
                order[pivot] = here
        out[index] = order
    return out


lu_pivots_to_permutation_p.declaration = Declaration(
    sample=_sample_permutation,
    reference=_reference_permutation,
    domain=(Interval(0.0, 3.0),),
    kinds="i",
    differentiable=False,
)
lu_p.def_rule("operations", of_matrices(2 / 3))
