"""Systems of linear equations with tridiagonal matrices."""

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
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    get_aval,
    promote_dtypes,
)
from lawful.ops._linalg.decomposition import info_of, is_finite, is_success, sample_dtype, where_matrix
from lawful.ops._linalg.matrices import as_column, matrix_dtypes
from lawful.ops._linalg.systems.triangular_solve import where_finite_lines
from lawful.ops._shape.joining import pad
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.batch_dimensions import align_to_front, move_batch_dim
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import instantiate

__all__ = ["tridiagonal_solve", "tridiagonal_solve_p"]

tridiagonal_solve_p = Primitive("tridiagonal_solve", pure_rules=True)


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any) -> Any:
    """Returns the solution X of ``A X = b`` for tridiagonal A, by elimination with swaps of rows.

    Args:
      dl: the elements below the diagonal, an array of shape (…, m): ``A[i, i - 1]`` is ``dl[i]``, and ``dl[0]`` is not
        read.
      d: the diagonal, of the same shape.
      du: the elements above the diagonal, of the same shape: ``A[i, i + 1]`` is ``du[i]``, and ``du[m - 1]`` is not
        read.
      b: an array of shape (…, m, n), or (…, m) for a single column.

    Returns:
      An array like ``b``. A column that has no finite solution is NaN, and all are for a singular matrix.

    Raises:
      ArgumentTypeError: a dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the shapes do not fit.

    A program that XLA compiles solves it on the CPU only.

    >>> dl, d, du = np.array([0.0, 1.0, 1.0]), np.array([2.0, 2.0, 2.0]), np.array([1.0, 1.0, 0.0])
    >>> tridiagonal_solve(dl, d, du, np.array([3.0, 4.0, 3.0])).round(6)
    array([1., 1., 1.])

    Law: ``A X = b``. Source: ``jax.lax.linalg.tridiagonal_solve``; LAPACK's ``gtsv``.
    """
    args = [dl, d, du, b]
    avals = [get_aval(x) for x in args]
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    dl, d, du, b = (convert(x, dtype) for x in args)
    is_vector, axis = avals[3].ndim == avals[1].ndim, avals[3].ndim
    b = expand_dims(b, (axis,)) if is_vector else b
    _infer("tridiagonal_solve", *[get_aval(x) for x in (dl, d, du, b)])
    out = tridiagonal_solve_p.bind(dl, d, du, b)
    return squeeze(out, (axis,)) if is_vector else out


def _infer(name: str, dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray) -> ShapedArray:
    if d.dtype not in matrix_dtypes or any(x.dtype != d.dtype for x in (dl, du, b)):
        raise ArgumentTypeError(
            f"{name}: expected arrays of one dtype, {', '.join(dtype.name for dtype in matrix_dtypes)}, got {dl}, {d}, "
            f"{du} and {b}; convert with astype"
        )
    if not d.ndim or not dl.shape == d.shape == du.shape == b.shape[:-1]:
        raise ArgumentValueError(
            f"{name}: expected three diagonals of shape (…, m) and b of shape (…, m, n), got {dl.shape}, {d.shape}, "
            f"{du.shape} and {b.shape}; begin dl and end du with an element that is not read"
        )
    return ShapedArray(b.shape, b.dtype)


@tridiagonal_solve_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray) -> ShapedArray:
    return _infer("tridiagonal_solve_p", *avals)


# Evaluation


@tridiagonal_solve_p.def_impl
def _impl(dl: Any, d: Any, du: Any, b: Any) -> Any:
    *batch, size, count = np.shape(b)
    total = math.prod(batch)
    if not np.size(b):
        return np.zeros(np.shape(b), np.asarray(b).dtype)
    # The rows come first: each step of the elimination is one of all systems.
    lower, middle, upper = (np.moveaxis(np.reshape(x, (total, size)), 1, 0).copy()[..., None] for x in (dl, d, du))
    right = np.moveaxis(np.reshape(b, (total, size, count)), 1, 0).copy()
    lower[0] = upper[-1] = 0
    finite = np.all([np.isfinite(x).all((0, 2)) for x in (lower, middle, upper)], axis=0)
    with np.errstate(all="ignore"):
        solved = _eliminate(lower, middle, upper, right)
    solved = solved[:, None] & finite[:, None] & np.isfinite(right).all(0)
    out = np.where(solved, right, right.dtype.type(np.nan))
    return np.ascontiguousarray(np.moveaxis(out, 0, 1)).reshape(*batch, size, count)


def _eliminate(dl: Any, d: Any, du: Any, b: Any) -> Any:
    """Solves in place; returns which matrices are regular. Swaps make a second diagonal above the first, ``far``."""
    size = len(d)
    far = np.zeros_like(d)
    for i in range(size - 1):
        here, below = d[i], dl[i + 1]
        swapped = _size(below) > _size(here)
        pivot, other = np.where(swapped, below, here), np.where(swapped, here, below)
        factor = other / np.where(pivot == 0, d.dtype.type(1), pivot)
        first, second = np.where(swapped, d[i + 1], du[i]), np.where(swapped, du[i], d[i + 1])
        far[i] = np.where(swapped, du[i + 1], 0)
        d[i], du[i], d[i + 1] = pivot, first, second - factor * first
        du[i + 1] = np.where(swapped, -factor * far[i], du[i + 1])
        top, bottom = np.where(swapped, b[i + 1], b[i]), np.where(swapped, b[i], b[i + 1])
        b[i], b[i + 1] = top, bottom - factor * top
    b[-1] /= d[-1]
    for i in range(size - 2, -1, -1):
        rest = b[i] - du[i] * b[i + 1]
        if i + 2 < size:
            rest -= far[i] * b[i + 2]
        b[i] = rest / d[i]
    return (d != 0).all((0, 2))


