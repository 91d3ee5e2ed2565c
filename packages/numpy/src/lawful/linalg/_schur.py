"""Hessenberg and Schur forms of matrices."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.special._arguments import inexact, silent


def square(name: str, argument: str, a: Any) -> Any:
    """Returns square matrices as floating or complex numbers; raises ArgumentValueError for others."""
    a = inexact(name, a)
    shape = get_aval(a).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ArgumentValueError(f"{name}: expected square matrices as {argument}, got {get_aval(a)}; reshape it")
    return a


# Forms


def hessenberg(a: Any, calc_q: bool = False) -> Any:
    """Returns the Hessenberg form H of square matrices: ``a = Q H Qᴴ``, where H is zero below the first subdiagonal.

    Args:
      a: an array of shape (…, n, n).
      calc_q: whether the unitary Q is computed.

    Returns:
      H, or ``(H, Q)``, which have no derivatives.

    Raises:
      ArgumentTypeError: the dtype is one that LAPACK does not support, such as float16.
      ArgumentValueError: the matrices are not square.

    >>> h, q = hessenberg(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [4.0, 5.0, 6.0]]), calc_q=True)
    >>> h.round(6)
    array([[ 1.  , -3.6 ,  0.2 ],
           [-5.  ,  7.56,  0.08],
           [ 0.  , -2.92, -0.56]])

    Source: ``scipy.linalg.hessenberg``.
    """
    a = square("hessenberg", "a", a)
    packed, taus = ops.hessenberg(a)
    h = np.triu(packed, -1)
    if not calc_q:
        return h
    shape, dtype = get_aval(a).shape, get_aval(a).dtype
    if shape[-1] < 2:
        return h, np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape)
    inner = ops.householder_product(packed[..., 1:, :-1], taus)
    beside = np.zeros((*shape[:-1], 1), dtype)
    below = np.concatenate([beside[..., 1:, :], inner], axis=-1)
    first = np.broadcast_to(np.eye(1, shape[-1], dtype=dtype), (*shape[:-2], 1, shape[-1]))
    return h, np.concatenate([first, below], axis=-2)


def schur(a: Any, output: str = "real") -> tuple[Any, Any]:
    """Returns the Schur decomposition of square matrices: ``a = Z T Zᴴ``, with unitary Z.

    Args:
      a: an array of shape (…, n, n).
      output: ``"real"`` or ``"complex"``: the latter makes T and Z complex, and T triangular, also for real ``a``.

    Returns:
      ``(T, Z)``, which have no derivatives. T is upper triangular; a real one has blocks of 2 × 2 on its diagonal, one
      for each pair of complex eigenvalues.

    Raises:
      ArgumentTypeError: the dtype is one that LAPACK does not support, such as float16.
      ArgumentValueError: the matrices are not square, or the output is another one.

    Eigenvalues come in any order: only what does not depend on it is the same on all backends.

    >>> t, z = schur(np.array([[0.0, 1.0], [-4.0, 0.0]]))
    >>> np.linalg.det(t).round(6)
    np.float64(4.0)

    Source: ``scipy.linalg.schur``.
    """
    if output not in ("real", "complex"):
        raise ArgumentValueError(f"schur: expected the output 'real' or 'complex', got {output!r}")
    t, z = ops.schur(square("schur", "a", a))
    if output == "complex" and get_aval(t).dtype.kind == "f":
        return rsf2csf(t, z)
    return t, z


@silent
def rsf2csf(T: Any, Z: Any) -> tuple[Any, Any]:
    """Returns the complex Schur form, and its unitary matrices, from real ones.

    Args:
      T: real Schur forms, an array of shape (…, n, n): upper triangular, with blocks of 2 × 2 on the diagonal.
      Z: the unitary matrices, of the same shape.

    Returns:
      ``(T, Z)``, both complex. Of a pair of complex eigenvalues the one with the positive imaginary part comes first.

    Raises:
      ArgumentValueError: the matrices are not square, or not of one size.

    >>> t, _ = rsf2csf(np.array([[0.0, 1.0], [-4.0, 0.0]]), np.eye(2))
    >>> np.diag(t)
    array([0.+2.j, 0.-2.j])

    Source: ``scipy.linalg.rsf2csf``.
    """
    T, Z = square("rsf2csf", "T", T), square("rsf2csf", "Z", Z)
    size = get_aval(T).shape[-1]
    if get_aval(Z).shape[-1] != size:
        raise ArgumentValueError(f"rsf2csf: expected matrices of one size, got {get_aval(T)} and {get_aval(Z)}")
    dtype = np.result_type(T, Z, numpy.complex64)
    T, Z = T.astype(dtype), Z.astype(dtype)
    rotations = _rotations_of_blocks(T)
    return np.triu(np.conj(np.matrix_transpose(rotations)) @ T @ rotations), Z @ rotations


def _rotations_of_blocks(t: Any) -> Any:
    """Returns the unitary matrices that make blocks of 2 × 2 triangular: these share no row."""
    size = get_aval(t).shape[-1]
    b, c = np.diagonal(t, 1, -2, -1), np.diagonal(t, -1, -2, -1)
    diagonal = np.diagonal(t, 0, -2, -1)
    half = (diagonal[..., :-1] - diagonal[..., 1:]) / 2
    scale = np.maximum(np.maximum(np.abs(half), np.abs(b)), np.abs(c))
    scale = np.where(scale == 0, 1, scale)
    half, b, c = half / scale, b / scale, c / scale
    root = np.sqrt(half * half + b * c)
    # The vector (x, c) belongs to the eigenvalue d + x of the block [[a, b], [c, d]].
    x = np.where((np.conj(half) * root).real < 0, half - root, half + root)
    length = np.hypot(np.abs(x), np.abs(c))
    is_block = c != 0
    divisor = np.where(is_block, length, 1)
    x, c = np.where(is_block, x / divisor, 1), c / divisor
    one, none = np.ones_like(diagonal[..., :1]), np.zeros_like(diagonal[..., :1])
    on_diagonal = np.concatenate([x, one], axis=-1) * np.concatenate([one, np.conj(x)], axis=-1)
    below, above = np.concatenate([c, none], axis=-1), np.concatenate([-np.conj(c), none], axis=-1)
    eye = numpy.eye
    return (
        on_diagonal[..., None] * eye(size) + below[..., None, :] * eye(size, k=-1) + above[..., None] * eye(size, k=1)
    ).astype(get_aval(t).dtype)
