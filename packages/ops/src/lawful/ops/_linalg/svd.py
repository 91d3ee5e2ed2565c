"""The singular value decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, Call, Choose, Excluded, ShapedArray, get_aval
from lawful.ops._elementwise.comparison import eq
from lawful.ops._elementwise.select import where
from lawful.ops._linalg.decomposition import decomposition, is_success, narrowed, sample_dtype, widened
from lawful.ops._linalg.matrices import (
    adjoint,
    as_column,
    as_row,
    check_matrices,
    columns_of,
    diagonal,
    identity,
    inverse_differences,
    product,
    real_dtype,
    real_part,
    rows_of,
    with_complement,
    with_dtype,
)
from lawful.ops._linalg.routines import gesvd
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["svd", "svd_p"]


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Returns the singular value decomposition ``x = U diag(s) Vᴴ``.

    Args:
      x: an array of shape (…, m, n) of floating or complex dtype.
      full_matrices: whether U and Vᴴ are square; otherwise U has the first k = min(m, n) columns and Vᴴ as many rows.
      compute_uv: whether the singular vectors are computed.
      subset_by_index: None, or all of them, ``(0, k)``.

    Returns:
      ``(U, s, Vᴴ)``, or ``s`` alone: the singular values, real and descending, of shape (…, k).

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the array has fewer than two dimensions, or only some singular values are asked for.

    A pair of singular vectors is determined up to a common factor of absolute value 1: derivatives are right for
    what does not depend on it. Vectors of a singular value that is repeated have none: the result is infinite or
    NaN, as in jax; singular values have.

    >>> svd(np.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False)
    array([4., 3.])

    Law: ``U diag(s) Vᴴ = x``. Source: ``jax.lax.linalg.svd``, which has no derivative with ``full_matrices``; it is in
    Giles 2008, "An extended collection of matrix derivative results", section 3.2,
    https://people.maths.ox.ac.uk/gilesm/files/NA-08-01.pdf.
    """
    aval = get_aval(x)
    check_matrices("svd", aval)
    if subset_by_index is not None and tuple(subset_by_index) != (0, min(aval.shape[-2:])):
        raise ArgumentValueError(
            f"svd: expected subset_by_index to be None or all of them, got {subset_by_index}; slice the result"
        )
    outs = svd_p.bind(x, full_matrices=bool(full_matrices) and bool(compute_uv), compute_uv=bool(compute_uv))
    if not compute_uv:
        return outs[0]
    s, u, vh = outs
    return u, s, vh


def _derive(x: Any, x_dot: Any, *, full_matrices: bool, compute_uv: bool) -> tuple[list[Any], list[Any]]:
    rows, columns = get_aval(x).shape[-2:]
    rank = min(rows, columns)
    s, u, vh = svd_p.bind(x, full_matrices=full_matrices, compute_uv=True)
    thin_u, thin_v = columns_of(u, 0, rank), adjoint(rows_of(vh, 0, rank))
    inner = product(adjoint(thin_u), x_dot, thin_v)
    s_dot = real_part(diagonal(inner))
    if not compute_uv:
        return [s], [s_dot]
    dtype = get_aval(x).dtype
    values = with_dtype(s, dtype)
    weights = with_dtype(inverse_differences(s * s), dtype)
    inverse = as_row(_inverse(values)) if dtype.kind == "c" or rows != columns else None
    scaled, other = inner * as_row(values, rank), as_column(values, rank) * inner
    left = weights * (scaled + adjoint(scaled))
    right = weights * (other + adjoint(other))
    if dtype.kind == "c":  # the relative phase of U and V is assigned to U
        skew = inner - adjoint(inner)
        left = left + identity(rank, rank, dtype) * skew * inverse * dtype.type(0.5)
    u_dot, v_dot = thin_u @ left, thin_v @ right
    if rows > columns:
        outside = x_dot @ thin_v
        u_dot = u_dot + (outside - thin_u @ (adjoint(thin_u) @ outside)) * inverse
    if columns > rows:
        outside = adjoint(x_dot) @ thin_u
        v_dot = v_dot + (outside - thin_v @ (adjoint(thin_v) @ outside)) * inverse
    vh_dot = adjoint(v_dot)
    if full_matrices:
        u_dot = with_complement(thin_u, u_dot, u)
        vh_dot = adjoint(with_complement(thin_v, v_dot, adjoint(vh)))
    return [s, u, vh], [s_dot, u_dot, vh_dot]


def _inverse(s: Any) -> Any:
    one, zero = get_aval(s).dtype.type(1), get_aval(s).dtype.type(0)
    return where(eq(s, zero), zero, one / where(eq(s, zero), one, s))


def _infer(x: ShapedArray, *, full_matrices: bool, compute_uv: bool) -> tuple[ShapedArray, ...]:
    *batch, rows, columns = x.shape
    rank = min(rows, columns)
    s = ShapedArray((*batch, rank), real_dtype(x.dtype))
    if not compute_uv:
        return (s,)
    u = ShapedArray((*batch, rows, rows if full_matrices else rank), x.dtype)
    return s, u, ShapedArray((*batch, columns if full_matrices else rank, columns), x.dtype)


def _compute(x: Any, *, full_matrices: bool, compute_uv: bool) -> tuple[Any, ...]:
    if not compute_uv:
        return (np.linalg.svd(x, compute_uv=False),)
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return s, u, vh


def _lower(ctx: Any, x: Any, *, full_matrices: bool, compute_uv: bool) -> tuple[list[Any], Any]:
    aval, x = widened(ctx, x)
    avals = list(_infer(aval, full_matrices=full_matrices, compute_uv=True))
    outs, info = gesvd(ctx, x, aval, avals, full_matrices=full_matrices, compute_uv=compute_uv)
    return narrowed(ctx, outs), is_success(ctx, info, aval)


def _sample(choose: Choose) -> Call:
    rows, columns = choose.integer(0, 4), choose.integer(0, 4)
    compute_uv = choose.one_of((True, False))
    # Real singular vectors are determined up to the sign, if at most one belongs to no singular value; the phase of
    # complex ones is undefined for finite differences.
    dtype = sample_dtype(choose, "f" if compute_uv else "fc")
    full = compute_uv and abs(rows - columns) <= 1 and choose.one_of((False, True))
    return (ShapedArray((*choose.shape(max_ndim=1), rows, columns), dtype),), {
        "full_matrices": full,
        "compute_uv": compute_uv,
    }


def _prepare(x: Any, **_: bool) -> tuple[Any]:
    rows, columns = x.shape[-2:]
    scale = np.where(np.eye(rows, columns, dtype=bool), np.arange(columns) * 3.0 + 2, 0)
    return (np.round(0.3 * x + scale, 2).astype(x.dtype),)


def _reference(x: Any, *, full_matrices: bool, compute_uv: bool) -> list[Any]:
    avals = _infer(get_aval(x), full_matrices=full_matrices, compute_uv=compute_uv)
    outs = [np.full(aval.shape, np.nan, aval.dtype) for aval in avals]
    for index in np.ndindex(x.shape[:-2]):
        if np.isfinite(x[index]).all():
            u, s, vh = np.linalg.svd(x[index], full_matrices)
            for out, value in zip(outs, (s, u, vh) if compute_uv else (s,), strict=True):
                out[index] = value
    return outs


svd_p = decomposition(
    "svd",
    infer=_infer,
    compute=_compute,
    derive=_derive,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    excluded=(
        Excluded(
            lambda x, *, compute_uv, **_: compute_uv,
            "the sign or phase of a vector is not determined: it may jump",
            order=0,
        ),
    ),
)
svd_p.def_rule("operations", of_matrices(22))
