"""Systems of equations, inverses and determinants."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy._broadcasting import broadcast_to
from lawful.numpy.linalg._decompositions import svd
from lawful.numpy.linalg._matrices import (
    LinAlgError,
    adjoint,
    by_numpy,
    check_stack,
    diagonal_of,
    identity,
    inexact,
)
from lawful.ops import numpy_reduction

_INT32 = numpy.dtype(numpy.int32)


class SlogdetResult(NamedTuple):
    """The sign of a determinant, of absolute value 1 or 0, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


@by_numpy(numpy.linalg.solve, arrays=2)
def solve(a: Any, b: Any) -> Any:
    """Returns the solution x of ``a x = b``.

    Args:
      a: an array of shape (…, n, n).
      b: an array of shape (n,), or (…, n, k); the dimensions before the matrices broadcast.

    Raises:
      LinAlgError: the matrices are not square; or, where nothing is traced, singular. Traced or compiled, a singular
        matrix gives NaN.
      ArgumentValueError: the shapes do not fit.

    >>> solve(numpy.array([[2.0, 0.0], [1.0, 4.0]]), numpy.array([2.0, 9.0]))
    array([1., 2.])

    Source: ``numpy.linalg.solve``.
    """
    return solve_by_lu(a, b)


def solve_by_lu(a: Any, b: Any) -> Any:
    """Returns the solution of ``a x = b``, NaN where there is none."""
    check_stack("solve", a, square=True)
    a, b = inexact("solve", a, b)
    left, right = get_aval(a).shape, get_aval(b).shape
    is_vector = len(right) == 1
    if is_vector:
        b = ops.expand_dims(b, (1,))
        right = (*right, 1)
    if len(right) < 2 or left[-1] != right[-2]:
        raise ArgumentValueError(
            f"solve: expected as many rows of b as a has, got the shapes {left} and {get_aval(b).shape}; transpose b"
        )
    try:
        batch = numpy.broadcast_shapes(left[:-2], right[:-2])
    except ValueError as error:
        raise ArgumentValueError(
            f"solve: expected stacks of matrices that broadcast together, got the shapes {left} and {right}; "
            "reshape one"
        ) from error
    factors, _, permutation = ops.lu(a)
    rows = ops.iota(_INT32, left[-1])
    swapped = ops.convert_element_type(ops.eq(ops.expand_dims(permutation, (len(left) - 1,)), rows), get_aval(b).dtype)
    b = ops.matmul(swapped, b)
    factors, b = _broadcast(factors, batch), _broadcast(b, batch)
    out = ops.triangular_solve(factors, b, left_side=True, lower=True, unit_diagonal=True)
    out = ops.triangular_solve(factors, out, left_side=True)
    return ops.squeeze(out, (get_aval(out).ndim - 1,)) if is_vector else out


def _broadcast(x: Any, batch: tuple[int, ...]) -> Any:
    return broadcast_to(x, (*batch, *get_aval(x).shape[-2:]))


