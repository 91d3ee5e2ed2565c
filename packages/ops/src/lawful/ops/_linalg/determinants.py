"""Determinants of square matrices, by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Call, Choose, Primitive, ShapedArray, Zero, get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import abs, sign
from lawful.ops._elementwise.comparison import eq, ne
from lawful.ops._elementwise.complex_parts import complex, imag, real
from lawful.ops._elementwise.select import where
from lawful.ops._elementwise.transcendental.exponential import log
from lawful.ops._linalg.decomposition import decomposition, sample_dtype
from lawful.ops._linalg.inverse import inv
from lawful.ops._linalg.matrices import check_matrices, diagonal, real_dtype
from lawful.ops._linalg.scaled_product import (
    balanced,
    mean_exponents,
    product_of_pivots,
    sum_of_products,
    times_power_of_two,
)
from lawful.ops._linalg.systems.lu import lu
from lawful.ops._products.dot_general import dot_general
from lawful.ops._reduction.reduction import reduce_prod, reduce_sum
from lawful.ops._shape.iota import iota
from lawful.ops._support.operation_counts import of_matrices

__all__ = [
    "balanced",
    "det",
    "det_by_pivots",
    "det_p",
    "mean_exponents",
    "signed_pivots",
    "signed_product",
    "slogdet",
    "slogdet_by_pivots",
    "slogdet_p",
    "sum_of_products",
    "times_power_of_two",
]

_INT32 = np.dtype(np.int32)


def det(x: Any) -> Any:
    """Returns the determinants of square matrices.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.

    Returns:
      An array of shape (…) and the same dtype.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    The derivative is the determinant times the inverse: NaN for a singular matrix, and 0 or infinite where the
    determinant is. `lawful.numpy.linalg.det` has the derivatives of these matrices too.

    >>> det(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6)
    np.float64(3.0)

    Law: ``det(x y) = det(x) det(y)``. Source: ``numpy.linalg.det``.
    """
    check_matrices("det", get_aval(x), square=True)
    return det_p.bind(x)


def slogdet(x: Any) -> tuple[Any, Any]:
    """Returns the signs of determinants, of absolute value 1 or 0, and the logarithms of their absolute values.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.

    Returns:
      ``(sign, logabsdet)``, both of shape (…), the second real: 0 and −∞ for a singular matrix.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    The derivative is by the inverse: NaN for a singular matrix.

    >>> sign, logabsdet = slogdet(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> float(sign), float(logabsdet)
    (-1.0, 0.0)

    Source: ``numpy.linalg.slogdet``.
    """
    check_matrices("slogdet", get_aval(x), square=True)
    sign, logabsdet = slogdet_p.bind(x)
    return sign, logabsdet


def signed_pivots(x: Any) -> tuple[Any, Any]:
    """Returns the pivots of LU decompositions, and whether rows were swapped an odd number of times.

    >>> signed_pivots(np.array([[0.0, 1.0], [2.0, 0.0]]))
    (array([2., 1.]), np.True_)
    """
    factors, swaps, _ = lu(x)
    aval = get_aval(swaps)
    is_swap = ne(swaps, iota(_INT32, aval.shape[-1]))
    count = reduce_sum(where(is_swap, np.int32(1), np.int32(0)), (aval.ndim - 1,))
    return diagonal(factors), eq(count % np.int32(2), np.int32(1))


def det_by_pivots(x: Any) -> Any:
    """Returns the determinants as products of pivots.

    >>> float(det_by_pivots(np.array([[0.0, 1.0], [2.0, 0.0]])))
    -2.0
    """
    return signed_product(*signed_pivots(x))


def signed_product(pivots: Any, is_odd: Any) -> Any:
    """Returns the determinants of the results of `signed_pivots`.

    >>> float(signed_product(np.array([2.0, 1.0]), True))
    -2.0
    """
    product = product_of_pivots(pivots)
    return where(is_odd, -product, product)


def slogdet_by_pivots(x: Any) -> tuple[Any, Any]:
    """Returns the results of `slogdet`, computed from pivots.

    >>> [float(x) for x in slogdet_by_pivots(np.array([[0.0, 1.0], [1.0, 0.0]]))]
    [-1.0, 0.0]
    """
    pivots, is_odd = signed_pivots(x)
    axes = (get_aval(pivots).ndim - 1,)
    product = reduce_prod(sign(pivots), axes)
    with np.errstate(divide="ignore"):
        logabsdet = reduce_sum(log(abs(pivots)), axes)
    return where(is_odd, -product, product), logabsdet


def _trace_of_quotient(x: Any, x_dot: Any) -> Any:
    """Returns the trace of ``x⁻¹ ẋ``: the derivative of the logarithm of the determinant (Jacobi's formula)."""
    rows, columns = get_aval(x).ndim - 2, get_aval(x).ndim - 1
    batch = tuple(range(rows))
    return dot_general(inv(x), x_dot, (((columns, rows), (rows, columns)), (batch, batch)))


def _derive_det(x: Any, x_dot: Any) -> tuple[list[Any], list[Any]]:
    ans = det_p.bind(x)
    return [ans], [ans * _trace_of_quotient(x, x_dot)]


def _derive_slogdet(x: Any, x_dot: Any) -> tuple[list[Any], list[Any]]:
    found, logabsdet = slogdet_p.bind(x)
    change = _trace_of_quotient(x, x_dot)
    if get_aval(x).dtype.kind != "c":
        return [found, logabsdet], [Zero(get_aval(found).to_tangent_aval()), change]
    rotation = imag(change)
    return [found, logabsdet], [found * complex(rotation * rotation.dtype.type(0), rotation), real(change)]


# For laws


def _sample(choose: Choose) -> Call:
    size = choose.integer(0, 4)
    return (ShapedArray((*choose.shape(max_ndim=1), size, size), sample_dtype(choose)),), {}


def _prepare(x: Any) -> tuple[Any]:
    # Well conditioned, but rows must be swapped.
    return (np.round(0.3 * x + 2 * np.roll(np.eye(x.shape[-1]), 1, axis=0), 2).astype(x.dtype),)


def _reference_det(x: Any) -> Any:
    finite = np.isfinite(x).all((-2, -1))
    return np.where(finite, _expanded(x), x.dtype.type(np.nan))[()]


def _expanded(x: Any) -> Any:
    """Expands determinants along the first row."""
    size = x.shape[-1]
    out = np.full(x.shape[:-2], 0 if size else 1, x.dtype)
    for column in range(size):
        rest = np.delete(x[..., 1:, :], column, axis=-1)
        out = out + (-1) ** column * x[..., 0, column] * _expanded(rest)
    return out


def _reference_slogdet(x: Any) -> list[Any]:
    found = np.asarray(_reference_det(x))
    size = np.abs(found)
    return [(found / np.where(size == 0, 1, size)).astype(found.dtype)[()], np.log(size)[()]]


def _declared(name: str, single: bool, **rules: Any) -> Primitive:
    return decomposition(name, sample=_sample, prepare=_prepare, square=True, single=single, **rules)


det_p = _declared(
    "det",
    True,
    infer=lambda x: (ShapedArray(x.shape[:-2], x.dtype),),
    compute=lambda x: (np.linalg.det(x),),
    derive=_derive_det,
    lower=lambda ctx, x: (ctx.apply(det_by_pivots, x), None),
    reference=_reference_det,
)
slogdet_p = _declared(
    "slogdet",
    False,
    infer=lambda x: (ShapedArray(x.shape[:-2], x.dtype), ShapedArray(x.shape[:-2], real_dtype(x.dtype))),
    compute=lambda x: tuple(np.linalg.slogdet(x)),
    derive=_derive_slogdet,
    lower=lambda ctx, x: (ctx.apply(slogdet_by_pivots, x), None),
    reference=_reference_slogdet,
)
for _primitive in (det_p, slogdet_p):
    _primitive.def_rule("operations", of_matrices(2 / 3))
