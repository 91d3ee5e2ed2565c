"""The Cholesky decomposition of positive definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import Call, Choose, ShapedArray, get_aval
from lawful.ops._linalg.decomposition import decomposition, is_success, mask_triangle, sample_dtype
from lawful.ops._linalg.matrices import check_matrices, hermitian_from, hermitian_part, identity, triangle
from lawful.ops._linalg.routines import potrf
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["cholesky", "cholesky_p"]


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Returns the lower triangular matrices L with a positive diagonal for which ``x = L Lᴴ``.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype: positive definite matrices.
      symmetrize_input: whether ``(x + xᴴ) / 2`` is decomposed; otherwise only the lower triangle is read, also by
        the derivative.

    Returns:
      An array of the same shape and dtype; NaN for a matrix that is not positive definite.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])

    Law: ``L Lᴴ = x``. Source: ``jax.lax.linalg.cholesky``; the derivative is in Murray 2016, "Differentiation of
    the Cholesky decomposition", https://arxiv.org/abs/1602.07527.
    """
    check_matrices("cholesky", get_aval(x), square=True)
    return cholesky_p.bind(hermitian_part(x) if symmetrize_input else x)


def _derive(x: Any, x_dot: Any) -> tuple[list[Any], list[Any]]:
    factor = cholesky_p.bind(x)
    # L⁻¹ ẋ L⁻ᴴ = L⁻¹ L̇ + (L⁻¹ L̇)ᴴ, so L⁻¹ L̇ is its lower triangle with half of the diagonal.
    middle = ops.triangular_solve(factor, hermitian_from(x_dot, lower=True), left_side=True, lower=True)
    middle = ops.triangular_solve(factor, middle, lower=True, transpose_a=True, conjugate_a=True)
    size, dtype = get_aval(x).shape[-1], get_aval(x).dtype
    half = dtype.type(1) - identity(size, size, dtype) * dtype.type(0.5)
    return [factor], [factor @ (triangle(middle, lower=True) * half)]


def _compute(x: Any) -> tuple[Any]:
    return (np.linalg.cholesky(x),)


def _lower(ctx: Any, x: Any) -> tuple[list[Any], Any]:
    (aval,) = ctx.avals_in
    out, info = potrf(ctx, x, aval)
    return [mask_triangle(ctx, out, aval, lower=True)], is_success(ctx, info, aval)


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    return (ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose)),), {}


def _prepare(x: Any) -> tuple[Any]:
    product = 0.25 * x @ np.conj(np.swapaxes(x, -1, -2)) + 2.0 * np.eye(x.shape[-1])
    return (np.round(product, 2).astype(x.dtype),)


def _reference(x: Any) -> Any:
    out = np.full(x.shape, np.nan, x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        out[index] = _by_columns(np.tril(x[index]))
    return out


def _by_columns(x: Any) -> Any:
    out = np.zeros_like(x)
    if not np.isfinite(x).all():
        return x.dtype.type(np.nan)
    for j in range(len(x)):
        pivot = (x[j, j] - out[j, :j] @ np.conj(out[j, :j])).real
        if not pivot > 0:
            return x.dtype.type(np.nan)
        out[j, j] = np.sqrt(pivot)
        out[j + 1 :, j] = (x[j + 1 :, j] - out[j + 1 :, :j] @ np.conj(out[j, :j])) / out[j, j]
    return out


cholesky_p = decomposition(
    "cholesky",
    infer=lambda x: (ShapedArray(x.shape, x.dtype),),
    compute=_compute,
    derive=_derive,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    read=np.tril,
    lower_read=lambda ctx, x: mask_triangle(ctx, x, ctx.avals_in[0], lower=True),
    computes_part=True,
    square=True,
    single=True,
)
cholesky_p.def_rule("operations", of_matrices(1 / 3))
