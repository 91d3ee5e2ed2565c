"""Eigenvalues and eigenvectors of general square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Call, Choose, Excluded, MissingRuleError, ShapedArray, Unequal, get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import abs
from lawful.ops._elementwise.comparison import eq
from lawful.ops._elementwise.complex_parts import complex
from lawful.ops._elementwise.select import where
from lawful.ops._linalg.decomposition import decomposition, is_success, narrowed, sample_dtype, widened
from lawful.ops._linalg.matrices import (
    adjoint,
    as_column,
    as_row,
    check_matrices,
    complex_dtype,
    conjugate,
    diagonal,
    inverse_differences,
    real_dtype,
    transposed_product,
    with_dtype,
)
from lawful.ops._linalg.routines import geev
from lawful.ops._reduction.arg_reduction import argmax
from lawful.ops._reduction.reduction import reduce_sum
from lawful.ops._shape.iota import broadcasted_iota
from lawful.ops._support.operation_counts import of_matrices

__all__ = ["eig", "eig_p"]

# Elements of at least this fraction of the largest absolute value count as the largest.
_NEARLY = 0.9
# Elements of at least this fraction of the largest absolute value may be the largest by rounding.
_TIED = 0.999


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
) -> list[Any]:
    """Returns the eigenvalues and eigenvectors of square matrices: ``vlᴴ x = w vlᴴ`` and ``x vr = vr w``.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.
      compute_left_eigenvectors: whether ``vl`` is computed.
      compute_right_eigenvectors: whether ``vr`` is computed.
      enable_eigvec_derivs: whether eigenvectors have derivatives: these are right only where the eigenvalues are
        different, and no vector has two largest elements, which no program can see.

    Returns:
      ``[w, vl, vr]``, without what is not asked for, all complex. Vectors stand in the columns of arrays like ``x``;
      they have the norm 1, and their largest element is real; of a left one the first that is about as large is
      positive.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.
      NotImplementedError: eigenvectors are differentiated, and ``enable_eigvec_derivs`` is False.

    >>> w, vr = eig(np.array([[2.0, 1.0], [0.0, 3.0]]), compute_left_eigenvectors=False)
    >>> w
    array([2.+0.j, 3.+0.j])

    Law: ``x vr = vr w``. Source: ``jax.lax.linalg.eig``; the derivative is in Giles 2008, "An extended collection of
    matrix derivative results", section 3.1, https://people.maths.ox.ac.uk/gilesm/files/NA-08-01.pdf.
    """
    check_matrices("eig", get_aval(x), square=True)
    outs: list[Any] = eig_p.bind(
        x,
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
        enable_eigvec_derivs=bool(enable_eigvec_derivs),
    )
    return outs


def _derive(
    x: Any,
    x_dot: Any,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> tuple[list[Any], list[Any]]:
    if (compute_left_eigenvectors or compute_right_eigenvectors) and not enable_eigvec_derivs:
        raise MissingRuleError(
            "eig: expected enable_eigvec_derivs=True where eigenvectors are differentiated, got False: their "
            "derivatives are right only where all eigenvalues are different, which cannot be seen; give it to "
            "lawful.ops.eig, or ask for the eigenvalues only"
        )
    # Both vectors are needed for the derivatives of eigenvalues, which exist in every order.
    w, left, right = eig_p.bind(
        x, compute_left_eigenvectors=True, compute_right_eigenvectors=True, enable_eigvec_derivs=True
    )
    x_dot = with_dtype(x_dot, get_aval(w).dtype)
    # The inverse of the matrix of right vectors is the adjoint of left ones, with a factor for each.
    conjugate_left = conjugate(left)
    overlap = reduce_sum(conjugate_left * right, (get_aval(x).ndim - 2,))
    size = get_aval(x).shape[-1]
    row = as_row(overlap, size)
    if not (compute_left_eigenvectors or compute_right_eigenvectors):
        return [w], [reduce_sum(conjugate_left / row * (x_dot @ right), (get_aval(x).ndim - 2,))]
    if compute_right_eigenvectors:
        inner = transposed_product(conjugate_left / row, x_dot @ right)
        inner_left = inner * (as_column(overlap, size) / row) if compute_left_eigenvectors else None
    else:
        inner = inner_left = transposed_product(conjugate_left, x_dot @ (right / row))
    outs, tangents, weights = [w], [diagonal(inner)], inverse_differences(w)
    if compute_left_eigenvectors:
        outs.append(left)  # belongs to conjugate eigenvalues; their transposed differences have the opposite sign
        tangents.append(_normalized(left, conjugate_left, -(left @ adjoint(weights * inner_left))))
    if compute_right_eigenvectors:
        outs.append(right)
        tangents.append(_normalized(right, conjugate(right), right @ (weights * inner)))
    return outs, tangents


def _normalized(v: Any, conjugate_v: Any, v_dot: Any) -> Any:
    """Returns the derivative of vectors whose norm stays 1 and whose largest element stays real."""
    aval = get_aval(v)
    if not aval.size:
        return v_dot
    rows = (aval.ndim - 2,)
    largest = argmax(abs(v), aval.ndim - 2, "int64")
    is_largest = eq(broadcasted_iota("int64", aval.shape, aval.ndim - 2), as_row(largest, aval.shape[-2]))
    relative = where(is_largest, aval.dtype.type(1) / v, aval.dtype.type(0))
    along = reduce_sum(conjugate_v * v_dot, rows).real
    rotation = reduce_sum(relative * v_dot, rows).imag
    return v_dot - v * as_row(complex(along, rotation), aval.shape[-2])


# Evaluation


def _compute(x: Any, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **_: bool) -> Any:
    dtype = complex_dtype(x.dtype)
    if not compute_left_eigenvectors and not compute_right_eigenvectors:
        return (np.linalg.eigvals(x).astype(dtype),)
    w, right = np.linalg.eig(x)
    outs = [w.astype(dtype)]
    if compute_left_eigenvectors:
        outs.append(_left_vectors(x, w).astype(dtype))
    if compute_right_eigenvectors:
        outs.append(right.astype(dtype))
    return tuple(outs)


def _left_vectors(x: Any, w: Any) -> Any:
    """Returns the left eigenvectors as eigenvectors of ``xᴴ``, in the order of the eigenvalues ``w``."""
    others, vectors = np.linalg.eig(np.conj(np.swapaxes(x, -1, -2)))
    out = np.empty(x.shape, complex_dtype(x.dtype))
    for index in np.ndindex(x.shape[:-2]):
        left = list(range(x.shape[-1]))
        for column, value in enumerate(w[index]):
            nearest = min(left, key=lambda i: np.abs(others[index][i] - np.conj(value)))
            left.remove(nearest)
            out[(*index, slice(None), column)] = vectors[index][:, nearest]
    return _with_positive_element(out)


def _with_positive_element(v: Any) -> Any:
    """Returns vectors with canonical signs: the first of nearly the largest real parts is positive."""
    if not v.size:
        return v
    is_large = np.abs(v.real) >= _NEARLY * np.max(np.abs(v), axis=-2, keepdims=True)
    element = np.take_along_axis(v.real, np.argmax(is_large, axis=-2)[..., None, :], axis=-2)
    return np.where(element < 0, -v, v)


# Lowering


def _lower(
    ctx: Any, x: Any, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **_: bool
) -> tuple[list[Any], Any]:
    aval, x = widened(ctx, x)
    vectors = aval.update(dtype=np.dtype(np.complex128))
    *w, left, right, info = geev(ctx, x, aval, left=compute_left_eigenvectors, right=compute_right_eigenvectors)
    outs = [ctx.hlo.complex(*w) if len(w) == 2 else w[0]]
    if compute_left_eigenvectors:
        outs.append(_lower_positive_element(ctx, left, vectors))
    if compute_right_eigenvectors:
        outs.append(right)
    return narrowed(ctx, outs), is_success(ctx, info, aval)


def _lower_positive_element(ctx: Any, v: Any, aval: ShapedArray) -> Any:
    """Lowers `_with_positive_element`."""
    hlo, axis = ctx.hlo, aval.ndim - 2
    real, reals = hlo.real(v), aval.update(dtype=real_dtype(aval.dtype))
    indices = aval.update(dtype=np.dtype(np.int32))

    def over_vectors(x: Any, of: ShapedArray, init: int, body: str) -> Any:
        kept = ctx.i64_array([dim for dim in range(aval.ndim) if dim != axis])
        return hlo.broadcast_in_dim(ctx.tensor_type(of), ctx.reduce(x, init, (axis,), body), kept)

    largest = hlo.multiply(over_vectors(hlo.abs(v), reals, 0, "maximum"), ctx.full(reals, _NEARLY))
    position = hlo.iota(ctx.tensor_type(indices), ctx.i64(axis))
    is_large = ctx.compare(hlo.abs(real), largest, "GE")
    last = aval.shape[axis]
    first = over_vectors(hlo.select(is_large, position, ctx.full(indices, last)), indices, last, "minimum")
    element = hlo.select(ctx.compare(position, first, "EQ"), real, ctx.zeros(reals))
    is_negative = ctx.compare(over_vectors(element, reals, 0, "add"), ctx.zeros(reals), "LT")
    return hlo.select(is_negative, hlo.negate(v), v)


# For laws


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    aval = ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose))
    names = ("compute_left_eigenvectors", "compute_right_eigenvectors")
    return (aval,), {**{name: choose.one_of((False, True)) for name in names}, "enable_eigvec_derivs": True}


def _prepare(x: Any, **_: bool) -> tuple[Any]:
    return (np.round(0.3 * x + np.diag(3.0 * np.arange(x.shape[-1]) - 2), 2).astype(x.dtype),)


def _reference(x: Any, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **_: bool) -> list[Any]:
    dtype = complex_dtype(x.dtype)
    w, right = np.full(x.shape[:-1], np.nan, dtype), np.full(x.shape, np.nan, dtype)
    left = np.full(x.shape, np.nan, dtype)
    for index in np.ndindex(x.shape[:-2]):
        if np.isfinite(x[index]).all():
            w[index], right[index] = np.linalg.eig(x[index])
            left[index] = _left_vectors(x[index], w[index])
    return [w, *[left] * compute_left_eigenvectors, *[right] * compute_right_eigenvectors]


def _infer(
    x: ShapedArray, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **_: bool
) -> tuple[ShapedArray, ...]:
    dtype = complex_dtype(x.dtype)
    vectors = (ShapedArray(x.shape, dtype),) * (compute_left_eigenvectors + compute_right_eigenvectors)
    return ShapedArray(x.shape[:-1], dtype), *vectors


def _has_tie(x: Any, **params: bool) -> bool:
    """Whether an eigenvector has two largest elements, of which rounding decides which one is real."""
    if x.shape[-1] < 2:
        return False
    _, *vectors = eig_p.rule("impl")(x, **params)
    for v in vectors:
        second, largest = np.moveaxis(np.sort(np.abs(v), axis=-2)[..., -2:, :], -2, 0)
        if np.any(second > _TIED * largest):
            return True
    return False


eig_p = decomposition(
    "eig",
    infer=_infer,
    compute=_compute,
    derive=_derive,
    lower=_lower,
    sample=_sample,
    reference=_reference,
    prepare=_prepare,
    excluded=(
        Excluded(
            lambda x, *, compute_left_eigenvectors, compute_right_eigenvectors, **_: (
                compute_left_eigenvectors or compute_right_eigenvectors
            ),
            "the sign or phase of a vector is not determined: it may jump",
            order=0,
        ),
    ),
    unequal=(Unequal("", _has_tie, "rounding decides which of two largest elements of a vector is real"),),
    square=True,
)
eig_p.def_rule("operations", of_matrices(25))
