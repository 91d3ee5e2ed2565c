"""Systems of linear equations with matrices that are given by the factors of their LU decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    JaxprEqn,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Unequal,
    Zero,
    get_aval,
)
from lawful.ops._elementwise.select import where
from lawful.ops._linalg.decomposition import is_finite, sample_dtype, where_matrix
from lawful.ops._linalg.matrices import below_diagonal, conjugate, identity, matrix_transpose
from lawful.ops._linalg.routines import trsm
from lawful.ops._linalg.systems.lu import permutation_matrix
from lawful.ops._linalg.systems.triangular_solve import evaluate_triangular_solve, where_finite_lines
from lawful.ops._linalg.systems.typing import batch_system, infer_system
from lawful.ops._products.functions import matmul
from lawful.ops._support.structural import zeros_of

__all__ = ["solve_by_factors", "solve_by_factors_p"]

solve_by_factors_p = Primitive("solve_by_factors", pure_rules=True)

_INT32 = np.dtype(np.int32)


def solve_by_factors(
    factors: Any, permutation: Any, b: Any, *, transpose_a: bool = False, conjugate_a: bool = False
) -> Any:
    """Returns what `solve` gives, from the factors of the matrices.

    Args:
      factors: as `lu` gives them, of shape (…, m, m).
      permutation: as `lu` gives it, of shape (…, m).
      b: an array of shape (…, m, n) of the same dtype; all have the same dimensions before the matrices.
      transpose_a: whether the matrices are transposed.
      conjugate_a: whether they are conjugated.

    Raises:
      ArgumentTypeError: the dtypes do not fit.
      ArgumentValueError: the shapes do not fit.

    >>> from lawful.ops import lu
    >>> factors, _, permutation = lu(np.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> solve_by_factors(factors, permutation, np.array([[2.0], [9.0]]))
    array([[1.],
           [2.]])
    """
    _infer(get_aval(factors), get_aval(permutation), get_aval(b))
    conjugate_a = bool(conjugate_a) and get_aval(factors).dtype.kind == "c"
    return solve_by_factors_p.bind(factors, permutation, b, transpose_a=bool(transpose_a), conjugate_a=conjugate_a)


@solve_by_factors_p.def_abstract_eval
def _infer(factors: ShapedArray, permutation: ShapedArray, b: ShapedArray, **_: bool) -> ShapedArray:
    out = infer_system("solve_by_factors", factors, b)
    if permutation.dtype != _INT32:
        raise ArgumentTypeError(
            f"solve_by_factors: expected a permutation of int32, got {permutation}; give that of lu"
        )
    if permutation.shape != factors.shape[:-1]:
        raise ArgumentValueError(
            f"solve_by_factors: expected a permutation of shape {factors.shape[:-1]}, got {permutation}; "
            "give that of lu"
        )
    return out


@solve_by_factors_p.def_impl
def _impl(factors: Any, permutation: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> Any:
    rows = np.clip(permutation, 0, max(np.shape(b)[-2] - 1, 0))[..., None]  # XLA takes the nearest row

    def divided(x: Any, *, lower: bool) -> Any:
        return evaluate_triangular_solve(
            factors, x, left_side=True, lower=lower, unit_diagonal=lower, transpose_a=transpose_a,
            conjugate_a=conjugate_a,
        )  # fmt: skip

    if not transpose_a:
        return divided(divided(np.take_along_axis(np.asarray(b), rows, -2), lower=True), lower=False)
    out = divided(divided(b, lower=False), lower=True)
    return np.take_along_axis(out, np.argsort(rows, axis=-2), -2)


@solve_by_factors_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: bool) -> tuple[Any, Any]:
    (factors, permutation, _), (factors_dot, _, right) = primals, tangents
    ans = solve_by_factors_p.bind(*primals, **params)
    if type(factors_dot) is not Zero:
        change = _change(factors, factors_dot, permutation, ans, **params)
        right = -change if type(right) is Zero else right - change
    if type(right) is Zero:
        return ans, Zero(get_aval(ans).to_tangent_aval())
    return ans, solve_by_factors_p.bind(factors, permutation, right, **params)


def _change(factors: Any, factors_dot: Any, permutation: Any, x: Any, *, transpose_a: bool, conjugate_a: bool) -> Any:
    """Returns ``op(ȧ) x``, where ``P ȧ = L̇ U + L U̇``."""
    aval = get_aval(factors)
    size = aval.shape[-1]
    if conjugate_a:
        factors, factors_dot = conjugate(factors), conjugate(factors_dot)
    # One mask and one zero for both triangles, and products from the right: less stays in memory for the transpose.
    strict, zero = below_diagonal(size, size, -1), zeros_of(aval)
    lower, upper = where(strict, factors, identity(size, size, aval.dtype)), where(strict, zero, factors)
    lower_dot, upper_dot = where(strict, factors_dot, zero), where(strict, zero, factors_dot)
    order = permutation_matrix(permutation, aval.dtype)
    if transpose_a:
        x = matmul(order, x)
        rest = matmul(matrix_transpose(upper_dot), matmul(matrix_transpose(lower), x))
        return matmul(matrix_transpose(upper), matmul(matrix_transpose(lower_dot), x)) + rest
    permuted = matmul(lower_dot, matmul(upper, x)) + matmul(lower, matmul(upper_dot, x))
    return matmul(matrix_transpose(order), permuted)


@solve_by_factors_p.def_transpose
def _transpose(ct: Any, factors: Any, permutation: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> list[Any]:
    assert not isinstance(factors, UndefinedPrimal), "solve_by_factors is not linear in the factors"
    if type(ct) is Zero:
        return [None, None, Zero(b.aval)]
    flags = {"transpose_a": not transpose_a, "conjugate_a": conjugate_a}
    return [None, None, solve_by_factors_p.bind(factors, permutation, ct, **flags)]


@solve_by_factors_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None], **params: bool) -> tuple[Any, int]:
    return batch_system(solve_by_factors_p, args, dims, params, left_side=True)


# Lowering


@solve_by_factors_p.def_lowering
def _lower(ctx: Any, factors: Any, permutation: Any, b: Any, **_: bool) -> Any:
    aval = ctx.avals_in[2]
    return ctx.call_rule(_lower_solution, factors, permutation, b) if aval.size else ctx.zeros(aval)


def _lower_solution(ctx: Any, factors: Any, permutation: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> Any:
    a_aval, rows, aval = ctx.avals_in
    # Factors of matrices that are not finite are NaN; a pivot of a singular matrix is zero.
    pivots = _diagonal(ctx, factors, a_aval, rows)
    pivot_aval = a_aval.update(shape=rows.shape)
    good = ctx.hlo.and_(is_finite(ctx, pivots, pivot_aval), ctx.compare(pivots, ctx.zeros(pivot_aval), "NE"))
    solvable = ctx.reduce(good, True, (aval.ndim - 2,), "and_")
    if conjugate_a and not transpose_a:
        factors = ctx.chlo.conj(factors)
    transpose = "N" if not transpose_a else "C" if conjugate_a else "T"

    def divided(x: Any, *, lower: bool) -> Any:
        return trsm(
            ctx, factors, x, aval, left_side=True, lower=lower, transpose=transpose, unit_diagonal=lower
        )  # fmt: skip

    if not transpose_a:
        b = divided(gathered_rows(ctx, permutation, b, aval), lower=True)
        out = divided(where_matrix(ctx, solvable, b, aval, np.nan), lower=False)
    else:
        out = divided(divided(where_matrix(ctx, solvable, b, aval, np.nan), lower=False), lower=True)
        out = gathered_rows(ctx, _inverse(ctx, permutation, rows), out, aval)
    return where_finite_lines(ctx, out, aval, aval.ndim - 2)


def _diagonal(ctx: Any, x: Any, aval: ShapedArray, rows: ShapedArray) -> Any:
    hlo, batch = ctx.hlo, range(aval.ndim - 2)
    numbers = hlo.GatherDimensionNumbers.get(
        offset_dims=[*batch],
        collapsed_slice_dims=[aval.ndim - 2, aval.ndim - 1],
        operand_batching_dims=[],
        start_indices_batching_dims=[],
        start_index_map=[aval.ndim - 2, aval.ndim - 1],
        index_vector_dim=1,
    )
    indices = hlo.iota(ctx.tensor_type(rows.update(shape=(rows.shape[-1], 2))), ctx.i64(0))
    return hlo.gather(x, indices, numbers, ctx.i64_array([*aval.shape[:-2], 1, 1]))


def gathered_rows(ctx: Any, permutation: Any, x: Any, aval: ShapedArray) -> Any:
    """Returns the rows of matrices in the order of permutations."""
    hlo, batch = ctx.hlo, [*range(aval.ndim - 2)]
    numbers = hlo.GatherDimensionNumbers.get(
        offset_dims=[aval.ndim - 1],
        collapsed_slice_dims=[aval.ndim - 2],
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
        start_index_map=[aval.ndim - 2],
        index_vector_dim=aval.ndim - 1,
    )
    column = hlo.reshape(ctx.tensor_type(ShapedArray((*aval.shape[:-1], 1), _INT32)), permutation)
    return hlo.gather(x, column, numbers, ctx.i64_array([1] * (aval.ndim - 1) + [aval.shape[-1]]))


def _inverse(ctx: Any, permutation: Any, aval: ShapedArray) -> Any:
    """Returns the inverses of permutations."""
    hlo, batch = ctx.hlo, [*range(aval.ndim - 1)]
    axis = aval.ndim - 1
    numbers = hlo.ScatterDimensionNumbers.get(
        update_window_dims=[],
        inserted_window_dims=[axis],
        input_batching_dims=batch,
        scatter_indices_batching_dims=batch,
        scattered_dims_to_operand_dims=[axis],
        index_vector_dim=aval.ndim,
    )
    column = hlo.reshape(ctx.tensor_type(aval.update(shape=(*aval.shape, 1))), permutation)
    positions = hlo.iota(ctx.tensor_type(aval), ctx.i64(axis))
    unique = ctx.ir.BoolAttr.get(True)
    out = hlo.ScatterOp([ctx.tensor_type(aval)], [ctx.zeros(aval)], column, [positions], numbers, unique_indices=unique)
    scalar = ctx.tensor_type(ShapedArray((), _INT32))
    with ctx.block(out.regions[0], [scalar, scalar]) as (_, position):
        hlo.return_([position])
    return out.results[0]


# For laws


def _sample(choose: Choose) -> Call:
    size, count = choose.integer(0, 4), choose.integer(0, 3)
    batch, dtype = choose.shape(max_ndim=1), sample_dtype(choose)
    params = {name: choose.one_of((False, True)) for name in ("transpose_a", "conjugate_a")}
    params["conjugate_a"] = params["conjugate_a"] and dtype.kind == "c"
    shapes = ((*batch, size, size), dtype), ((*batch, size), _INT32), ((*batch, size, count), dtype)
    return tuple([ShapedArray(*shape) for shape in shapes]), params


def _prepare(factors: Any, permutation: Any, b: Any, **_: bool) -> tuple[Any, Any, Any]:
    size = factors.shape[-1]
    order = np.broadcast_to(np.roll(np.arange(size, dtype=_INT32), 1), permutation.shape)
    return np.round(0.3 * factors + 2 * np.eye(size), 2).astype(factors.dtype), order.copy(), b


def _reference(factors: Any, permutation: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> Any:
    out = np.full(b.shape, np.nan, b.dtype)
    for index in np.ndindex(b.shape[:-2]):
        found, right = factors[index], b[index]
        if not np.isfinite(found).all() or not np.diag(found).all():
            continue
        matrix = np.empty_like(found)
        matrix[permutation[index]] = (np.tril(found, -1) + np.eye(len(found), dtype=found.dtype)) @ np.triu(found)
        matrix = matrix.T if transpose_a else matrix
        matrix = np.conj(matrix) if conjugate_a else matrix
        for column in range(right.shape[1]):
            if np.isfinite(right[:, column]).all():
                out[index][:, column] = np.linalg.solve(matrix, right[:, column])
    return out


def _is_no_permutation(factors: Any, permutation: Any, b: Any, **_: bool) -> bool:
    return not np.array_equal(np.sort(permutation, -1), np.broadcast_to(np.arange(b.shape[-2]), permutation.shape))


solve_by_factors_p.declaration = Declaration(
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    kinds="fc",
    linear=((2,),),
    unequal=(Unequal("", _is_no_permutation, "matrices are given by their factors and a permutation of their rows"),),
)


@solve_by_factors_p.def_rule_as("operations")
def _operations(eqn: JaxprEqn) -> int:
    return 2 * eqn.invars[2].aval.size * eqn.invars[0].aval.shape[-1]