@by_numpy(numpy.linalg.inv)
def inv(a: Any) -> Any:
    """Returns the inverse of matrices.

    Raises:
      LinAlgError: the matrices are not square; or, where nothing is traced, singular. Traced or compiled, a singular
        matrix gives NaN.

    >>> inv(numpy.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])

    Source: ``numpy.linalg.inv``.
    """
    check_stack("inv", a, square=True)
    (a,) = inexact("inv", a)
    aval = get_aval(a)
    return solve_by_lu(a, _broadcast(identity(aval.shape[-1], aval.dtype), aval.shape[:-2]))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Returns the solution x of ``tensordot(a, x, x.ndim) = b``.

    Args:
      a: an array whose first dimensions are those of ``b``; the others, as many elements, are those of x.
      b: an array.
      axes: dimensions of ``a`` that are moved to the end first.

    Raises:
      LinAlgError: the numbers of elements do not fit, or, where nothing is traced, the matrix is singular.

    >>> tensorsolve(2 * numpy.eye(4).reshape(2, 2, 4), numpy.ones((2, 2)))
    array([0.5, 0.5, 0.5, 0.5])

    Source: ``numpy.linalg.tensorsolve``.
    """
    left, right = get_aval(a), get_aval(b)
    if axes is not None:
        moved = ops.canonical_axes("tensorsolve", axes, left.ndim)
        a = ops.transpose(a, (*[axis for axis in range(left.ndim) if axis not in moved], *moved))
    shape = get_aval(a).shape[right.ndim :]
    size = math.prod(shape)
    if left.size != size**2 or right.size != size:
        raise LinAlgError(
            f"tensorsolve: expected the shape of b followed by one of as many elements, got the shapes {left.shape} "
            f"and {right.shape}; give axes, or reshape"
        )
    return ops.reshape(solve(ops.reshape(a, (size, size)), ops.reshape(b, (size,))), shape)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """Returns the inverse for ``tensordot(tensorinv(a, ind), b, ind)`` to be ``tensorsolve(a, b)``.

    Raises:
      ArgumentValueError: ``ind`` is not positive.
      LinAlgError: the first ``ind`` dimensions have not as many elements as the others.

    >>> tensorinv(2 * numpy.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)

    Source: ``numpy.linalg.tensorinv``.
    """
    shape = get_aval(a).shape
    if ind <= 0:
        raise ArgumentValueError(f"tensorinv: expected a positive ind, got {ind}; give the number of first dimensions")
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise LinAlgError(f"tensorinv: expected as many elements on both sides of ind, got {shape}; give another ind")
    return ops.reshape(inv(ops.reshape(a, (rows, columns))), (*shape[ind:], *shape[:ind]))


@by_numpy(numpy.linalg.det)
def det(a: Any) -> Any:
    """Returns the determinants of square matrices.

    Raises:
      LinAlgError: the matrices are not square.

    Of matrices of more than three rows that are singular, the derivative is NaN.

    >>> det(numpy.array([[2.0, 1.0], [1.0, 2.0]])).round(6)
    np.float64(3.0)

    Source: ``numpy.linalg.det``.
    """
    check_stack("det", a, square=True)
    (a,) = inexact("det", a)
    size = get_aval(a).shape[-1]
    if 0 < size <= 3:
        return _determinant(a, size)
    factors, negative = _factors(a)
    product = ops.reduce_prod(diagonal_of(factors), (get_aval(a).ndim - 2,))
    return ops.where(negative, -product, product)


def _determinant(a: Any, size: int) -> Any:
    """Returns the polynomial, whose derivatives are right for singular matrices too."""

    def element(i: int, j: int) -> Any:
        return a[..., i, j]

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


def _factors(a: Any) -> tuple[Any, Any]:
    """Returns the LU factors, and whether the rows were swapped an odd number of times."""
    factors, pivots, _ = ops.lu(a)
    aval = get_aval(pivots)
    swaps = ops.ne(pivots, ops.iota(_INT32, aval.shape[-1]))
    count = ops.reduce_sum(ops.convert_element_type(swaps, _INT32), (aval.ndim - 1,))
    return factors, ops.eq(ops.rem(count, 2), 1)


def slogdet(a: Any) -> SlogdetResult:
    """Returns the sign and the logarithm of the absolute value of determinants: 0 and −∞ of a singular matrix.

    Raises:
      LinAlgError: the matrices are not square.

    >>> slogdet(numpy.array([[0.0, 1.0], [1.0, 0.0]])).sign
    np.float64(-1.0)

    Source: ``numpy.linalg.slogdet``.
    """
    return SlogdetResult(*_slogdet(a))


@by_numpy(numpy.linalg.slogdet)
def _slogdet(a: Any) -> tuple[Any, Any]:
    check_stack("slogdet", a, square=True)
    (a,) = inexact("slogdet", a)
    factors, negative = _factors(a)
    diagonal = diagonal_of(factors)
    axes = (get_aval(diagonal).ndim - 1,)
    sign = ops.reduce_prod(ops.sign(diagonal), axes)
    with numpy.errstate(divide="ignore"):
        logabsdet = ops.reduce_sum(ops.log(ops.abs(diagonal)), axes)
    return ops.where(negative, -sign, sign), logabsdet


_slogdet.__name__ = "slogdet"


def matrix_power(a: Any, n: Any) -> Any:
    """Returns the matrix product of ``n`` times ``a``; with a negative ``n``, of its inverse.

    Raises:
      LinAlgError: the matrices are not square.
      ArgumentTypeError: ``n`` is not an integer.

    >>> matrix_power(numpy.array([[1, 1], [0, 1]]), 3)
    array([[1, 3],
           [0, 1]])

    Source: ``numpy.linalg.matrix_power``.
    """
    check_stack("matrix_power", a, square=True)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise ArgumentTypeError(f"matrix_power: expected an integer exponent, got {n!r}; give an integer") from error
    aval = get_aval(a)
    if n == 0:
        return _broadcast(identity(aval.shape[-1], aval.dtype), aval.shape[:-2])
    if n < 0:
        a, n = inv(a), -n
    out = None
    while True:
        n, odd = divmod(n, 2)
        if odd:
            out = a if out is None else ops.matmul(out, a)
        if not n:
            return out
        a = ops.matmul(a, a)


# Matrices that need not be regular


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Returns the pseudo-inverse (Moore-Penrose inverse) of matrices.

    Args:
      a: an array of shape (…, m, n).
      rcond: singular values of at most this times the largest count as zero; of the shape (…), 1e-15 by default.
      hermitian: that the matrices are Hermitian, which changes nothing here.
      rtol: another name of ``rcond``.

    Raises:
      LinAlgError: the array has fewer than two dimensions.
      ArgumentValueError: both ``rcond`` and ``rtol`` are given.

    The derivative is that of the singular vectors: NaN where a singular value is repeated.

    >>> pinv(numpy.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])

    Source: ``numpy.linalg.pinv``.
    """
    check_stack("pinv", a)
    (a,) = inexact("pinv", a)
    if rcond is not None and rtol is not None:
        raise ArgumentValueError("pinv: expected rcond or rtol, got both; give one")
    tolerance = rcond if rcond is not None else rtol if rtol is not None else 1e-15
    return _pinv(a, ops.convert_element_type(tolerance, _real_dtype(a)))


