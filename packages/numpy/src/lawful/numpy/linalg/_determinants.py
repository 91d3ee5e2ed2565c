"""Determinants, with derivatives that are right for singular matrices too.

The determinant is a polynomial. For at most three rows it is written out, of scaled matrices where products may have
overflowed or underflowed. For more rows it is the product of the pivots of an LU decomposition. Derivatives by pivots
exist only if no pivot is zero, and are precise only if none is small. If values are known and the matrix is well
conditioned, the derivative is by its inverse. Any other matrix is multiplied on both sides by its singular vectors,
held constant. The three smallest singular values then form a block, the Schur complement of the others, whose
determinant is written out. Nothing is divided by these three, so derivatives of all orders are right if the rank is at
least n - 3, and those up to the third for any matrix.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import cond
from lawful.core import Tracer, cached_function, get_aval
from lawful.numpy.linalg._matrices import adjoint, by_numpy, check_stack, identity, inexact
from lawful.numpy.linalg._solving import solve_or_nan
from lawful.ops import numpy_reduction

# The largest matrices whose determinant is written out.
_WRITTEN = 3


@cached_function("smallest ratios of determinants", 16)
def _smallest(dtype: Any) -> float:
    """Returns the least ratio of pivots, or of norms, for precise derivatives by pivots, or by the inverse.

    A derivative of order n has an error of eps / ratioⁿ. For the second derivative it is at most sqrt(eps).
    """
    return math.pow(numpy.finfo(dtype).eps, 0.25)


class SlogdetResult(NamedTuple):
    """The sign of a determinant, of absolute value 1 or 0, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def _det_of_known(a: Any) -> Any:
    """Returns `det` of matrices with known values; by the inverse if all are well conditioned."""
    check_stack("det", a, square=True)
    (a,) = inexact("det", a)
    value = a.concrete() if isinstance(a, Tracer) else a
    return _det(a) if value is None or not _are_well_conditioned(numpy.asarray(value)) else ops.det(a)


def _are_well_conditioned(a: numpy.ndarray[Any, Any]) -> bool:
    """Whether derivatives by the inverse are precise for all matrices."""
    try:
        with numpy.errstate(all="ignore"):
            inverse = numpy.linalg.inv(a)
            squares = _squared_norm(a) * _squared_norm(inverse)
            is_small = squares * _smallest(a.dtype) ** 2 < 1
            if is_small if a.ndim == 2 else is_small.all():
                return True
            # The square of a large or small norm overflows; the norm does not.
            return bool((_one_norm(a) * _one_norm(inverse) * _smallest(a.dtype) < 1).all())
    except numpy.linalg.LinAlgError:
        return False


def _one_norm(a: numpy.ndarray[Any, Any]) -> Any:
    return numpy.abs(a).sum(-2).max(-1, initial=0)


def _squared_norm(a: numpy.ndarray[Any, Any]) -> Any:
    """Returns the square of the Frobenius norm of each matrix."""
    if a.ndim == 2:
        return numpy.vdot(a, a).real  # 5x faster for few rows
    return numpy.square(numpy.abs(a)).sum((-2, -1))


@by_numpy(numpy.linalg.det, eagerly=_det_of_known)
def det(a: Any) -> Any:
    """Returns the determinants of square matrices.

    Raises:
      LinAlgError: the matrices are not square.

    Derivatives are right for singular matrices too: those up to the third for any, all of them where the rank is less
    than the number of rows by three at most.

    >>> det(numpy.array([[2.0, 1.0], [1.0, 2.0]])).round(6)
    np.float64(3.0)

    Source: ``numpy.linalg.det``.
    """
    check_stack("det", a, square=True)
    (a,) = inexact("det", a)
    return _det(a)


def _det(a: Any) -> Any:
    size = get_aval(a).shape[-1]
    if size == 1:
        return _written_out(a)
    if 0 < size <= _WRITTEN:
        return _of_few_rows(a)
    if not get_aval(a).size:
        return ops.full(get_aval(a).shape[:-2], get_aval(a).dtype.type(1))
    is_regular = _is_regular(stop_gradient(a))
    all_regular = numpy_reduction.all(is_regular)
    known = all_regular.concrete() if isinstance(all_regular, Tracer) else all_regular
    if known is None:
        return cond(all_regular, _by_pivots_of_regular, _by_singular_values, a, is_regular)
    return (_by_pivots_of_regular if known else _by_singular_values)(a, is_regular)


