"""The QR decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Call, Choose, ShapedArray, get_aval
from lawful.ops._linalg.decomposition import decomposition, mask_triangle, sample_dtype
from lawful.ops._linalg.matrices import (
    adjoint,
    as_row,
    check_matrices,
    columns_of,
    diagonal,
    identity,
    imaginary,
    pad_matrix,
    rows_of,
    triangle,
    with_complement,
)
from lawful.ops._linalg.routines import geqrf, orgqr
from lawful.ops._linalg.systems.triangular_solve import triangular_solve
from lawful.ops._shape.joining import concatenate
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["qr", "qr_p"]


def qr(x: Any, *, full_matrices: bool = True) -> tuple[Any, Any]:
    """Returns the QR decomposition ``x = Q R``, of a unitary Q and an upper triangular R, by Householder reflections.

    Args:
      x: an array of shape (…, m, n) of floating or complex dtype.
      full_matrices: whether Q has all m columns, and R all m rows; otherwise they have k = min(m, n).

    Returns:
      ``(Q, R)``, of shapes (…, m, m) and (…, m, n), or (…, m, k) and (…, k, n). The diagonal of R is real, of any sign.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the array has fewer than two dimensions.

    The derivative needs the first k columns to be independent. Of the columns of Q beyond k only the space that they
    span is determined; their derivative is the one that lies in the other columns.

    >>> qr(np.array([[3.0], [4.0]]), full_matrices=False)[1]
    array([[-5.]])

    Law: ``Q R = x`` and ``Qᴴ Q = 1``. Source: ``jax.lax.linalg.qr``; the derivative is in Walter & Lehmann 2012,
    "Algorithmic differentiation of linear algebra functions with application in optimum experimental design",
    https://arxiv.org/abs/1001.1654.
    """
    check_matrices("qr", get_aval(x))
    q, r = qr_p.bind(x, full_matrices=bool(full_matrices))
    return q, r


def _derive(x: Any, x_dot: Any, *, full_matrices: bool) -> tuple[list[Any], list[Any]]:
    rows, columns = get_aval(x).shape[-2:]
    rank = min(rows, columns)
    q, r = qr_p.bind(x, full_matrices=full_matrices)
    thin, square = columns_of(q, 0, rank), columns_of(rows_of(r, 0, rank), 0, rank)
    thin_dot, square_dot = _derive_thin(thin, square, columns_of(x_dot, 0, rank))
    q_dot, r_dot = thin_dot, square_dot
    if rows < columns:  # the other columns of x are Q times those of R
        rest = columns_of(x_dot, rank, columns) - thin_dot @ columns_of(r, rank, columns)
        r_dot = concatenate([square_dot, adjoint(thin) @ rest], get_aval(r).ndim - 1)
    if full_matrices and rows > columns:
        q_dot = with_complement(thin, thin_dot, q)
        r_dot = pad_matrix(square_dot, rows, columns)
    return [q, r], [q_dot, r_dot]


def _derive_thin(q: Any, r: Any, x_dot: Any) -> tuple[Any, Any]:
    """Returns the derivatives of Q and of a square R, whose diagonal stays real."""
    change = triangular_solve(r, x_dot)  # ẋ R⁻¹ = Q̇ + Q Ṙ R⁻¹
    inner = adjoint(q) @ change
    below = triangle(inner, lower=True, k=-1)
    rotation = below - adjoint(below)  # Qᴴ Q̇, which is skew
    dtype = get_aval(x_dot).dtype
    if dtype.kind == "c":
        size = get_aval(r).shape[-1]
        rotation = rotation + identity(size, size, dtype) * as_row(imaginary(diagonal(inner).imag, dtype))
    return q @ (rotation - inner) + change, (inner - rotation) @ r


def _compute(x: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    q, r = np.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


def _infer(x: ShapedArray, *, full_matrices: bool) -> tuple[ShapedArray, ShapedArray]:
    *batch, rows, columns = x.shape
    rank = rows if full_matrices else min(rows, columns)
    return ShapedArray((*batch, rows, rank), x.dtype), ShapedArray((*batch, rank, columns), x.dtype)


def _lower(ctx: Any, x: Any, *, full_matrices: bool) -> tuple[list[Any], Any]:
    (aval,), (q_aval, r_aval) = ctx.avals_in, ctx.avals_out
    *batch, rows, columns = aval.shape
    rank = min(rows, columns)
    reflections, tau = geqrf(ctx, x, aval)

    def part(height: int, width: int) -> Any:
        limits = [*batch, height, width]
        strides = ctx.i64_array([1] * aval.ndim)
        return ctx.hlo.slice(reflections, ctx.i64_array([0] * aval.ndim), ctx.i64_array(limits), strides)

    below = part(rows, rank)
    width = q_aval.shape[-1]
    if width > rank:
        config = [ctx.i64_array(v) for v in ([0] * aval.ndim, [0] * (aval.ndim - 1) + [width - rank], [0] * aval.ndim)]
        below = ctx.hlo.pad(below, ctx.constant(aval.dtype.type(0)), *config)
    q = orgqr(ctx, below, tau, q_aval)
    return [q, mask_triangle(ctx, part(r_aval.shape[-2], columns), r_aval, lower=False)], None


def _sample(choose: Choose) -> Call:
    rows, columns = choose.integer(0, 4), choose.integer(0, 4)
    dtype = sample_dtype(choose)
    # Finite differences need columns of Q that are determined up to the sign: at most one beyond the first k, real.
    full = choose.one_of((False, True)) and (rows <= columns or (rows == columns + 1 and dtype.kind == "f"))
    return (ShapedArray((*choose.shape(max_ndim=1), rows, columns), dtype),), {"full_matrices": full}


def _prepare(x: Any, *, full_matrices: bool) -> tuple[Any]:
    rows, columns = x.shape[-2:]
    return (np.round(0.3 * x + 3 * np.roll(np.eye(rows, columns), 1, axis=0), 2).astype(x.dtype),)


def _reference(x: Any, *, full_matrices: bool) -> list[Any]:
    """Reflects the columns onto an axis, one after the other."""
    rows, columns = x.shape[-2:]
    width = rows if full_matrices else min(rows, columns)
    q = np.full((*x.shape[:-2], rows, width), np.nan, x.dtype)
    r = np.full((*x.shape[:-2], width, columns), np.nan, x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        if np.isfinite(x[index]).all():
            unitary, triangular = np.eye(rows, dtype=x.dtype), np.array(x[index])
            for j in range(min(rows, columns)):
                reflection = _reflection(triangular[j:, j])
                triangular[j:] = np.conj(reflection.T) @ triangular[j:]
                triangular[j + 1 :, j] = 0
                unitary[:, j:] = unitary[:, j:] @ reflection
            q[index], r[index] = unitary[:, :width], triangular[:width]
    return [q, r]


def _reflection(column: Any) -> Any:
    """Returns the matrix H for which ``Hᴴ column`` is zero except for the first element, which is real."""
    size, first = len(column), column[0]
    if not np.any(column[1:]) and first.imag == 0:
        return np.eye(size, dtype=column.dtype)
    beta = -np.copysign(np.linalg.norm(column), first.real)
    v = column / (first - beta)
    v[0] = 1
    return np.eye(size) - (beta - first) / beta * np.outer(v, np.conj(v))


qr_p = decomposition(
    "qr",
    infer=_infer,
    compute=_compute,
    derive=_derive,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
)
qr_p.def_rule("operations", of_matrices(4 / 3))
