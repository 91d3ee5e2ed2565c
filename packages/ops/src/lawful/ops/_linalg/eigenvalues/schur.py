"""The Schur decomposition of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Call, Choose, ShapedArray, Unequal, get_aval
from lawful.ops._linalg.decomposition import decomposition, is_success, narrowed, sample_dtype, widened
from lawful.ops._linalg.eigenvalues.hessenberg import reduce_to_hessenberg
from lawful.ops._linalg.eigenvalues.reflections import power_of_scale
from lawful.ops._linalg.eigenvalues.schur_iterations import make_triangular
from lawful.ops._linalg.matrices import check_matrices
from lawful.ops._linalg.routines import gees
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["schur", "schur_p"]


def schur(x: Any, *, compute_schur_vectors: bool = True) -> Any:
    """Returns the Schur decomposition of square matrices: ``x = Z T Zᴴ``, with unitary Z.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.
      compute_schur_vectors: whether Z is computed.

    Returns:
      ``(T, Z)``, both arrays like ``x``, or T alone. Complex T are upper triangular. Real ones may have blocks of 2 × 2
      on the diagonal, one for each pair of complex eigenvalues, with equal elements on the diagonal.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    The eigenvalues come in any order, which may be another one in a program that XLA compiles. That computes it on the
    CPU only. It has no derivative.

    >>> t, z = schur(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> np.allclose(z @ t @ z.T, [[1.0, 2.0], [2.0, 1.0]])
    True

    Law: ``x = Z T Zᴴ``, ``Zᴴ Z = 1``. Source: ``jax.lax.linalg.schur``, ``scipy.linalg.schur``.
    """
    check_matrices("schur", get_aval(x), square=True)
    outs: list[Any] = schur_p.bind(x, compute_schur_vectors=bool(compute_schur_vectors))
    return tuple(outs) if compute_schur_vectors else outs[0]


def _compute(x: Any, *, compute_schur_vectors: bool) -> tuple[Any, ...]:
    t, z = (np.array(x, np.complex128 if x.dtype.kind == "c" else np.float64) for _ in range(2))
    size = x.shape[-1]
    for index in np.ndindex(x.shape[:-2]):
        matrix = t[index]
        if not np.tril(matrix, -1).any():
            z[index] = np.eye(size)
            continue
        scale = power_of_scale(matrix)
        [reduced], [taus] = reduce_to_hessenberg((matrix / scale)[None])
        z[index] = _unitary(reduced, taus)
        t[index] = np.triu(reduced, -1)
        make_triangular(t[index], z[index])
        t[index] *= scale
    outs = (t, z) if compute_schur_vectors else (t,)
    return tuple([out.astype(x.dtype) for out in outs])


def _unitary(h: Any, taus: Any) -> Any:
    """Returns the product of the reflections that made a Hessenberg matrix."""
    out = np.eye(len(h), dtype=h.dtype)
    for j in reversed(range(len(taus))):
        v = np.concatenate([[1], h[j + 2 :, j]])
        out[j + 1 :, j + 1 :] -= taus[j] * np.outer(v, np.conj(v) @ out[j + 1 :, j + 1 :])
    return out


def _lower(ctx: Any, x: Any, *, compute_schur_vectors: bool) -> tuple[list[Any], Any]:
    aval, x = widened(ctx, x)
    t, z, info = gees(ctx, x, aval, vectors=compute_schur_vectors)
    return narrowed(ctx, [t, z] if compute_schur_vectors else [t]), is_success(ctx, info, aval)


def _infer(x: ShapedArray, *, compute_schur_vectors: bool) -> tuple[ShapedArray, ...]:
    return (ShapedArray(x.shape, x.dtype),) * (1 + compute_schur_vectors)


# For laws


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    aval = ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose))
    return (aval,), {"compute_schur_vectors": choose.one_of((False, True))}


def _prepare(x: Any, **_: bool) -> tuple[Any]:
    return (np.round(x, 2),)


schur_p = decomposition(
    "schur",
    infer=_infer,
    compute=_compute,
    derive=None,
    lower=_lower,
    sample=_sample,
    reference=None,
    prepare=_prepare,
    unequal=(
        Unequal("", lambda x, **_: True, "the order of eigenvalues and the phases of vectors are not determined"),
    ),
    square=True,
    platform="cpu",
)
schur_p.def_rule("operations", of_matrices(25))