def _size(x: Any) -> Any:
    """Returns what LAPACK compares pivots by."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


# Derivatives


@tridiagonal_solve_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    *diagonals, b = primals
    *changes, right = tangents
    ans = tridiagonal_solve_p.bind(*diagonals, b)
    if not all(type(change) is Zero for change in changes):
        # A Ẋ = ḃ − Ȧ X
        below, middle, above = map(instantiate, changes)
        product = _multiply(below, middle, above, ans)
        right = -product if type(right) is Zero else right - product
    if type(right) is Zero:
        return ans, Zero(get_aval(ans).to_tangent_aval())
    return ans, tridiagonal_solve_p.bind(*diagonals, right)


def _multiply(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """Returns the product of tridiagonal matrices with others."""
    aval = get_aval(x)
    return (
        as_column(dl, aval.shape[-1]) * _shifted(x, 1)
        + as_column(d, aval.shape[-1]) * x
        + as_column(du, aval.shape[-1]) * _shifted(x, -1)
    )


def _shifted(x: Any, by: int, axis: int = -2) -> Any:
    """Returns arrays whose elements along an axis are moved, those at the end lost and zeros put in."""
    aval = get_aval(x)
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (by, -by, 0)
    return pad(x, aval.dtype.type(0), config)


@tridiagonal_solve_p.def_transpose
def _transpose(ct: Any, dl: Any, d: Any, du: Any, b: Any) -> list[Any]:
    assert not any(isinstance(x, UndefinedPrimal) for x in (dl, d, du)), "it is linear in b only"
    if type(ct) is Zero:
        return [None, None, None, Zero(b.aval)]
    return [None, None, None, tridiagonal_solve_p.bind(_shifted(du, 1, -1), d, _shifted(dl, -1, -1), ct)]


@tridiagonal_solve_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int]:
    if any(dim is not None for dim in dims[:3]):
        return tridiagonal_solve_p.bind(*align_to_front(args, dims)), 0
    # With one matrix for the whole batch, the batch is merged into the columns of one system.
    *diagonals, b = args
    assert dims[3] is not None
    last = get_aval(b).ndim - 1
    b = move_batch_dim(b, dims[3], last)
    shape = get_aval(b).shape
    merged = reshape(b, (*shape[:-2], shape[-2] * shape[-1]))
    return reshape(tridiagonal_solve_p.bind(*diagonals, merged), shape), last


# Lowering


def _lower(ctx: Any, dl: Any, d: Any, du: Any, b: Any) -> Any:
    aval, _, _, out_aval = ctx.avals_in
    if not out_aval.size:
        return ctx.zeros(out_aval)
    finite = _are_finite(ctx, dl, d, du, aval)
    results = [aval, aval, aval, out_aval, info_of(out_aval)]
    *_, out, info = ctx.lapack("gtsv", [dl, d, du, b], results)
    solved = ctx.hlo.and_(finite, is_success(ctx, info, out_aval))
    return where_finite_lines(ctx, where_matrix(ctx, solved, out, out_aval, np.nan), out_aval, out_aval.ndim - 2)


tridiagonal_solve_p.def_lowering(_lower, platform="cpu")


def _are_finite(ctx: Any, dl: Any, d: Any, du: Any, aval: ShapedArray) -> Any:
    """Returns, for each matrix, whether all elements that are read are finite."""
    hlo, axis = ctx.hlo, aval.ndim - 1
    indices = aval.update(dtype=np.dtype(np.int32))
    position = hlo.iota(ctx.tensor_type(indices), ctx.i64(axis))
    good = is_finite(ctx, d, aval)
    for x, unread in ((dl, 0), (du, aval.shape[-1] - 1)):
        is_unread = ctx.compare(position, ctx.full(indices, unread), "EQ")
        good = hlo.and_(good, hlo.or_(is_finite(ctx, x, aval), is_unread))
    return ctx.reduce(good, True, (axis,), "and_")


# For laws


def _sample(choose: Choose) -> Call:
    batch, size, count = choose.shape(max_ndim=1), choose.integer(0, 4), choose.integer(0, 3)
    dtype = sample_dtype(choose)
    diagonal = ShapedArray((*batch, size), dtype)
    return (diagonal, diagonal, diagonal, ShapedArray((*batch, size, count), dtype)), {}


def _prepare(dl: Any, d: Any, du: Any, b: Any) -> tuple[Any, ...]:
    # Regular, but rows must be swapped.
    position = np.arange(d.shape[-1])
    pattern, last = np.where(position % 2, 3, 0), np.where(position == d.shape[-1] - 1, 2, 0)
    changed = (0.2 * dl + pattern, 0.3 * d + last, 0.2 * du + 3 - pattern)
    return *[np.round(x, 2).astype(b.dtype) for x in changed], b


def _reference(dl: Any, d: Any, du: Any, b: Any) -> Any:
    out = np.full(b.shape, np.nan, b.dtype)
    for index in np.ndindex(d.shape[:-1]):
        matrix = np.diag(d[index]) + np.diag(dl[index][1:], -1) + np.diag(du[index][:-1], 1)
        if np.isfinite(matrix).all() and np.linalg.matrix_rank(matrix) == len(matrix):
            solution = np.linalg.solve(matrix, b[index])
            out[index] = np.where(np.isfinite(b[index]).all(0), solution, np.nan)
    return out


tridiagonal_solve_p.declaration = Declaration(
    sample=_sample, reference=_reference, prepare=_prepare, kinds="fc", linear=((3,),)
)
