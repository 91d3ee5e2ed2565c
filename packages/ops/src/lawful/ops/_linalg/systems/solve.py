"""Systems of linear equations with any regular matrices, solved by LAPACK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    Call,
    Choose,
    Declaration,
    JaxprEqn,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    get_aval,
    promote_dtypes,
)
from lawful.ops._linalg.decomposition import all_finite, finite_matrices, is_success, sample_dtype, where_matrix
from lawful.ops._linalg.matrices import conjugate, matrix_transpose
from lawful.ops._linalg.routines import getrf, trsm
from lawful.ops._linalg.systems.factors import gathered_rows
from lawful.ops._linalg.systems.lu import permutation_of_swaps
from lawful.ops._linalg.systems.triangular_solve import where_finite_lines
from lawful.ops._linalg.systems.typing import batch_system, infer_system
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.promotion import convert

__all__ = ["solve", "solve_p"]

solve_p = Primitive("solve", pure_rules=True)


def solve(a: Any, b: Any, *, transpose_a: bool = False, conjugate_a: bool = False) -> Any:
    """Returns the solution X of ``op(a) X = b``.

    NumPy finds it without the factors of ``a``. A program that solves more than one system with the same matrices is
    better off with `lu` and `solve_by_factors`.

    Args:
      a: an array of shape (…, m, m) of floating or complex dtype.
      b: an array of shape (…, m, n), of as many dimensions; one fewer is a single column.
      transpose_a: whether ``a`` is transposed.
      conjugate_a: whether ``a`` is conjugated.

    Returns:
      An array like ``b``. A column that has no finite solution is NaN, and all are for a singular matrix.

    Raises:
      ArgumentTypeError: a dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the shapes do not fit.

    >>> solve(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([2.0, 9.0]))
    array([1., 2.])

    Law: ``op(a) X = b``. Source: ``numpy.linalg.solve``; ``jax.lax.custom_linear_solve`` for the derivatives.
    """
    left, right = get_aval(a), get_aval(b)
    dtype, _ = promote_dtypes((left.dtype, left.weak_type), (right.dtype, right.weak_type))
    a, b = convert(a, dtype), convert(b, dtype)
    is_vector, axis = right.ndim == left.ndim - 1, right.ndim
    b = expand_dims(b, (axis,)) if is_vector else b
    infer_system("solve", get_aval(a), get_aval(b))
    conjugate_a = bool(conjugate_a) and dtype.kind == "c"
    out = solve_p.bind(a, b, transpose_a=bool(transpose_a), conjugate_a=conjugate_a)
    return squeeze(out, (axis,)) if is_vector else out


@solve_p.def_abstract_eval
def _abstract_eval(a: ShapedArray, b: ShapedArray, **_: bool) -> ShapedArray:
    return infer_system("solve_p", a, b)


@solve_p.def_impl
def _impl(a: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        if not all_finite(a):  # LAPACK may turn an infinite element into a zero
            a = np.where(np.isfinite(a).all((-2, -1), keepdims=True), a, a.dtype.type(np.nan))
        a = np.conj(a) if conjugate_a else a
        a = a.swapaxes(-1, -2) if transpose_a else a
        try:
            out = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            out = _one_by_one(a, b)
        if all_finite(out):
            return out
    return np.where(np.isfinite(out).all(-2, keepdims=True), out, out.dtype.type(np.nan))


def _one_by_one(a: Any, b: Any) -> Any:
    """Solves the systems one by one: NumPy solves none if one is singular."""
    out = np.full(b.shape, np.nan, b.dtype)
    for index in np.ndindex(a.shape[:-2]):
        try:
            out[index] = np.linalg.solve(a[index], b[index])
        except np.linalg.LinAlgError:
            continue  # stays NaN
    return out


@solve_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: bool) -> tuple[Any, Any]:
    (a, b), (a_dot, right) = primals, tangents
    ans = solve_p.bind(a, b, **params)
    if type(a_dot) is not Zero:
        # op(a) Ẋ = ḃ − op(ȧ) X
        change = matrix_transpose(a_dot) if params["transpose_a"] else a_dot
        change = (conjugate(change) if params["conjugate_a"] else change) @ ans
        right = -change if type(right) is Zero else right - change
    if type(right) is Zero:
        return ans, Zero(get_aval(ans).to_tangent_aval())
    return ans, solve_p.bind(a, right, **params)


@solve_p.def_transpose
def _transpose(ct: Any, a: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> list[Any]:
    assert not isinstance(a, UndefinedPrimal), "solve is not linear in a"
    if type(ct) is Zero:
        return [None, Zero(b.aval)]
    return [None, solve_p.bind(a, ct, transpose_a=not transpose_a, conjugate_a=conjugate_a)]


@solve_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None], **params: bool) -> tuple[Any, int]:
    return batch_system(solve_p, args, dims, params, left_side=True)


@solve_p.def_lowering
def _lower(ctx: Any, a: Any, b: Any, **_: bool) -> Any:
    aval, out_aval = ctx.avals_in
    if not out_aval.size:
        return ctx.zeros(out_aval)
    finite = finite_matrices(ctx, a, aval)
    a = where_matrix(ctx, finite, a, aval, 0)
    # XLA factors a matrix once, also if both the system and its transpose are solved.
    factors, pivots, info = getrf(ctx, a, aval)
    return ctx.call_rule(_lower_solution, factors, pivots, info, b)


def _lower_solution(
    ctx: Any, factors: Any, pivots: Any, info: Any, b: Any, *, transpose_a: bool, conjugate_a: bool
) -> Any:
    """Solves systems, given the transposed factors of the matrices, the pivots from 1 on, and LAPACK's status."""
    a_aval, aval = ctx.avals_in
    if conjugate_a and not transpose_a:
        factors = ctx.chlo.conj(factors)
    transpose = "N" if not transpose_a else "C" if conjugate_a else "T"
    # Singular matrices have a zero pivot, and so have those that are not finite.
    solvable = is_success(ctx, info, a_aval)

    def divided(x: Any, *, lower: bool) -> Any:
        return trsm(
            ctx, factors, x, aval, left_side=True, lower=lower, transpose=transpose, unit_diagonal=lower,
            transposed=True,
        )  # fmt: skip

    if transpose_a:
        b = divided(divided(where_matrix(ctx, solvable, b, aval, np.nan), lower=False), lower=True)
        out = _permuted(ctx, pivots, b, aval, inverse=True)
    else:
        b = where_matrix(ctx, solvable, _permuted(ctx, pivots, b, aval), aval, np.nan)
        out = divided(divided(b, lower=True), lower=False)
    return where_finite_lines(ctx, out, aval, aval.ndim - 2)