def _real_dtype(x: Any) -> numpy.dtype[Any]:
    dtype = get_aval(x).dtype
    return numpy.dtype({"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name))


def _pinv(a: Any, tolerance: Any) -> Any:
    if not get_aval(a).size:
        shape = get_aval(a).shape
        return ops.full((*shape[:-2], shape[-1], shape[-2]), get_aval(a).dtype.type(0))
    u, s, vh = svd(a, full_matrices=False)
    inverse = _inverse_above(s, tolerance)
    scaled = adjoint(vh) * ops.expand_dims(
        ops.convert_element_type(inverse, get_aval(a).dtype), (get_aval(s).ndim - 1,)
    )
    return ops.matmul(scaled, adjoint(u))


def _inverse_above(s: Any, tolerance: Any) -> Any:
    largest = ops.expand_dims(ops.reduce_max(s, (get_aval(s).ndim - 1,)), (get_aval(s).ndim - 1,))
    if get_aval(tolerance).shape:
        tolerance = ops.expand_dims(tolerance, (get_aval(tolerance).ndim,))
    one, zero = get_aval(s).dtype.type(1), get_aval(s).dtype.type(0)
    kept = ops.gt(s, largest * tolerance)
    return ops.where(kept, one / ops.where(kept, s, one), ops.where(ops.eq(s, s), zero, s))


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Returns how many singular values of matrices are larger than a tolerance.

    Args:
      A: an array of shape (…, m, n); of fewer dimensions the rank is whether an element is not zero.
      tol: the tolerance, of the shape (…).
      hermitian: that the matrices are Hermitian, which changes nothing here.
      rtol: the tolerance relative to the largest singular value; max(m, n) times the precision by default.

    >>> matrix_rank(numpy.array([[1.0, 2.0], [2.0, 4.0]]))
    np.int64(1)

    Source: ``numpy.linalg.matrix_rank``.
    """
    aval = get_aval(A)
    if aval.ndim < 2:
        any_element = numpy_reduction.any(ops.ne(A, aval.dtype.type(0)))
        return ops.convert_element_type(any_element, numpy.int64)
    if tol is not None and rtol is not None:
        raise ArgumentValueError("matrix_rank: expected tol or rtol, got both; give one")
    s = svd(A, compute_uv=False)
    dtype, axis = get_aval(s).dtype, get_aval(s).ndim - 1
    if not get_aval(s).shape[-1]:
        return ops.full(aval.shape[:-2], numpy.int64(0))
    if tol is None:
        relative = dtype.type(max(aval.shape[-2:]) * numpy.finfo(dtype).eps) if rtol is None else rtol
        tol = ops.reduce_max(s, (axis,)) * relative
    tol = ops.expand_dims(tol, (get_aval(tol).ndim,)) if get_aval(tol).shape else tol
    return ops.reduce_sum(ops.convert_element_type(ops.gt(s, tol), numpy.int64), (axis,))


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """Returns the solution of ``a x = b`` with the least squares, of these the shortest.

    Args:
      a: an array of shape (m, n).
      b: an array of shape (m,) or (m, k).
      rcond: singular values of at most this times the largest count as zero; max(m, n) times the precision by default.

    Returns:
      ``(x, residuals, rank, s)``: the sums of squares of ``b - a x``, of shape (k,), none where m ≤ n (and, where
      nothing is traced, where the rank is less than n: a shape does not depend on values elsewhere); the rank and the
      singular values of ``a``.

    Raises:
      LinAlgError: ``a`` is not a matrix, or the shapes do not fit.

    >>> lstsq(numpy.array([[1.0], [1.0]]), numpy.array([1.0, 3.0]))[0]
    array([2.])

    Source: ``numpy.linalg.lstsq``.
    """
    return _lstsq(a, b, rcond)


@by_numpy(numpy.linalg.lstsq, arrays=2)
def _lstsq(a: Any, b: Any, rcond: Any) -> tuple[Any, Any, Any, Any]:
    a, b = inexact("lstsq", a, b)
    left, right = get_aval(a).shape, get_aval(b).shape
    if len(left) != 2 or len(right) not in (1, 2) or left[0] != right[0]:
        raise LinAlgError(
            f"lstsq: expected a matrix and as many rows of b, got the shapes {left} and {right}; use vmap for stacks"
        )
    (rows, columns), dtype = left, _real_dtype(a)
    if rcond is None:
        rcond = numpy.finfo(get_aval(a).dtype).eps * max(rows, columns)
    rhs = ops.expand_dims(b, (1,)) if len(right) == 1 else b
    s = svd(a, compute_uv=False)
    x = ops.matmul(_pinv(a, ops.convert_element_type(rcond, dtype)), rhs)
    residuals = ops.full((0,), dtype.type(0))
    if rows > columns:
        difference = ops.abs(rhs - ops.matmul(a, x))
        residuals = ops.reduce_sum(difference * difference, (0,))
    rank = ops.convert_element_type(matrix_rank(a, rtol=rcond), _INT32)
    return ops.squeeze(x, (1,)) if len(right) == 1 else x, residuals, rank, s


_lstsq.__name__ = "lstsq"
