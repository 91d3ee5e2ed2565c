"""Equations of matrices that Schur forms solve, column by column: Sylvester's, square roots, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import custom_linear_solve, fori_loop
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.custom_rules import custom_jvp
from lawful.linalg._schur import schur, square
from lawful.numpy._loops import traced_once
from lawful.special._arguments import inexact, silent

# Eigenvalues with a smaller difference count as equal, in units of the rounding of the largest element.
_LEAST_DIFFERENCE = 1000


@silent
def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 0.0) -> Any:
    """Returns the solution X of ``A X + X B = C``.

    Args:
      A: an array of shape (…, m, m).
      B: an array of shape (…, n, n).
      C: an array of shape (…, m, n).
      method: ``"schur"`` or ``"eigen"``; both are the same, by Schur decompositions.
      tol: where an eigenvalue of A and one of B have a sum of at most this absolute value, the result is NaN.

    Returns:
      An array like C; NaN where the sum of two eigenvalues is 0: there is no solution, or more than one.

    Raises:
      ArgumentTypeError: the dtype is one that LAPACK does not support, such as float16.
      ArgumentValueError: the shapes do not fit, or the method is another one.

    Derivatives are solutions of the same equation with other right-hand sides.

    >>> solve_sylvester(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[1.0]]), np.array([[6.0], [8.0]]))
    array([[1.],
           [2.]])

    Law: ``A X + X B = C``. Source: ``scipy.linalg.solve_sylvester``; Bartels and Stewart 1972, "Solution of the matrix
    equation AX + XB = C", https://doi.org/10.1145/361573.361582.
    """
    name = "solve_sylvester"
    if method not in ("schur", "eigen"):
        raise ArgumentValueError(f"{name}: expected the method 'schur' or 'eigen', got {method!r}")
    A, B, C = square(name, "A", A), square(name, "B", B), inexact(name, C)
    if get_aval(C).shape[-2:] != (get_aval(A).shape[-1], get_aval(B).shape[-1]):
        raise ArgumentValueError(
            f"{name}: expected shapes (…, m, m), (…, n, n) and (…, m, n), got {get_aval(A).shape}, {get_aval(B).shape} "
            f"and {get_aval(C).shape}; transpose C"
        )
    dtype = np.result_type(A, B, C)
    batch = np.broadcast_shapes(*[get_aval(x).shape[:-2] for x in (A, B, C)])
    A, B, C = (np.broadcast_to(x.astype(dtype), (*batch, *get_aval(x).shape[-2:])) for x in (A, B, C))
    left, right = (schur(stop_gradient(x), "complex") for x in (A, B))
    return _sylvester(A, B, C, left, right, tol)


@traced_once()
def _sylvester(A: Any, B: Any, C: Any, left: tuple[Any, Any], right: tuple[Any, Any], tol: Any) -> Any:
    return custom_linear_solve(
        lambda x: A @ x + x @ B,
        C,
        lambda _, c: _solve_by_forms(left, right, c, tol),
        # Transposed, Aᵀ Y + Y Bᵀ = C is B Yᵀ + Yᵀ A = Cᵀ.
        lambda _, c: np.matrix_transpose(_solve_by_forms(right, left, np.matrix_transpose(c), tol)),
    )


def _solve_by_forms(left: tuple[Any, Any], right: tuple[Any, Any], c: Any, tol: float) -> Any:
    """Returns the solution for matrices whose Schur decompositions are given."""
    (r, u), (s, v) = left, right
    eigenvalues, strict = np.diagonal(s, 0, -2, -1), np.triu(s, 1)
    f = _adjoint(u) @ c.astype(get_aval(u).dtype) @ v

    def solution(j: Any, y: Any) -> Any:
        right_side = _element(f, j) - (y @ _element(strict, j)[..., None])[..., 0]
        return ops.triangular_solve(_shifted(r, _element(eigenvalues, j)), right_side[..., None], left_side=True)[
            ..., 0
        ]

    x = u @ _fill_columns(np.zeros_like(f), solution) @ _adjoint(v)
    sums = np.diagonal(r, 0, -2, -1)[..., :, None] + eigenvalues[..., None, :]
    x = np.where(np.any(np.abs(sums) <= tol, axis=(-2, -1), keepdims=True), numpy.nan, x)
    return (x if get_aval(c).dtype.kind == "c" else x.real).astype(get_aval(c).dtype)


# Functions of matrices


@silent
def sqrtm(A: Any, blocksize: int = 1) -> Any:
    """Returns the principal square roots of matrices: those whose eigenvalues have no negative real parts.

    Args:
      A: an array of shape (…, n, n).
      blocksize: has no effect.

    Returns:
      A complex array like A, also for real matrices; NaN where there is no square root.

    Raises:
      ArgumentTypeError: the dtype is one that LAPACK does not support, such as float16.
      ArgumentValueError: the matrices are not square.

    The derivative is by Sylvester's equation; it is NaN where A is singular.

    >>> sqrtm(np.array([[4.0, 5.0], [0.0, 9.0]]))
    array([[2.+0.j, 1.+0.j],
           [0.+0.j, 3.+0.j]])

    Law: ``sqrtm(A) @ sqrtm(A) = A``. Source: ``scipy.linalg.sqrtm``; Björck and Hammarling 1983, "A Schur method for
    the square root of a matrix", https://doi.org/10.1016/0024-3795(83)80010-X.
    """
    return _root(square("sqrtm", "A", A))


@custom_jvp
def _root(a: Any) -> Any:
    return _root_by_form(*schur(a, "complex"))


@traced_once()
def _root_by_form(t: Any, z: Any) -> Any:
    eigenvalues = np.diagonal(t, 0, -2, -1)
    # On the branch cut all imaginary parts have one sign.
    roots = np.sqrt(np.where(eigenvalues.imag == 0, eigenvalues.real.astype(get_aval(t).dtype), eigenvalues))

    def solution(j: Any, r: Any) -> Any:
        return _solve_where_regular(_shifted(r, _element(roots, j)), _above(t, j))

    root = _fill_columns(roots[..., None] * np.eye(get_aval(t).shape[-1], dtype=get_aval(t).dtype), solution)
    return z @ root @ _adjoint(z)


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    root = _root(*primals)
    return root, solve_sylvester(root, root, tangents[0].astype(get_aval(root).dtype))


@silent
def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """Returns a function of matrices, given as a function of complex numbers.

    Args:
      A: an array of shape (…, n, n).
      func: a function of arrays, which it maps element by element: of the eigenvalues.
      disp: whether the result is returned alone.

    Returns:
      A complex array like A; without ``disp`` also an estimate of its relative error, of shape (…).

    Raises:
      ArgumentTypeError: ``func`` is not callable, or the dtype is one that LAPACK does not support, such as float16.
      ArgumentValueError: the matrices are not square, or ``func`` gives another shape.

    The result loses accuracy where eigenvalues are nearly equal. It is NaN where they are equal, within a thousand
    roundings, and their vectors are not orthogonal: it may depend on derivatives of the function then. `expm` and
    `sqrtm` have no such limits. It has no derivative.

    >>> funm(np.array([[1.0, 3.0], [0.0, 2.0]]), np.exp2).real
    array([[2., 6.],
           [0., 4.]])

    Source: ``scipy.linalg.funm``; Parlett 1976, "A recurrence among the elements of functions of triangular matrices",
    https://doi.org/10.1016/0024-3795(76)90018-5.
    """
    if not callable(func):
        raise ArgumentTypeError(f"funm: expected a function of arrays, got {func!r}")
    t, z = schur(square("funm", "A", A), "complex")
    eigenvalues = np.diagonal(t, 0, -2, -1)
    values = func(eigenvalues)
    if get_aval(values).shape != get_aval(eigenvalues).shape:
        raise ArgumentValueError(
            f"funm: expected values for {get_aval(eigenvalues)}, got {get_aval(values)}; return one each"
        )
    result = _from_eigenvalues(t, z, eigenvalues, values)
    return result if disp else (result, _error_estimate(t, result))


@traced_once()
def _from_eigenvalues(t: Any, z: Any, eigenvalues: Any, values: Any) -> Any:
    """Returns the function of the matrices with Schur forms ``(t, z)`` that has these values at their eigenvalues."""
    dtype = get_aval(t).dtype
    values, linked = values.astype(dtype), _are_linked(t)
    close = _LEAST_DIFFERENCE * np.finfo(dtype).eps * np.max(np.abs(t), axis=(-2, -1), initial=0)[..., None]

    def solution(j: Any, f: Any) -> Any:
        # Column j of F T = T F, which does not determine elements between equal eigenvalues. These are 0 if unlinked.
        column = _above(t, j)
        right = (f @ column[..., None])[..., 0] - column * _element(values, j)[..., None]
        matrix = _shifted(t, -_element(eigenvalues, j))
        is_unknown = (np.abs(np.diagonal(matrix, 0, -2, -1)) <= close) & _element(linked, j)
        return np.where(is_unknown, numpy.nan, _solve_where_regular(matrix, right))

    f = _fill_columns(values[..., None] * np.eye(get_aval(t).shape[-1], dtype=dtype), solution)
    return z @ f @ _adjoint(z)


def _are_linked(t: Any) -> Any:
    """Returns which pairs of rows of triangular matrices are linked by elements above the diagonal, beyond rounding."""
    size, real = get_aval(t).shape[-1], np.finfo(get_aval(t).dtype)
    strict = np.abs(np.triu(t, 1))
    norm = np.max(np.abs(t), axis=(-2, -1), initial=0, keepdims=True)
    steps = strict / np.where(norm == 0, 1, norm)
    # The sum over all paths from one row to another: P + P² + P³ + …
    paths = ops.triangular_solve(-steps, steps, left_side=True, unit_diagonal=True)
    return ~(paths <= 16 * size * real.eps)


def _error_estimate(t: Any, result: Any) -> Any:
    """Returns SciPy's estimate of the relative error, by the smallest difference of eigenvalues."""
    eps = np.finfo(get_aval(t).dtype).eps
    eigenvalues, size = np.diagonal(t, 0, -2, -1), get_aval(t).shape[-1]
    differences = np.abs(eigenvalues[..., :, None] - eigenvalues[..., None, :])
    differences = np.where(numpy.eye(size, dtype=bool), np.abs(eigenvalues[..., :1, None]), differences)
    least = np.min(differences, axis=(-2, -1), initial=numpy.inf)
    norm = np.max(np.sum(np.abs(np.triu(t, 1)), axis=-2), axis=-1, initial=0)
    estimate = np.clip(eps / np.where(least == 0, eps, least) * norm, eps, 1)
    return np.where(np.all(np.isfinite(result), axis=(-2, -1)), estimate, numpy.inf)


