"""Systems of linear equations with triangular matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    cached_function,
    get_aval,
    promote_dtypes,
)
from lawful.ops._elementwise.declaration import add_tangents
from lawful.ops._linalg.decomposition import (
    all_finite,
    compare_with_diagonal,
    is_finite,
    sample_dtype,
    where_matrix,
)
from lawful.ops._linalg.matrices import conjugate, matrix_transpose, triangle
from lawful.ops._linalg.routines import trsm
from lawful.ops._linalg.systems.typing import batch_system, infer_system
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.promotion import convert

__all__ = ["triangular_solve", "triangular_solve_p"]

triangular_solve_p = Primitive("triangular_solve", pure_rules=True)
triangular_solve_p.def_rule("operations", lambda eqn: eqn.invars[1].aval.size * eqn.invars[0].aval.shape[-1])

# Up to this size a system is solved row by row, above it by halves and products of matrices.
_SMALL = 32
_CURE = ", or set left_side"


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Returns the solution X of ``op(a) X = b``, or of ``X op(a) = b``, for triangular ``a``.

    Args:
      a: an array of shape (…, m, m) of floating or complex dtype; the triangle that is not used is not read.
      b: an array of shape (…, m, n) with ``left_side``, else (…, n, m), of as many dimensions; one fewer is a
        single column, or row.
      left_side: whether ``a`` stands on the left of the solution.
      lower: whether the lower triangle of ``a`` is used, and not the upper one.
      transpose_a: whether ``a`` is transposed.
      conjugate_a: whether ``a`` is conjugated.
      unit_diagonal: whether the diagonal of ``a`` is taken to be ones, and not read.

    Returns:
      An array like ``b``. A column (or row) that has no finite solution is NaN.

    Raises:
      ArgumentTypeError: a dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the shapes do not fit.

    >>> a = np.array([[2.0, 0.0], [1.0, 4.0]])
    >>> triangular_solve(a, np.array([2.0, 9.0]), left_side=True, lower=True)
    array([1., 2.])

    Law: ``op(a) X = b``. Source: ``jax.lax.linalg.triangular_solve``, where a singular system gives infinities too.
    """
    left, right = get_aval(a), get_aval(b)
    dtype, _ = promote_dtypes((left.dtype, left.weak_type), (right.dtype, right.weak_type))
    a, b = convert(a, dtype), convert(b, dtype)
    is_vector = right.ndim == left.ndim - 1
    axis = right.ndim if left_side else right.ndim - 1
    if is_vector and axis >= 0:
        b = expand_dims(b, (axis,))
    infer_system("triangular_solve", get_aval(a), get_aval(b), left_side=left_side, cure=_CURE)
    conjugate_a = bool(conjugate_a) and dtype.kind == "c"
    out = triangular_solve_p.bind(
        a, b, left_side=left_side, lower=lower, transpose_a=transpose_a, conjugate_a=conjugate_a,
        unit_diagonal=unit_diagonal,
    )  # fmt: skip
    return squeeze(out, (axis,)) if is_vector else out


# Evaluation and typing


@triangular_solve_p.def_impl
def evaluate_triangular_solve(
    a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool
) -> Any:
    """Returns the solutions of systems of NumPy's arrays."""
    a, b = np.asarray(a), np.asarray(b)
    size = a.shape[-1]
    mask = (_small_mask if size <= _SMALL else _mask)(size, lower, unit_diagonal)
    a = np.where(mask, a, a.dtype.type(0))
    if unit_diagonal:
        a = a + np.eye(a.shape[-1], dtype=a.dtype)
    with np.errstate(all="ignore"):
        regular: Any = True
        if not (all_finite(a) and np.logical_and.reduce(a.diagonal(0, -2, -1), None)):
            regular = np.isfinite(a).all((-2, -1)) & (a.diagonal(0, -2, -1) != 0).all(-1)
            if regular.all():
                regular = True
            else:
                a = np.where(regular[..., None, None], a, np.eye(size, dtype=a.dtype))
        a = np.conj(a) if conjugate_a and a.dtype.kind == "c" else a
        # X op(a) = b is equivalent to op(a)ᵀ Xᵀ = bᵀ.
        if transpose_a == left_side:
            a, lower = a.swapaxes(-1, -2), not lower
        right = b if left_side else b.swapaxes(-1, -2)
        out = _solve(a, right, lower)
        if not (regular is True and all_finite(out) and all_finite(right)):
            solved = np.asarray(regular)[..., None] & np.isfinite(right).all(-2) & np.isfinite(out).all(-2)
            out = np.where(solved[..., None, :], out, b.dtype.type(np.nan))
    return np.ascontiguousarray(out if left_side else out.swapaxes(-1, -2))


