"""Eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, Call, Choose, Excluded, ShapedArray, get_aval
from lawful.ops._linalg.decomposition import (
    decomposition,
    is_success,
    narrowed,
    sample_dtype,
    widened,
)
from lawful.ops._linalg.eigenvalues.hermitian import lower_triangle, read_triangle
from lawful.ops._linalg.matrices import (
    adjoint,
    check_matrices,
    diagonal,
    hermitian_from,
    hermitian_part,
    inverse_differences,
    product,
    real_dtype,
    real_part,
    with_dtype,
)
from lawful.ops._linalg.routines import syevd
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["eigh", "eigh_p"]


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> tuple[Any, Any]:
    """Returns the eigenvectors and eigenvalues of Hermitian matrices: ``x v = v w``.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.
      lower: which triangle is read where ``symmetrize_input`` is False, also by the derivative.
      symmetrize_input: whether ``(x + xᴴ) / 2`` is decomposed.
      sort_eigenvalues: taken for ``jax.lax``'s sake: eigenvalues always come in ascending order.
      subset_by_index: likewise: None, or all of them, ``(0, n)``.

    Returns:
      ``(v, w)``: the eigenvectors, in the columns of an array like ``x``, and the eigenvalues, real and ascending, of
      shape (…, n).

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square, or only some eigenvalues are asked for.

    An eigenvector is determined up to a factor of absolute value 1: derivatives are right for what does not depend
    on it. Vectors of an eigenvalue that is repeated have none: the result is infinite or NaN, as in jax.

    >>> eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))[1]
    array([1., 3.])

    Law: ``x v = v w``, ``vᴴ v = 1``. Source: ``jax.lax.linalg.eigh``; the derivative is in Giles 2008, "An extended
    collection of matrix derivative results", section 3.1, https://people.maths.ox.ac.uk/gilesm/files/NA-08-01.pdf.
    """
    aval = get_aval(x)
    check_matrices("eigh", aval, square=True)
    if subset_by_index is not None and tuple(subset_by_index) != (0, aval.shape[-1]):
        raise ArgumentValueError(
            f"eigh: expected subset_by_index to be None or all of them, got {subset_by_index}; slice the result"
        )
    v, w = eigh_p.bind(hermitian_part(x) if symmetrize_input else x, lower=bool(lower))
    return v, w


def _derive(x: Any, x_dot: Any, *, lower: bool) -> tuple[list[Any], list[Any]]:
    v, w = eigh_p.bind(x, lower=lower)
    inner = product(adjoint(v), hermitian_from(x_dot, lower=lower), v)
    weights = with_dtype(inverse_differences(w), get_aval(x).dtype)
    return [v, w], [v @ (weights * inner), real_part(diagonal(inner))]


def _compute(x: Any, *, lower: bool) -> tuple[Any, Any]:
    w, v = np.linalg.eigh(x, "L" if lower else "U")
    return v, w


def _lower(ctx: Any, x: Any, *, lower: bool) -> tuple[list[Any], Any]:
    v_aval, x = widened(ctx, x)
    v, w, info = syevd(ctx, x, v_aval, lower=lower)
    return narrowed(ctx, [v, w]), is_success(ctx, info, v_aval)


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    # Real eigenvectors are determined up to the sign; the phase of complex ones is undefined for finite differences.
    aval = ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose, "f"))
    return (aval,), {"lower": choose.one_of((True, False))}


def _prepare(x: Any, *, lower: bool) -> tuple[Any]:
    return (np.round(0.3 * x + np.diag(3.0 * np.arange(x.shape[-1]) - 2), 2).astype(x.dtype),)


def _reference(x: Any, *, lower: bool) -> list[Any]:
    v, w = np.full(x.shape, np.nan, x.dtype), np.full(x.shape[:-1], np.nan, real_dtype(x.dtype))
    for index in np.ndindex(x.shape[:-2]):
        triangle = np.tril(x[index]) if lower else np.triu(x[index])
        if np.isfinite(triangle).all():
            w[index], v[index] = np.linalg.eigh(x[index], "L" if lower else "U")
    return [v, w]


def _infer(x: ShapedArray, *, lower: bool) -> tuple[ShapedArray, ShapedArray]:
    return ShapedArray(x.shape, x.dtype), ShapedArray(x.shape[:-1], real_dtype(x.dtype))


eigh_p = decomposition(
    "eigh",
    infer=_infer,
    compute=_compute,
    derive=_derive,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    excluded=(Excluded(lambda x, **_: True, "the sign or phase of a vector is not determined: it may jump", order=0),),
    read=read_triangle,
    lower_read=lower_triangle,
    square=True,
)
eigh_p.def_rule("operations", of_matrices(9))