# Columns


def _adjoint(a: Any) -> Any:
    return np.conj(np.matrix_transpose(a))


def _element(a: Any, j: Any) -> Any:
    """Returns the element j along the last dimension: of matrices a column."""
    return np.sum(np.where(numpy.arange(get_aval(a).shape[-1]) == j, a, 0), axis=-1)


def _above(a: Any, j: Any) -> Any:
    """Returns the part of column j that is above the diagonal, with zeros below."""
    return np.where(numpy.arange(get_aval(a).shape[-2]) < j, _element(a, j), 0)


def _shifted(a: Any, by: Any) -> Any:
    """Returns matrices plus multiples of the identity."""
    return a + by[..., None, None] * np.eye(get_aval(a).shape[-1], dtype=get_aval(a).dtype)


def _fill_columns(start: Any, column: Callable[[Any, Any], Any]) -> Any:
    """Returns matrices to which columns are added one after the other: ``column(j, matrices so far)``."""
    size = get_aval(start).shape[-1]

    def step(j: Any, found: Any) -> Any:
        return found + np.where(numpy.arange(size) == j, column(j, found)[..., None], 0)

    return fori_loop(0, size, step, start)


def _solve_where_regular(matrix: Any, right: Any) -> Any:
    """Returns the solutions of triangular systems: an element is 0 where any would do, and NaN where there is none."""
    diagonal = np.diagonal(matrix, 0, -2, -1)
    is_zero = diagonal == 0
    matrix = matrix + is_zero[..., None] * np.eye(get_aval(matrix).shape[-1], dtype=get_aval(matrix).dtype)
    x = ops.triangular_solve(matrix, right[..., None], left_side=True)[..., 0]
    return np.where(is_zero & (x != 0), numpy.nan, x)
