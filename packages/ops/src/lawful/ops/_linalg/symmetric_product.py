"""The product of a matrix and its transpose, added to another matrix."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentValueError, get_aval, promote_dtypes
from lawful.ops._linalg.matrices import check_matrices, matrix_transpose, triangle
from lawful.ops._products.functions import matmul
from lawful.ops._support.promotion import convert

__all__ = ["symmetric_product"]


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: Any = 1.0, beta: Any = 0.0, symmetrize_output: bool = False
) -> Any:
    """Returns ``alpha A Aᵀ + beta C``.

    Args:
      a_matrix: A, an array of shape (…, m, n) of floating or complex dtype.
      c_matrix: C, an array of shape (…, m, m): symmetric matrices. It is not read where ``beta`` is the number 0.
      alpha: a number.
      beta: a number.
      symmetrize_output: whether the upper triangle of the result is that of the lower one, transposed, also where C is
        not symmetric.

    Returns:
      An array like C, of the dtype that both promote to.

    Raises:
      ArgumentTypeError: a dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the shapes do not fit.

    >>> import numpy as np
    >>> symmetric_product(np.array([[1.0], [2.0]]), np.eye(2), beta=3.0)
    array([[4., 2.],
           [2., 7.]])

    Source: ``jax.lax.linalg.symmetric_product``.
    """
    left, right = get_aval(a_matrix), get_aval(c_matrix)
    dtype, _ = promote_dtypes((left.dtype, left.weak_type), (right.dtype, right.weak_type))
    a, c = convert(a_matrix, dtype), convert(c_matrix, dtype)
    check_matrices("symmetric_product", get_aval(a))
    if right.shape != (*left.shape[:-1], left.shape[-2]):
        raise ArgumentValueError(
            f"symmetric_product: expected shapes (…, m, n) and (…, m, m), got {left.shape} and {right.shape}; "
            "broadcast one"
        )
    out = matmul(a, matrix_transpose(a)) * convert(alpha, dtype)
    if not isinstance(beta, int | float) or beta != 0:
        out = out + c * convert(beta, dtype)
    if symmetrize_output:
        out = triangle(out, lower=True) + matrix_transpose(triangle(out, lower=True, k=-1))
    return out
