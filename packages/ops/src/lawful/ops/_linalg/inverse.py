"""Inverses of square matrices, whose derivatives are products with the inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Call, Choose, ShapedArray, get_aval
from lawful.ops._linalg.decomposition import all_finite, decomposition, sample_dtype
from lawful.ops._linalg.matrices import check_matrices, identity
from lawful.ops._linalg.systems.solve import solve
from lawful.ops._products.functions import matmul
from lawful.ops._support.operation_counts import of_matrices
from lawful.ops._support.promotion import broadcast_to

__all__ = ["inv", "inv_p"]


def inv(x: Any) -> Any:
    """Returns the inverses of square matrices.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.

    Returns:
      An array like ``x``. A column that is not finite is NaN, and so are all columns for a singular matrix.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    The derivative is ``-x⁻¹ ẋ x⁻¹``: no factor of it overflows where the inverse does not.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])

    Law: ``inv(x) x = 1``. Source: ``numpy.linalg.inv``.
    """
    check_matrices("inv", get_aval(x), square=True)
    return inv_p.bind(x)


def _compute(x: Any) -> tuple[Any]:
    # NumPy inverts by the routine of `solve`, with the identity as right-hand sides.
    out = np.linalg.inv(x)
    return (out if all_finite(out) else np.where(np.isfinite(out).all(-2, keepdims=True), out, out.dtype.type(np.nan)),)


def _by_solving(x: Any) -> Any:
    aval = get_aval(x)
    return solve(x, broadcast_to(identity(aval.shape[-1], aval.shape[-1], aval.dtype), aval.shape))


def _derive(x: Any, x_dot: Any) -> tuple[list[Any], list[Any]]:
    ans = inv_p.bind(x)
    return [ans], [-matmul(matmul(ans, x_dot), ans)]


# For laws


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    return (ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose)),), {}


def _prepare(x: Any) -> tuple[Any]:
    # Well conditioned, but rows must be swapped.
    return (np.round(0.3 * x + 2 * np.roll(np.eye(x.shape[-1]), 1, axis=0), 2).astype(x.dtype),)


def _reference(x: Any) -> Any:
    """Eliminates rows, with the largest pivot first."""
    out = np.full(x.shape, np.nan, x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        if np.isfinite(x[index]).all():
            out[index] = _eliminated(np.concatenate([x[index], np.eye(x.shape[-1], dtype=x.dtype)], axis=1))
    return np.where(np.isfinite(out).all(-2, keepdims=True), out, np.nan).astype(x.dtype)


def _eliminated(rows: Any) -> Any:
    size = len(rows)
    for j in range(size):
        pivot = j + np.argmax(np.abs(rows[j:, j]))
        rows[[j, pivot]] = rows[[pivot, j]]
        rows[j] = rows[j] / rows[j, j]
        for i in range(size):
            if i != j:
                rows[i] = rows[i] - rows[i, j] * rows[j]
    return rows[:, size:]


inv_p = decomposition(
    "inv",
    infer=lambda x: (x,),
    compute=_compute,
    derive=_derive,
    lower=lambda ctx, x: (ctx.apply(_by_solving, x), None),
    checks_finite=True,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    square=True,
    single=True,
)
inv_p.def_rule("operations", of_matrices(2))