def _mask(size: int, lower: bool, unit_diagonal: bool) -> Any:
    """Returns the mask of the triangle that is read."""
    k = int(unit_diagonal)
    return np.tri(size, k=-k, dtype=bool) if lower else ~np.tri(size, k=k - 1, dtype=bool)


_small_mask = cached_function("masks of small triangles", 128)(_mask)


def _solve(a: Any, b: Any, lower: bool) -> Any:
    size = a.shape[-1]
    if size <= _SMALL:
        # For an upper triangle LAPACK's elimination does nothing; what remains is back substitution.
        if lower:
            return np.linalg.solve(a[..., ::-1, ::-1], b[..., ::-1, :])[..., ::-1, :]
        return np.linalg.solve(a, b)
    half = size // 2
    first, last = np.s_[..., :half, :], np.s_[..., half:, :]
    upper_left, lower_right = a[..., :half, :half], a[..., half:, half:]
    if lower:
        top = _solve(upper_left, b[first], lower)
        bottom = _solve(lower_right, b[last] - np.matmul(a[..., half:, :half], top), lower)
    else:
        bottom = _solve(lower_right, b[last], lower)
        top = _solve(upper_left, b[first] - np.matmul(a[..., :half, half:], bottom), lower)
    return np.concatenate([top, bottom], axis=-2)


@triangular_solve_p.def_abstract_eval
def _abstract_eval(a: ShapedArray, b: ShapedArray, *, left_side: bool, **_: bool) -> ShapedArray:
    return infer_system("triangular_solve_p", a, b, left_side=left_side, cure=_CURE)


# Derivatives


@triangular_solve_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: bool) -> tuple[Any, Any]:
    (a, b), (a_dot, b_dot) = primals, tangents
    ans = triangular_solve_p.bind(a, b, **params)
    total: Any = Zero(get_aval(ans).to_tangent_aval())
    if type(a_dot) is not Zero:
        # op(a) Ẋ = ḃ − op(ȧ) X
        offset = int(params["unit_diagonal"])
        change = triangle(a_dot, lower=params["lower"], k=-offset if params["lower"] else offset)
        change = matrix_transpose(change) if params["transpose_a"] else change
        change = conjugate(change) if params["conjugate_a"] else change
        right = -(change @ ans) if params["left_side"] else -(ans @ change)
        total = triangular_solve_p.bind(a, right, **params)
    if type(b_dot) is not Zero:
        total = add_tangents(total, triangular_solve_p.bind(a, b_dot, **params))
    return ans, total


@triangular_solve_p.def_transpose
def _transpose(ct: Any, a: Any, b: Any, *, transpose_a: bool, **params: bool) -> list[Any]:
    assert not isinstance(a, UndefinedPrimal), "triangular_solve is not linear in a"
    if type(ct) is Zero:
        return [None, Zero(b.aval)]
    return [None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)]


# Batching


@triangular_solve_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None], **params: bool) -> tuple[Any, int]:
    return batch_system(triangular_solve_p, args, dims, params, left_side=params["left_side"])


# Lowering


@triangular_solve_p.def_lowering
def _lower(ctx: Any, a: Any, b: Any, **_: bool) -> Any:
    return ctx.call_rule(_lower_system, a, b)