def _permuted(ctx: Any, pivots: Any, x: Any, aval: ShapedArray, *, inverse: bool = False) -> Any:
    """Returns the rows of matrices in the order of LAPACK's pivots, or put back from it."""
    rows = ShapedArray(aval.shape[:-1], np.dtype(np.int32))
    return gathered_rows(ctx, permutation_of_swaps(ctx, pivots, rows, rows, inverse=inverse), x, aval)


# For laws


def _sample(choose: Choose) -> Call:
    size, count = choose.integer(0, 4), choose.integer(0, 3)
    batch, dtype = choose.shape(max_ndim=1), sample_dtype(choose)
    params = {name: choose.one_of((False, True)) for name in ("transpose_a", "conjugate_a")}
    params["conjugate_a"] = params["conjugate_a"] and dtype.kind == "c"
    return (ShapedArray((*batch, size, size), dtype), ShapedArray((*batch, size, count), dtype)), params


def _prepare(a: Any, b: Any, **_: bool) -> tuple[Any, Any]:
    # Well conditioned, but rows must be swapped.
    return np.round(0.3 * a + 3 * np.roll(np.eye(a.shape[-1]), 1, axis=0), 2).astype(a.dtype), b


def _reference(a: Any, b: Any, *, transpose_a: bool, conjugate_a: bool) -> Any:
    """Solves by Cramer's rule."""
    a = a.swapaxes(-1, -2) if transpose_a else a
    a = np.conj(a) if conjugate_a else a
    out = np.full(b.shape, np.nan, b.dtype)
    for index in np.ndindex(a.shape[:-2]):
        matrix, right = a[index], b[index]
        for i, column in np.ndindex(right.shape):
            replaced = matrix.copy()
            replaced[:, i] = right[:, column]
            if np.isfinite(matrix).all() and np.isfinite(right[:, column]).all() and np.linalg.det(matrix):
                out[index][i, column] = np.linalg.det(replaced) / np.linalg.det(matrix)
    return out


solve_p.declaration = Declaration(sample=_sample, reference=_reference, prepare=_prepare, kinds="fc", linear=((1,),))


@solve_p.def_rule_as("operations")
def _operations(eqn: JaxprEqn) -> int:
    a, b = [atom.aval for atom in eqn.invars]
    return round(a.shape[-1] * (2 / 3 * a.size + 2 * b.size))
