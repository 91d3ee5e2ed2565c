"""Factorizations of matrices that changed a little."""

from __future__ import annotations

from typing import Any

import lawful.numpy as np
from lawful.control_flow import scan
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._loops import traced_once
from lawful.special._arguments import inexact, silent


@silent
def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """Returns the Cholesky factors of ``Rᴴ R + w wᴴ``, in as many operations as the matrices have elements.

    Args:
      r_matrix: R, an array of shape (…, n, n): upper triangular matrices, whose lower triangle is not read.
      w_vector: w, an array of shape (…, n).

    Returns:
      Upper triangular matrices like R. Their diagonal is real and not negative.

    Raises:
      ArgumentValueError: the shapes do not fit.

    >>> r = cholesky_update(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, 0.0]))
    >>> (r.T @ r).round(6)
    array([[ 2.,  2.],
           [ 2., 13.]])

    Law: ``cholesky(x + w wᴴ) = cholesky_update(cholesky(x), w)``. Source: ``jax.lax.linalg.cholesky_update``; Golub
    and Van Loan 2013, "Matrix Computations", section 6.5.4, by rotations.
    """
    name = "cholesky_update"
    r, w = inexact(name, r_matrix), inexact(name, w_vector)
    shape = get_aval(r).shape
    if len(shape) < 2 or shape[-1] != shape[-2] or get_aval(w).shape != shape[:-1]:
        raise ArgumentValueError(
            f"{name}: expected shapes (…, n, n) and (…, n), got {shape} and {get_aval(w).shape}; use vmap to broadcast"
        )
    return _updated(r, w)


@traced_once()
def _updated(r: Any, w: Any) -> Any:
    dtype, shape = np.result_type(r, w), get_aval(r).shape
    size, batch = shape[-1], tuple(range(1, len(shape) - 1))
    rows = np.transpose(np.triu(r.astype(dtype)), (len(shape) - 2, *(axis - 1 for axis in batch), len(shape) - 1))

    def rotate(rest: Any, row_and_position: Any) -> tuple[Any, Any]:
        """Turns the row of a pivot and the rest of w, so that the element of the latter below the pivot is 0."""
        row, position = row_and_position
        is_pivot = np.arange(size) == position
        pivot, below = (np.sum(np.where(is_pivot, x, 0), axis=-1) for x in (row, rest))
        length = np.hypot(np.abs(pivot), np.abs(below))
        is_empty = length == 0
        divisor = np.where(is_empty, 1, length)
        cosine = np.where(is_empty, 1, pivot / divisor).astype(dtype)[..., None]
        sine = (below / divisor).astype(dtype)[..., None]
        turned = np.conj(cosine) * row + np.conj(sine) * rest
        turned = np.where(is_pivot, length[..., None].astype(dtype), turned)
        return cosine * rest - sine * row, turned

    _, out = scan(rotate, np.conj(w.astype(dtype)), (rows, np.arange(size)))
    return np.triu(np.transpose(out, (*batch, 0, len(shape) - 1)))