def _lower_system(
    ctx: Any, a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool
) -> Any:
    a_aval, aval = ctx.avals_in
    if not aval.size:
        return ctx.zeros(aval)
    # The right-hand side of a matrix without solutions is NaN, and so is the solution then.
    regular = _are_regular(ctx, a, a_aval, lower=lower, unit_diagonal=unit_diagonal)
    b = where_matrix(ctx, regular, b, aval, np.nan)
    if conjugate_a and not transpose_a:
        a, conjugate_a = ctx.chlo.conj(a), False
    transpose = "N" if not transpose_a else "C" if conjugate_a else "T"
    out = trsm(
        ctx, a, b, aval, left_side=left_side, lower=lower, transpose=transpose, unit_diagonal=unit_diagonal
    )  # fmt: skip
    return where_finite_lines(ctx, out, aval, aval.ndim - 2 if left_side else aval.ndim - 1)


def where_finite_lines(ctx: Any, x: Any, aval: ShapedArray, axis: int) -> Any:
    """Returns matrices with NaN in the columns or rows along an axis that are not finite."""
    finite = ctx.reduce(is_finite(ctx, x, aval), True, (axis,), "and_")
    kept = ctx.i64_array([dim for dim in range(aval.ndim) if dim != axis])
    mask = ctx.hlo.broadcast_in_dim(ctx.tensor_type(aval.update(dtype=np.dtype(bool))), finite, kept)
    return ctx.hlo.select(mask, x, ctx.full(aval, np.nan))


def _are_regular(ctx: Any, a: Any, aval: ShapedArray, *, lower: bool, unit_diagonal: bool) -> Any:
    """Returns, for each matrix, whether the part that is read is finite, with no zero on the diagonal."""
    hlo = ctx.hlo
    good = is_finite(ctx, a, aval)
    if not unit_diagonal:
        nonzero = ctx.compare(a, ctx.zeros(aval), "NE")
        good = hlo.and_(good, hlo.or_(compare_with_diagonal(ctx, aval, "NE"), nonzero))
    unread = ("LE" if lower else "GE") if unit_diagonal else ("LT" if lower else "GT")
    good = hlo.or_(good, compare_with_diagonal(ctx, aval, unread))
    return ctx.reduce(good, True, (aval.ndim - 2, aval.ndim - 1), "and_")


# For laws


def _sample(choose: Choose) -> Call:
    size, count = choose.integer(0, 4), choose.integer(0, 3)
    batch, dtype = choose.shape(max_ndim=1), sample_dtype(choose)
    names = ("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal")
    params = {name: choose.one_of((False, True)) for name in names}
    params["conjugate_a"] = params["conjugate_a"] and dtype.kind == "c"
    matrix = (size, count) if params["left_side"] else (count, size)
    return (ShapedArray((*batch, size, size), dtype), ShapedArray((*batch, *matrix), dtype)), params


def _prepare(a: Any, b: Any, **_: bool) -> tuple[Any, Any]:
    return np.round(0.3 * a + 2 * np.eye(a.shape[-1]), 2).astype(a.dtype), b


def _reference(
    a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool
) -> Any:
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = np.where(np.eye(a.shape[-1], dtype=bool), a.dtype.type(1), a)
    out = np.full(b.shape, np.nan, b.dtype)
    for index in np.ndindex(a.shape[:-2]):
        matrix = a[index].T if transpose_a else a[index]
        matrix = np.conj(matrix) if conjugate_a else matrix
        matrix, right, solution = (x if left_side else x.T for x in (matrix, b[index], out[index]))
        if not np.isfinite(matrix).all() or not np.diag(matrix).all():
            continue
        for column in range(right.shape[1]):
            if np.isfinite(right[:, column]).all():
                solution[:, column] = np.linalg.solve(matrix, right[:, column])
    return out


triangular_solve_p.declaration = Declaration(
    sample=_sample, reference=_reference, prepare=_prepare, kinds="fc", linear=((1,),)
)
