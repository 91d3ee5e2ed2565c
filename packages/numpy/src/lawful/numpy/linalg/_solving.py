"""Systems of equations, inverses, and powers of matrices."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import custom_linear_solve
from lawful.core import ArgumentTypeError, ArgumentValueError, current, get_aval
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy.linalg._matrices import LinAlgError, by_numpy, check_stack, identity, inexact


def _solver(by_stacks: Callable[[Any, Any, tuple[int, ...]], Any]) -> Callable[[Any, Any], Any]:
    """Returns a function of checked and promoted ``a`` and ``b`` that solves ``a x = b``.

    Args:
      by_stacks: solves stacks of matrices, given the broadcast shape of the leading dimensions.
    """

    def solve(a: Any, b: Any) -> Any:
        check_stack("solve", a, square=True)
        a, b = inexact("solve", a, b)
        left, right = get_aval(a).shape, get_aval(b).shape
        is_vector = len(right) == 1
        if is_vector:
            b = ops.expand_dims(b, (1,))
            right = (*right, 1)
        if len(right) < 2 or left[-1] != right[-2]:
            raise ArgumentValueError(
                f"solve: expected as many rows of b as a has, got the shapes {left} and {get_aval(b).shape}; "
                "transpose b"
            )
        try:
            batch = numpy.broadcast_shapes(left[:-2], right[:-2])
        except ValueError as error:
            raise ArgumentValueError(
                f"solve: expected stacks of matrices that broadcast together, got the shapes {left} and {right}; "
                "reshape one"
            ) from error
        out = by_stacks(a, b, batch)
        return ops.squeeze(out, (get_aval(out).ndim - 1,)) if is_vector else out

    return solve


@_solver
def solve_by_lu(a: Any, b: Any, batch: tuple[int, ...]) -> Any:
    # Each matrix is decomposed once, also for derivatives, which are solutions of systems with the same factors.
    factors, _, permutation = ops.lu(stop_gradient(a))
    a, factors, b = (_broadcast(x, batch) for x in (a, factors, b))
    permutation = broadcast_to(permutation, (*batch, get_aval(a).shape[-1]))

    def solver(transposed: bool) -> Callable[[Any, Any], Any]:
        return lambda _, b: ops.solve_by_factors(factors, permutation, b, transpose_a=transposed)

    return custom_linear_solve(lambda x: ops.matmul(a, x), b, solver(transposed=False), solver(transposed=True))


@_solver
def _solve_at_once(a: Any, b: Any, batch: tuple[int, ...]) -> Any:
    return ops.solve(_broadcast(a, batch), _broadcast(b, batch))


def solve_or_nan(a: Any, b: Any) -> Any:
    """Returns the solution of ``a x = b``, NaN where there is none."""
    return (_solve_at_once if current.trace.evaluates_constants else solve_by_lu)(a, b)


@by_numpy(numpy.linalg.solve, arrays=2, eagerly=ops.Composite(_solve_at_once, 2))
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


def _broadcast(x: Any, batch: tuple[int, ...]) -> Any:
    return broadcast_to(x, (*batch, *get_aval(x).shape[-2:]))


def _inverse(a: Any) -> Any:
    check_stack("inv", a, square=True)
    return ops.inv(*inexact("inv", a))


@by_numpy(numpy.linalg.inv, eagerly=ops.Composite(_inverse))
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
    return _inverse(a)


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
