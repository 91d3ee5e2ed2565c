"""Pseudo-inverses, ranks and least squares: functions of matrices that may be singular."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._decompositions import svd
from lawful.numpy.linalg._matrices import LinAlgError, adjoint, by_numpy, check_stack, inexact
from lawful.numpy.linalg._solving import solve_or_nan
from lawful.ops import numpy_reduction

_INT32 = numpy.dtype(numpy.int32)


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

    The derivative is the one among matrices of the same rank, whether singular values are repeated or not; it is in
    Golub and Pereyra 1973, "The differentiation of pseudo-inverses and nonlinear least squares problems".

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
    """Returns the pseudo-inverse, with derivatives of all orders if the rank stays the same.

    With constant bases of its columns and rows, a matrix is ``C W⁻¹ R``, where C and R are its products with the bases;
    so its pseudo-inverse is ``R⁺ W C⁺``. The bases are singular vectors divided by singular values, which makes C and R
    orthonormal: only the identity, up to rounding, is inverted, also if singular values are repeated.
    """
    if not get_aval(a).size:
        shape = get_aval(a).shape
        return ops.full((*shape[:-2], shape[-1], shape[-2]), get_aval(a).dtype.type(0))
    dtype = get_aval(a).dtype
    u, s, vh = svd(stop_gradient(a), full_matrices=False)
    inverse = ops.convert_element_type(_inverse_above(s, stop_gradient(tolerance)), dtype)
    left_out = ops.convert_element_type(ops.eq(inverse, dtype.type(0)), dtype)
    rows = ops.mul(_as_column(inverse), adjoint(u))  # the right singular vectors, once multiplied by the matrix
    columns = ops.mul(adjoint(vh), _as_row(inverse))
    r, c = ops.matmul(rows, a), ops.matmul(a, columns)
    w = ops.matmul(r, columns)
    gap = ops.mul(_as_column(left_out), numpy.eye(get_aval(s).shape[-1], dtype=dtype))
    left = solve_or_nan(ops.add(ops.matmul(adjoint(c), c), gap), adjoint(c))
    inner = solve_or_nan(ops.add(ops.matmul(r, adjoint(r)), gap), ops.matmul(w, left))
    return ops.matmul(adjoint(r), inner)


def _as_column(x: Any) -> Any:
    return ops.expand_dims(x, (get_aval(x).ndim,))


def _as_row(x: Any) -> Any:
    return ops.expand_dims(x, (get_aval(x).ndim - 1,))


def _inverse_above(s: Any, tolerance: Any) -> Any:
    largest = ops.expand_dims(ops.reduce_max(s, (get_aval(s).ndim - 1,)), (get_aval(s).ndim - 1,))
    if get_aval(tolerance).shape:
        tolerance = ops.expand_dims(tolerance, (get_aval(tolerance).ndim,))
    one, zero = get_aval(s).dtype.type(1), get_aval(s).dtype.type(0)
    is_large = ops.gt(s, largest * tolerance)
    return ops.where(is_large, one / ops.where(is_large, s, one), ops.where(ops.eq(s, s), zero, s))


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
