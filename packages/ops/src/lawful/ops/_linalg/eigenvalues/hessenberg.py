"""The reduction of square matrices to Hessenberg form, by reflections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Call, Choose, ShapedArray, get_aval
from lawful.ops._linalg.decomposition import decomposition, is_success, narrowed, sample_dtype, widened
from lawful.ops._linalg.eigenvalues.reflections import power_of_scale, reflection
from lawful.ops._linalg.matrices import check_matrices
from lawful.ops._linalg.routines import gehrd
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["hessenberg", "hessenberg_p"]


def hessenberg(a: Any) -> tuple[Any, Any]:
    """Returns the Hessenberg form H of square matrices: ``a = Q H Qᴴ``, where H is zero below the first subdiagonal.

    Args:
      a: an array of shape (…, n, n) of floating or complex dtype.

    Returns:
      ``(h, taus)``: H in an array like ``a``, which holds the vectors of reflections in place of the zeros, and the
      factors of these, of shape (…, n − 1). Q is 1 in its first row and column, and
      ``householder_product(h[..., 1:, :-1], taus)`` in the others.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    It has no derivative. A program that XLA compiles computes it on the CPU only.

    >>> h, taus = hessenberg(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [4.0, 5.0, 6.0]]))
    >>> h.round(6)
    array([[ 1.  , -3.6 ,  0.2 ],
           [-5.  ,  7.56,  0.08],
           [ 0.5 , -2.92, -0.56]])

    Source: ``jax.lax.linalg.hessenberg``; LAPACK's ``gehrd``.
    """
    check_matrices("hessenberg", get_aval(a), square=True)
    h, taus = hessenberg_p.bind(a)
    return h, taus


def reduce_to_hessenberg(a: Any) -> tuple[Any, Any]:
    """Returns what LAPACK's gehrd does, in NumPy; ``a`` has the shape (count, n, n)."""
    a, size = a.copy(), a.shape[-1]
    taus = np.zeros((len(a), max(size - 1, 0)), a.dtype)
    for j in range(size - 1):
        beta, tau, v = reflection(a[:, j + 1 :, j])
        column, row = v[:, :, None], np.conj(v)[:, None]
        right = a[:, :, j + 1 :]
        right -= (tau[:, None, None] * (right @ column)) * row
        below = a[:, j + 1 :, j + 1 :]
        below -= column * (np.conj(tau)[:, None, None] * (row @ below))
        a[:, j + 1, j], a[:, j + 2 :, j], taus[:, j] = beta, v[:, 1:], tau
    return a, taus


def _compute(x: Any) -> tuple[Any, Any]:
    batch, size = x.shape[:-2], x.shape[-1]
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64).reshape(math.prod(batch), size, size)
    scale = power_of_scale(wide)
    h, taus = reduce_to_hessenberg(wide / scale)
    # The vectors of reflections are not scaled.
    h = np.where(np.tri(size, k=-2, dtype=bool), h, h * scale)
    return h.reshape(x.shape).astype(x.dtype), taus.reshape(*batch, taus.shape[-1]).astype(x.dtype)


def _lower(ctx: Any, x: Any) -> tuple[list[Any], Any]:
    aval, x = widened(ctx, x)
    h, taus, info = gehrd(ctx, x, aval)
    return narrowed(ctx, [h, taus]), is_success(ctx, info, aval)


def _infer(x: ShapedArray) -> tuple[ShapedArray, ShapedArray]:
    return ShapedArray(x.shape, x.dtype), ShapedArray((*x.shape[:-2], max(x.shape[-1] - 1, 0)), x.dtype)


# For laws


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    return (ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose)),), {}


def _prepare(x: Any) -> tuple[Any]:
    return (np.round(0.3 * x + 3 * np.roll(np.eye(x.shape[-1]), 1, axis=0), 2).astype(x.dtype),)


def _reference(x: Any) -> list[Any]:
    """Multiplies by reflections as whole matrices."""
    size = x.shape[-1]
    h, taus = np.array(x), np.zeros((*x.shape[:-2], max(size - 1, 0)), x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        a, vectors = np.array(x[index]), np.zeros((size, size), x.dtype)
        if not np.isfinite(a).all():
            h[index], taus[index] = np.nan, np.nan
            continue
        for j in range(size - 1):
            _, tau, v = (part[0] for part in reflection(a[None, j + 1 :, j]))
            whole = np.eye(size, dtype=x.dtype)
            whole[j + 1 :, j + 1 :] -= tau * np.outer(v, np.conj(v))
            a = np.conj(whole.T) @ a @ whole
            vectors[j + 2 :, j], taus[index][j] = v[1:], tau
        h[index] = np.triu(a, -1) + vectors
    return [h, taus]


hessenberg_p = decomposition(
    "hessenberg",
    infer=_infer,
    compute=_compute,
    derive=None,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    square=True,
    platform="cpu",
)
hessenberg_p.def_rule("operations", of_matrices(10 / 3))
