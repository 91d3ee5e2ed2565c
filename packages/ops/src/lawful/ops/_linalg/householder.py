"""Products of Householder's reflections, as LAPACK keeps them: vectors below a diagonal, with a factor for each."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentValueError, get_aval, promote_dtypes
from lawful.ops._linalg.matrices import (
    adjoint,
    as_row,
    check_matrices,
    columns_of,
    conjugate,
    identity,
    rows_of,
    triangle,
)
from lawful.ops._linalg.systems.triangular_solve import triangular_solve
from lawful.ops._products.functions import matmul
from lawful.ops._shape.slicing import slice_in_dim
from lawful.ops._support.promotion import broadcast_to, convert

__all__ = ["householder_product", "ormqr"]

# So many reflections are applied at once.
_PANEL = 64


def householder_product(a: Any, taus: Any) -> Any:
    """Returns the first columns of a product of reflections ``H₀ H₁ …``, where ``Hᵢ = 1 − τᵢ vᵢ vᵢᴴ``.

    Args:
      a: an array of shape (…, m, n) of floating or complex dtype, with n ≤ m. The vector ``vᵢ`` stands below the
        diagonal in column i, which has a 1 on the diagonal and zeros above; these are not read.
      taus: the factors, an array of shape (…, k) with k ≤ n.

    Returns:
      An array like ``a``, of the dtype that both promote to. Its columns are orthonormal where the factors are those of
      reflections, as LAPACK's ``geqrf`` gives them.

    Raises:
      ArgumentTypeError: a dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the shapes do not fit.

    >>> import numpy as np
    >>> householder_product(np.array([[9.0], [0.5]]), np.array([1.6]))
    array([[-0.6],
           [-0.8]])

    Source: ``jax.lax.linalg.householder_product``; LAPACK's ``orgqr``.
    """
    a, taus = _checked("householder_product", a, taus)
    aval = get_aval(a)
    if aval.shape[-1] > aval.shape[-2]:
        raise ArgumentValueError(
            f"householder_product: expected at most as many columns as rows, got {aval.shape}; take those on the left"
        )
    return _multiply(a, taus, None, left=True, transpose=False)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """Returns the product of a matrix and the unitary Q that `householder_product` gives, with all of its columns.

    Args:
      a: an array of shape (…, m, n) of floating or complex dtype, as for `householder_product`.
      taus: the factors, an array of shape (…, k) with k ≤ min(m, n).
      c: an array of shape (…, m, p) with ``left``, else (…, p, m).
      left: whether Q stands on the left.
      transpose: whether Q is transposed and conjugated.

    Returns:
      An array like ``c``, of the dtype that all promote to.

    Raises:
      ArgumentTypeError: a dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the shapes do not fit.

    >>> import numpy as np
    >>> ormqr(np.array([[9.0], [0.5]]), np.array([1.6]), np.array([[3.0], [4.0]]), transpose=True)
    array([[-5.],
           [ 0.]])

    Law: ``ormqr(a, taus, c) = householder_product(a, taus) c`` for square ``a``. Source: ``jax.lax.linalg.ormqr``.
    """
    a, taus, c = _checked("ormqr", a, taus, c)
    size, shape = get_aval(a).shape[-2], get_aval(c).shape
    if len(shape) != get_aval(a).ndim or shape[:-2] != get_aval(a).shape[:-2] or shape[-2 if left else -1] != size:
        needed = "(…, m, n) and (…, m, p)" if left else "(…, m, n) and (…, p, m)"
        raise ArgumentValueError(
            f"ormqr: expected shapes {needed} of a and c, got {get_aval(a).shape} and {shape}; transpose or broadcast c"
        )
    return _multiply(a, taus, c, left=bool(left), transpose=bool(transpose))


def _checked(name: str, a: Any, taus: Any, *others: Any) -> list[Any]:
    avals = [get_aval(x) for x in (a, taus, *others)]
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    args = [convert(x, dtype) for x in (a, taus, *others)]
    check_matrices(name, get_aval(args[0]))
    shape, factors = avals[0].shape, avals[1].shape
    if len(factors) != len(shape) - 1 or factors[:-1] != shape[:-2] or factors[-1] > min(shape[-2:]):
        raise ArgumentValueError(
            f"{name}: expected a of shape (…, m, n) and at most min(m, n) factors, of shape (…, k), got {shape} and "
            f"{factors}; correct one"
        )
    return args


def _multiply(a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    """Multiplies by some reflections at a time: as one matrix ``1 − V T Vᴴ``, with V of their vectors.

    Without ``c``, the matrix on the right is the identity, with as many columns as ``a``.
    """
    count, columns = get_aval(taus).shape[-1], get_aval(a).shape[-1]
    starts = range(0, count, _PANEL)
    # The last reflections are the first ones to be applied to the columns on the right.
    for start in reversed(starts) if left != transpose else starts:
        stop = min(start + _PANEL, count)
        axis = get_aval(taus).ndim - 1
        v, factors = _vectors(a, start, stop), slice_in_dim(taus, start, stop, axis=axis)
        if c is None:
            projected, c = adjoint(rows_of(v, 0, columns)), _identity_like(a)
        else:
            projected = matmul(adjoint(v), c) if left else matmul(c, v)
        c = _multiply_panel(v, factors, c, projected, left, transpose)
    return _identity_like(a) if c is None else c


def _identity_like(a: Any) -> Any:
    aval = get_aval(a)
    return broadcast_to(identity(aval.shape[-2], aval.shape[-1], aval.dtype), aval.shape)


def _vectors(a: Any, start: int, stop: int) -> Any:
    below = triangle(columns_of(a, start, stop), lower=True, k=-1 - start)
    rows, dtype = get_aval(a).shape[-2], get_aval(a).dtype
    return below + columns_of(identity(rows, get_aval(a).shape[-1], dtype), start, stop)


def _multiply_panel(v: Any, taus: Any, c: Any, projected: Any, left: bool, transpose: bool) -> Any:
    # T is upper triangular, T = (D⁻¹ + S)⁻¹ = D (1 + S D)⁻¹ with the factors D and the part S of Vᴴ V above the
    # diagonal: Joffrain et al. 2006, "Accumulating Householder transformations, revisited".
    size = get_aval(taus).shape[-1]
    dual = adjoint(v)
    inner = triangle(matmul(dual, v), lower=False, k=1) * as_row(taus, size)

    def divide(x: Any) -> Any:
        return triangular_solve(
            inner, x, left_side=left, transpose_a=transpose, conjugate_a=transpose, unit_diagonal=True
        )

    def scale(x: Any) -> Any:
        factors = conjugate(taus) if transpose else taus
        return x * (factors[..., :, None] if left else factors[..., None, :])

    # T x = D (1 + S D)⁻¹ x and x Tᴴ = (x (1 + S D)⁻ᴴ) Dᴴ, but x T = (x D) (1 + S D)⁻¹
    projected = scale(divide(projected)) if left != transpose else divide(scale(projected))
    return c - (matmul(v, projected) if left else matmul(projected, dual))
