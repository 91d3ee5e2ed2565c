"""Determinants, with derivatives that are right for singular matrices too.

The determinant is a polynomial. For at most three rows it is written out, with scaled products where one may overflow
or underflow; derivatives are cofactors, written out in the same way. For more rows it is the product of the pivots of
an LU decomposition. Derivatives are by the inverse, which exists only if no pivot is zero, and is precise only if none
is small; if values are known, where the matrix is well conditioned. Any other matrix is multiplied on both sides by its
singular vectors, held constant. The three smallest singular values then form a block, the Schur complement of the
others, whose determinant is written out. Nothing is divided by these three, so derivatives of all orders are right if
the rank is at least n - 3, and those up to the third for any matrix.

A derivative may be an ordinary number where the determinant overflows or underflows. Such matrices of more rows are
divided by a power of two, and the derivatives up to the second multiplied by the power that belongs to their order, at
once: in reverse mode a cotangent would overflow or underflow between two factors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
from lawful import ops, tree
from lawful.autodiff import jvp, stop_gradient, vjp
from lawful.control_flow import cond
from lawful.core import Tracer, cached_function, get_aval
from lawful.custom_rules import custom_jvp
from lawful.numpy._eager import direct
from lawful.numpy.linalg._matrices import adjoint, by_numpy, check_stack, identity, inexact, transposed
from lawful.numpy.linalg._solving import solve_or_nan
from lawful.ops import numpy_reduction

# The largest matrices whose determinant is written out.
_WRITTEN = 3
#: The columns of each term of a determinant of three rows; the sign is on its first element.
_PERMUTATIONS = numpy.array([(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)])
_ROWS = numpy.arange(3)
_SIGNS = numpy.where(numpy.arange(18).reshape(6, 3) // 3 > 2, [-1, 1, 1], 1)
# Derivatives that are not scaled are right up to this order.
_FACTORS = 4


@cached_function("smallest ratios of determinants", 16)
def _smallest(dtype: Any) -> float:
    """Returns the least ratio of pivots, or of norms, for precise derivatives by pivots, or by the inverse.

    A derivative of order n has an error of eps / ratioⁿ. For the second derivative it is at most sqrt(eps).
    """
    return math.pow(numpy.finfo(dtype).eps, 0.25)


class SlogdetResult(NamedTuple):
    """The sign of a determinant, of absolute value 1 or 0, and the logarithm of its absolute value.

    >>> slogdet(numpy.array([[0.0, 2.0], [3.0, 0.0]])).logabsdet.round(3)
    np.float64(1.792)
    """

    sign: Any
    logabsdet: Any


def _det_of_known(a: Any) -> Any:
    """Returns `det` of matrices with known values; by the inverse if all are well conditioned."""
    check_stack("det", a, square=True)
    (a,) = inexact("det", a)
    value = a.concrete() if isinstance(a, Tracer) else a
    # By the inverse, the second derivative for one row would be 0 up to rounding only.
    if get_aval(a).shape[-1] > 1 and value is not None and well_conditioned_inverse(numpy.asarray(value)) is not None:
        return ops.det(a)
    return _det(a)


def well_conditioned_inverse(a: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any] | None:
    """Returns the inverses of matrices if derivatives by them are precise, without overflow or underflow of a factor.

    Returns:
      None if one matrix is not that well conditioned.
    """
    try:
        with numpy.errstate(all="ignore"):
            inverse = numpy.linalg.inv(a)
            squares = _squared_norm(a), _squared_norm(inverse)
            is_small = squares[0] * squares[1] * _smallest(a.dtype) ** 2 < 1
            if not (is_small if a.ndim == 2 else is_small.all()):
                return None
            # All singular values are between the inverse norm of the inverse, and the norm.
            largest = _largest_square(a.dtype, a.shape[-1])
            if all((x < largest and x * largest > 1) if a.ndim == 2 else _are_within(x, largest) for x in squares):
                return inverse
            size = 0.5 * max(numpy.abs(numpy.log2(x)).max(initial=0) for x in squares)
            logarithms = numpy.linalg.slogdet(a)[1] / math.log(2)
            is_within = numpy.abs(logarithms).max(initial=0) + _FACTORS * size < _largest_exponent(a.dtype)
            return inverse if is_within else None
    except numpy.linalg.LinAlgError:
        return None


def _largest_exponent(dtype: Any) -> int:
    """Returns the exponent of two from which on numbers are too large for derivatives that are not scaled."""
    return int(numpy.finfo(dtype).maxexp) - 24


@cached_function("largest norms of matrices for derivatives by the inverse", 64)
def _largest_square(dtype: Any, rows: int) -> float:
    """Returns the least square of a norm of which a power, as in a determinant, may be too large."""
    return math.ldexp(1.0, 2 * _largest_exponent(dtype) // (rows + _FACTORS))


def _are_within(x: numpy.ndarray[Any, Any], largest: float) -> bool:
    return bool(((x < largest) & (x * largest > 1)).all())


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
    return _of_many_rows(a)


@custom_jvp
def _of_many_rows(a: Any) -> Any:
    """Returns the product of the pivots, which is the value of both methods that have derivatives."""
    pivots, is_odd = ops.signed_pivots(a)
    value = ops.signed_product(pivots, is_odd)
    sizes = ops.abs(pivots)
    dtype = get_aval(sizes).dtype
    largest = dtype.type(math.ldexp(1.0, _largest_exponent(dtype)))
    is_moderate = ops.bitwise_and(ops.gt(sizes, 1 / largest), ops.lt(sizes, largest))
    all_moderate = numpy_reduction.all(ops.bitwise_or(is_moderate, ops.eq(sizes, 0)))
    return _either(all_moderate, lambda a, value: value, lambda a, _: _of_any(a), a, value)


@_of_many_rows.defjvp
def _of_many_rows_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return _of_many_rows(*primals), _along(_gradient_of_many_rows(*primals), *tangents)


@custom_jvp
def _gradient_of_many_rows(a: Any) -> Any:
    """Returns the determinants times the transposed inverses if all are precise, else what `_gradient` gives."""
    # XLA decomposes the matrices once for the pivots and the system.
    pivots, is_odd = ops.signed_pivots(a)
    shape, dtype = get_aval(a).shape, get_aval(a).dtype
    value = ops.broadcast_in_dim(ops.signed_product(pivots, is_odd), shape, range(len(shape) - 2))
    by_inverse = ops.solve(a, ops.where(identity(shape[-1], bool), value, dtype.type(0)), transpose_a=True)
    all_regular = numpy_reduction.all(_are_regular(pivots))
    return _either(all_regular, lambda a, found: found, lambda a, _: _gradient(a), a, by_inverse)


@_gradient_of_many_rows.defjvp
def _gradient_of_many_rows_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return jvp(_gradient_with_derivatives, primals, tangents)


def _gradient_with_derivatives(a: Any) -> Any:
    is_regular = _are_regular(ops.signed_pivots(stop_gradient(a))[0])
    all_regular = numpy_reduction.all(is_regular)
    return _either(all_regular, _gradient_of_regular, lambda a, _: _gradient(a), a, is_regular)


def _either(condition: Any, yes: Callable[..., Any], no: Callable[..., Any], *args: Any) -> Any:
    """Calls one of two functions; the other one is not traced if the condition is known."""
    known = condition.concrete() if isinstance(condition, Tracer) else condition
    return cond(condition, yes, no, *args) if known is None else (yes if known else no)(*args)


def _of_few_rows(a: Any) -> Any:
    """Returns the determinant of two or three rows."""
    if get_aval(a).shape[-1] == _WRITTEN:
        return _of_three_rows(a)
    return _difference(a[..., 0, 0], a[..., 1, 1], a[..., 0, 1], a[..., 1, 0])


@custom_jvp
def _of_three_rows(a: Any) -> Any:
    signs = _SIGNS.astype(get_aval(a).dtype)
    return _of_moderate(a, _written_out, lambda a: ops.sum_of_products(a[..., _ROWS, _PERMUTATIONS] * signs))


@_of_three_rows.defjvp
def _of_three_rows_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # The rows and columns after that of an element, in a cycle: its cofactor needs no other sign.
    (a,) = primals
    after = [[_turned(_turned(a, i, -2), j, -1) for j in (1, 2)] for i in (1, 2)]
    cofactors = _difference(after[0][0], after[1][1], after[0][1], after[1][0])
    return _of_three_rows(a), _along(cofactors, *tangents)


def _turned(a: Any, count: int, axis: int) -> Any:
    axis += get_aval(a).ndim
    lines = (slice(None),) * axis
    return ops.concatenate([a[(*lines, slice(count, None))], a[(*lines, slice(count))]], axis)


@custom_jvp
def _difference(p: Any, q: Any, r: Any, s: Any) -> Any:
    """Returns ``p q - r s``, which is scaled where a product may overflow or underflow."""

    def scaled(factors: Any) -> Any:
        p, q, r, s = factors
        ndim = get_aval(p).ndim
        terms = [ops.concatenate([ops.expand_dims(x, (ndim,)) for x in term], ndim) for term in ((p, q), (-r, s))]
        return ops.sum_of_products(ops.concatenate([ops.expand_dims(x, (ndim,)) for x in terms], ndim))

    return _of_moderate((p, q, r, s), lambda factors: factors[0] * factors[1] - factors[2] * factors[3], scaled)


@_difference.defjvp
def _difference_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (p, q, r, s), (p_dot, q_dot, r_dot, s_dot) = primals, tangents
    return _difference(*primals), (p_dot * q + p * q_dot) - (r_dot * s + r * s_dot)


def _of_moderate(factors: Any, plain: Callable[[Any], Any], scaled: Callable[[Any], Any]) -> Any:
    """Calls the first function if no product of three of these numbers overflows or underflows, else the second."""
    is_moderate: Any = None
    for x in tree.leaves(factors):
        size = ops.abs(x)
        info = numpy.finfo(get_aval(size).dtype)
        largest = get_aval(size).dtype.type(math.ldexp(1.0, (info.maxexp - info.nmant) // _WRITTEN))
        inside = ops.bitwise_and(ops.gt(size, 1 / largest), ops.lt(size, largest))
        inside = ops.bitwise_or(inside, ops.eq(size, 0))
        is_moderate = inside if is_moderate is None else ops.bitwise_and(is_moderate, inside)
    return _either(numpy_reduction.all(is_moderate), plain, scaled, factors)


def _along(gradient: Any, a_dot: Any) -> Any:
    ndim = get_aval(gradient).ndim
    return ops.reduce_sum(ops.mul(gradient, a_dot), (ndim - 2, ndim - 1))


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


def _are_regular(pivots: Any) -> Any:
    """Returns for which matrices derivatives by the inverse are precise, and no factor overflows or underflows."""
    sizes = ops.abs(pivots)
    dtype, axes = get_aval(sizes).dtype, (get_aval(sizes).ndim - 1,)
    small = dtype.type(_smallest(dtype))
    is_precise = ops.gt(ops.reduce_min(sizes, axes), ops.mul(ops.reduce_max(sizes, axes), small))
    with numpy.errstate(divide="ignore"):
        logarithms = ops.log(sizes)
    largest = ops.reduce_max(ops.abs(logarithms), axes)
    total = ops.abs(ops.reduce_sum(logarithms, axes)) + dtype.type(_FACTORS) * largest
    return ops.bitwise_and(is_precise, ops.lt(total, dtype.type(_largest_exponent(dtype) * math.log(2))))


def _gradient_of_regular(a: Any, is_regular: Any) -> Any:
    # If it is batched, both branches are computed, and the derivative of the unused one must be finite.
    a = _or_identity(is_regular, a)
    value = ops.broadcast_in_dim(ops.det(a), get_aval(a).shape, range(get_aval(a).ndim - 2))
    return ops.mul(value, transposed(ops.inv(a)))


def _or_identity(is_kept: Any, a: Any) -> Any:
    aval = get_aval(a)
    is_kept = ops.expand_dims(is_kept, (aval.ndim - 2, aval.ndim - 1))
    return ops.where(is_kept, a, identity(aval.shape[-1], aval.dtype))


@custom_jvp
def _of_any(a: Any) -> Any:
    """Returns the determinant of any matrix, with derivatives of the first and second order by scaled matrices."""
    return _scaled(_by_singular_values, a, 0)


@_of_any.defjvp
def _of_any_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return _of_any(*primals), _along(_gradient(*primals), *tangents)


@custom_jvp
def _gradient(a: Any) -> Any:
    return _scaled(_gradient_by_singular_values, a, 1)


@_gradient.defjvp
def _gradient_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    def change(a: Any) -> Any:
        return jvp(_gradient_by_singular_values, (a,), tangents)[1]

    (a,) = primals
    return _gradient(a), _scaled(change, a, 2)


def _scaled(function: Callable[[Any], Any], a: Any, order: int) -> Any:
    """Returns the determinant or a derivative, by a function that is called with elements near to 1 in size."""
    aval, exponents = get_aval(a), ops.mean_exponents(a)
    dims = tuple(range(aval.ndim - 2))
    out = function(ops.times_power_of_two(a, ops.neg(ops.broadcast_in_dim(exponents, aval.shape, dims))))
    total = ops.mul(exponents, numpy.int64(aval.shape[-1] - order))
    return ops.times_power_of_two(out, ops.broadcast_in_dim(total, get_aval(out).shape, dims))


def _gradient_by_singular_values(a: Any) -> Any:
    value, pullback = vjp(_by_singular_values, a)
    return pullback(ops.full_like(value, 1))[0]


def _by_singular_values(a: Any) -> Any:
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


@direct(lambda a: SlogdetResult(*numpy.linalg.slogdet(a)))
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