def _of_few_rows(a: Any) -> Any:
    """Returns the determinant written out, of scaled matrices where a product may have overflowed or underflowed."""
    size = ops.abs(_written_out(stop_gradient(a)))
    tiny = get_aval(size).dtype.type(numpy.finfo(get_aval(size).dtype).tiny)
    all_normal = numpy_reduction.all(ops.bitwise_and(ops.is_finite(size), ops.gt(size, tiny)))
    known = all_normal.concrete() if isinstance(all_normal, Tracer) else all_normal
    if known is None:
        return cond(all_normal, _written_out, _by_scaling, a)
    return (_written_out if known else _by_scaling)(a)


def _by_scaling(a: Any) -> Any:
    return ops.det_by_scaling(a, _written_out)


def _written_out(a: Any) -> Any:
    """Returns the determinant of at most three rows as a sum of products."""

    def element(i: int, j: int) -> Any:
        return a[..., i, j]

    size = get_aval(a).shape[-1]
    if size == 1:
        return element(0, 0)
    if size == 2:
        return element(0, 0) * element(1, 1) - element(0, 1) * element(1, 0)
    total: Any = None
    for j in range(3):
        k, m = (j + 1) % 3, (j + 2) % 3
        term = element(0, j) * (element(1, k) * element(2, m) - element(1, m) * element(2, k))
        total = term if total is None else total + term
    return total


def _is_regular(a: Any) -> Any:
    """Returns, for each matrix, whether no pivot is so small that derivatives by it are imprecise."""
    pivots, _ = ops.signed_pivots(a)
    sizes = ops.abs(pivots)
    dtype, axes = get_aval(sizes).dtype, (get_aval(sizes).ndim - 1,)
    small = dtype.type(_smallest(dtype))
    return ops.gt(ops.reduce_min(sizes, axes), ops.mul(ops.reduce_max(sizes, axes), small))


def _by_pivots_of_regular(a: Any, is_regular: Any) -> Any:
    # If it is batched, both branches are computed, and the derivative of the unused one must be finite.
    return ops.det_by_pivots(_or_identity(is_regular, a))


def _or_identity(is_kept: Any, a: Any) -> Any:
    aval = get_aval(a)
    is_kept = ops.expand_dims(is_kept, (aval.ndim - 2, aval.ndim - 1))
    return ops.where(is_kept, a, identity(aval.shape[-1], aval.dtype))


def _by_singular_values(a: Any, is_regular: Any) -> Any:
    rest = get_aval(a).shape[-1] - _WRITTEN
    # Rows or columns of very different sizes would make it singular up to rounding, and its derivatives overflow.
    scaled = ops.balanced(a)
    u, s, vh = ops.svd(stop_gradient(scaled))
    turned = ops.matmul(ops.matmul(adjoint(u), scaled), adjoint(vh))
    precision = get_aval(s).dtype.type(numpy.finfo(get_aval(s).dtype).eps)
    is_full = ops.gt(s[..., rest - 1], ops.mul(s[..., 0], precision * precision))
    large = _or_identity(is_full, turned[..., :rest, :rest])
    right = solve_or_nan(large, turned[..., :rest, rest:])
    small = turned[..., rest:, rest:] - ops.matmul(turned[..., rest:, :rest], right)
    sides = ops.det_by_pivots(u) * ops.det_by_pivots(vh)
    product = ops.det_by_pivots(large) * _written_out(small) * sides
    # If four singular values are zero up to rounding, the derivatives up to the third are zero.
    zero = get_aval(a).dtype.type(0)
    product = ops.where(ops.bitwise_or(is_full, ops.ne(s[..., 0], s[..., 0])), product, zero)
    # The value is the product of pivots, as for regular matrices: rows of very different sizes are not singular.
    value, constant = ops.det_by_pivots(stop_gradient(a)), stop_gradient(product)
    is_finite = ops.is_finite(ops.abs(constant))
    return ops.where(is_finite, value + (product - constant), ops.where(ops.is_finite(ops.abs(value)), value, product))


def slogdet(a: Any) -> SlogdetResult:
    """Returns the sign and the logarithm of the absolute value of determinants: 0 and −∞ of a singular matrix.

    Raises:
      LinAlgError: the matrices are not square.

    Of a singular matrix the derivative of the logarithm is not finite.

    >>> slogdet(numpy.array([[0.0, 1.0], [1.0, 0.0]])).sign
    np.float64(-1.0)

    Source: ``numpy.linalg.slogdet``.
    """
    return SlogdetResult(*_slogdet(a))


def _logarithm_of(a: Any) -> tuple[Any, Any]:
    check_stack("slogdet", a, square=True)
    return ops.slogdet(*inexact("slogdet", a))


_slogdet = by_numpy(numpy.linalg.slogdet, eagerly=ops.Composite(_logarithm_of))(_logarithm_of)
