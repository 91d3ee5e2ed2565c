"""The reduction of Hermitian matrices to tridiagonal form, by reflections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Call, Choose, ShapedArray, get_aval
from lawful.ops._linalg.decomposition import decomposition, is_success, mask_triangle, narrowed, sample_dtype, widened
from lawful.ops._linalg.eigenvalues.hermitian import lower_triangle, read_triangle
from lawful.ops._linalg.eigenvalues.reflections import power_of_scale, reflection
from lawful.ops._linalg.matrices import check_matrices, real_dtype
from lawful.ops._linalg.routines import sytrd

__all__ = ["tridiagonal", "tridiagonal_p"]


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """Returns the tridiagonal form T of Hermitian matrices: ``a = Q T Qᴴ``, with a real symmetric T.

    Args:
      a: an array of shape (…, n, n) of floating or complex dtype, of which one triangle is read.
      lower: whether it is the lower one.

    Returns:
      ``(t, d, e, taus)``: an array like ``a``, the diagonal of T, of shape (…, n), the elements beside it, and the
      factors of reflections, both of shape (…, n − 1). The triangle of ``t`` that is read holds both diagonals, and the
      vectors of the reflections; the other one holds zeros. With ``lower``, Q is 1 in its first row and column, and
      ``householder_product(t[..., 1:, :-1], taus)`` in the others.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    It has no derivative. A program that XLA compiles computes it on the CPU only.

    >>> _, d, e, _ = tridiagonal(np.array([[1.0, 3.0, 4.0], [3.0, 1.0, 2.0], [4.0, 2.0, 6.0]]))
    >>> d.round(6), e.round(6)
    (array([1.  , 6.12, 0.88]), array([-5.  , -1.84]))

    Source: ``jax.lax.linalg.tridiagonal``; LAPACK's ``sytrd``.
    """
    check_matrices("tridiagonal", get_aval(a), square=True)
    t, d, e, taus = tridiagonal_p.bind(a, lower=bool(lower))
    return t, d, e, taus


def _compute(x: Any, *, lower: bool) -> tuple[Any, ...]:
    if not lower:  # in the reverse order of rows and columns, the upper triangle is the lower one
        t, *vectors = _compute(x[..., ::-1, ::-1], lower=True)
        return np.ascontiguousarray(t[..., ::-1, ::-1]), *[np.ascontiguousarray(v[..., ::-1]) for v in vectors]
    batch, size = x.shape[:-2], x.shape[-1]
    a = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64).reshape(math.prod(batch), size, size)
    scale = power_of_scale(a)
    a = a / scale
    a = a + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))
    beside, taus = np.zeros((len(a), max(size - 1, 0))), np.zeros((len(a), max(size - 1, 0)), a.dtype)
    for j in range(size - 1):
        beside[:, j], taus[:, j], v = reflection(a[:, j + 1 :, j])
        a[:, j + 2 :, j] = v[:, 1:]
        _turn(a[:, j + 1 :, j + 1 :], taus[:, j, None], v)
    diagonal = np.diagonal(a, 0, -2, -1).real * scale[:, 0]
    beside = beside * scale[:, 0]
    t = np.tril(a, -2)
    index = np.arange(size)
    t[:, index, index], t[:, index[1:], index[:-1]] = diagonal, beside
    real = real_dtype(x.dtype)
    outs = (t.astype(x.dtype), diagonal.astype(real), beside.astype(real), taus.astype(x.dtype))
    return tuple([out.reshape(*batch, *out.shape[1:]) for out in outs])


def _turn(a: Any, tau: Any, v: Any) -> None:
    """Replaces Hermitian ``a`` by ``Hᴴ a H``, for the reflections ``H = 1 − τ v vᴴ``."""
    image = tau * (a @ v[:, :, None])[:, :, 0]
    overlap = np.conj(tau) * np.sum(np.conj(v) * image, axis=1, keepdims=True)
    w = image - 0.5 * overlap * v
    a -= w[:, :, None] * np.conj(v)[:, None] + v[:, :, None] * np.conj(w)[:, None]


def _lower(ctx: Any, x: Any, *, lower: bool) -> tuple[list[Any], Any]:
    aval, x = widened(ctx, x)
    t, d, e, taus, info = sytrd(ctx, x, aval, lower=lower)
    t = mask_triangle(ctx, t, aval, lower=lower)
    return narrowed(ctx, [t, d, e, taus]), is_success(ctx, info, aval)


def _infer(x: ShapedArray, *, lower: bool) -> tuple[ShapedArray, ...]:
    real, beside = real_dtype(x.dtype), (*x.shape[:-2], max(x.shape[-1] - 1, 0))
    return (
        ShapedArray(x.shape, x.dtype),
        ShapedArray(x.shape[:-1], real),
        ShapedArray(beside, real),
        ShapedArray(beside, x.dtype),
    )


# For laws


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    aval = ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose))
    return (aval,), {"lower": choose.one_of((True, False))}


def _prepare(x: Any, *, lower: bool) -> tuple[Any]:
    # The elements beside the diagonal decide signs.
    return (np.round(0.3 * x + 3 * np.eye(x.shape[-1], k=1) + 3 * np.eye(x.shape[-1], k=-1), 2).astype(x.dtype),)


def _reference(x: Any, *, lower: bool) -> list[Any]:
    """Multiplies by reflections as whole matrices."""
    outs = [np.full(aval.shape, np.nan, aval.dtype) for aval in _infer(get_aval(x), lower=lower)]
    order = slice(None) if lower else slice(None, None, -1)
    for index in np.ndindex(x.shape[:-2]):
        a = read_triangle(x[index], lower=lower)[order, order]
        if not np.isfinite(a).all():
            continue
        size = len(a)
        a = a + np.conj(np.tril(a, -1).T)
        vectors, taus = np.zeros_like(a), np.zeros(max(size - 1, 0), a.dtype)
        for j in range(size - 1):
            _, tau, v = (part[0] for part in reflection(a[None, j + 1 :, j]))
            whole = np.eye(size, dtype=x.dtype)
            whole[j + 1 :, j + 1 :] -= tau * np.outer(v, np.conj(v))
            a = np.conj(whole.T) @ a @ whole
            vectors[j + 2 :, j], taus[j] = v[1:], tau
        t = np.tril(np.triu(a, -1)) + vectors
        found = (t[order, order], np.diag(a).real[order], np.diag(a, -1).real[order], taus[order])
        for out, value in zip(outs, found, strict=True):
            out[index] = value
    return outs


tridiagonal_p = decomposition(
    "tridiagonal",
    infer=_infer,
    compute=_compute,
    derive=None,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    read=read_triangle,
    lower_read=lower_triangle,
    square=True,
    platform="cpu",
)
