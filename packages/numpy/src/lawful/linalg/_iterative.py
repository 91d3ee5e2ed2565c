"""Linear systems by iterations that need the matrix only as a function: `cg`, `bicgstab`; `gmres` is beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops, tree
from lawful.autodiff import stop_gradient
from lawful.control_flow import custom_linear_solve, while_loop
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, is_array, is_inexact, shorten
from lawful.ops import numpy_reduction

Solver = Callable[[Callable[[Any], Any], Any], Any]


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, None]:
    """Returns the solution of ``A x = b`` by conjugate gradients, for a Hermitian positive definite ``A``.

    Args:
      A: a matrix of shape (n, n), or a function of pytrees like ``b`` that multiplies by it.
      b: the right-hand side: a pytree of floating or complex arrays; for a matrix an array of shape (n,) or (n, m),
        whose dtype is promoted with that of the matrix.
      x0: where to start, like ``b``; 0 if None.
      tol: the norm of the residual, relative to that of ``b``, at which the iteration ends; or
      atol: the norm of the residual itself, if that is more.
      maxiter: how many iterations at most; 10 for each element of ``b`` if None.
      M: approximates the inverse of ``A``: likewise a matrix or a function.

    Returns:
      ``(x, None)``; SciPy has a number in place of None.

    Raises:
      ArgumentTypeError: ``b`` has integers, or ``A`` or ``M`` is neither a matrix nor a function.
      ArgumentValueError: ``x0`` differs from ``b`` in structure or shapes.

    Derivatives are solves by the same iteration, not those of its steps.

    >>> import numpy as np
    >>> cg(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))[0]
    array([0.09090909, 0.63636364])

    Law: ``A x = b``. Source: ``jax.scipy.sparse.linalg.cg``; Hestenes and Stiefel 1952, "Methods of conjugate
    gradients for solving linear systems", https://doi.org/10.6028/jres.049.044.
    """
    return solution("cg", _conjugate_gradients, A, b, x0, tol, atol, maxiter, M, hermitian=True)


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, None]:
    """Returns the solution of ``A x = b`` by stabilized biconjugate gradients, for any ``A`` that has an inverse.

    Arguments, result and errors are those of `cg`. It may not converge: look at ``b - A x``.

    >>> import numpy as np
    >>> bicgstab(np.array([[4.0, 1.0], [0.0, 2.0]]), np.array([5.0, 2.0]))[0].round(6)
    array([1., 1.])

    Law: ``A x = b``. Source: ``jax.scipy.sparse.linalg.bicgstab``; van der Vorst 1992, "Bi-CGSTAB",
    https://doi.org/10.1137/0913035.
    """
    return solution("bicgstab", _stabilized, A, b, x0, tol, atol, maxiter, M, hermitian=False)


def solution(
    name: str, iterate: Any, A: Any, b: Any, x0: Any, tol: Any, atol: Any, maxiter: int | None, M: Any, *,
    hermitian: bool,
) -> tuple[Any, None]:  # fmt: skip
    """Returns what `cg` does, by another iteration.

    Args:
      name: the function, for error messages.
      iterate: ``iterate(multiply, precondition, right, start, end, limit)`` gives the solution, where ``end`` is the
        square of the norm of the residual at which it may end.
      A: as for `cg`, as are the others.
      b: the right-hand side.
      x0: where to start.
      tol: the relative norm.
      atol: the absolute norm.
      maxiter: the number of iterations.
      M: approximates the inverse.
      hermitian: whether A is.
    """
    if not callable(A) and (is_array(A) or not hasattr(A, "__matmul__")):
        A, b = _of_one_dtype(A, b)
    leaves = tree.leaves(b)
    for leaf in leaves:
        if not is_inexact(get_aval(leaf).dtype):
            raise ArgumentTypeError(
                f"{name}: expected b of floats or complex numbers, got {get_aval(leaf)}; convert it"
            )
    multiply = _function(name, "A", A)
    precondition = (lambda x: x) if M is None else _function(name, "M", M)
    start = tree.map(lambda x: numpy.zeros(get_aval(x).shape, get_aval(x).dtype), b) if x0 is None else x0
    given, expected = ([(tree.structure(x), *(get_aval(y).shape for y in tree.leaves(x)))] for x in (start, b))
    if given != expected:
        raise ArgumentValueError(f"{name}: expected x0 like b, got {shorten(x0)}; give it the shapes of b")
    start = tree.map(lambda x, like: ops.convert_element_type(x, get_aval(like).dtype), stop_gradient(start), b)
    limit = 10 * sum(get_aval(leaf).size for leaf in leaves) if maxiter is None else maxiter

    def solve(multiply: Any, right: Any) -> Any:
        norm = squared_norm(right)
        end = ops.max(ops.mul(norm, tol * tol), atol * atol)
        return iterate(multiply, precondition, right, start, end, limit)

    is_real = all(get_aval(leaf).dtype.kind == "f" for leaf in leaves)
    x = custom_linear_solve(multiply, b, solve, transpose_solve=solve, symmetric=hermitian and is_real)
    return x, None


def _of_one_dtype(matrix: Any, right: Any) -> tuple[Any, Any]:
    """Returns a matrix, and a right-hand side in the floating dtype that both promote to."""
    matrix, right = np.asarray(matrix), np.asarray(right)
    dtype = np.result_type(matrix, right)
    return matrix, right.astype(dtype if is_inexact(dtype) else float)


def _function(name: str, argument: str, value: Any) -> Callable[[Any], Any]:
    if callable(value):
        function: Callable[[Any], Any] = value
        return function
    if not is_array(value) and hasattr(value, "__matmul__"):
        return lambda x: value @ x
    shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ArgumentTypeError(
            f"{name}: expected a square matrix or a function as {argument}, got {shorten(value)}; give "
            "lambda x: A @ x for other arrays"
        )
    return lambda x: value @ x


# Pytrees as vectors


def _dot(x: Any, y: Any) -> Any:
    """Returns the product of ``x``, conjugated, and ``y``, summed over all elements."""
    parts = [
        numpy_reduction.sum(ops.mul(ops.conj(a) if get_aval(a).dtype.kind == "c" else a, c))
        for a, c in zip(tree.leaves(x), tree.leaves(y), strict=True)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def squared_norm(x: Any) -> Any:
    """Returns the sum of the squares of all absolute values."""
    total = _dot(x, x)
    return ops.real(total) if get_aval(total).dtype.kind == "c" else total


def _plus(x: Any, factor: Any, y: Any) -> Any:
    """Returns ``x + factor * y``."""
    return tree.map(lambda a, c: ops.add(a, ops.mul(ops.convert_element_type(factor, get_aval(c).dtype), c)), x, y)


# The iterations


def _conjugate_gradients(multiply: Any, precondition: Any, right: Any, start: Any, end: Any, limit: Any) -> Any:
    def goes_on(state: Any) -> Any:
        _, residual, _, _, count = state
        return ops.bitwise_and(ops.gt(squared_norm(residual), end), ops.lt(count, limit))

    def step(state: Any) -> Any:
        x, residual, direction, size, count = state
        image = multiply(direction)
        length = ops.div(size, ops.real(_dot(direction, image)))
        x, residual = _plus(x, length, direction), _plus(residual, ops.neg(length), image)
        corrected = precondition(residual)
        new_size = ops.real(_dot(residual, corrected))
        return x, residual, _plus(corrected, ops.div(new_size, size), direction), new_size, ops.add(count, 1)

    residual = _plus(right, -1.0, multiply(start))
    direction = precondition(residual)
    size = ops.real(_dot(residual, direction))
    return while_loop(goes_on, step, (start, residual, direction, size, 0))[0]


def _stabilized(multiply: Any, precondition: Any, right: Any, start: Any, end: Any, limit: Any) -> Any:
    shadow = residual = _plus(right, -1.0, multiply(start))

    def goes_on(state: Any) -> Any:
        _, residual, _, _, broken, count = state
        more = ops.bitwise_and(ops.gt(squared_norm(residual), end), ops.lt(count, limit))
        return ops.bitwise_and(more, ops.bitwise_not(broken))

    def step(state: Any) -> Any:
        x, residual, direction, size, _, count = state
        helped = precondition(direction)
        image = multiply(helped)
        length = ops.div(size, _dot(shadow, image))
        rest = _plus(residual, ops.neg(length), image)
        corrected = precondition(rest)
        turned = multiply(corrected)
        # Where nothing is left, the second half of the step is empty.
        square = squared_norm(turned)
        is_empty = ops.eq(square, 0)
        omega = ops.where(is_empty, 0, ops.div(_dot(turned, rest), ops.where(is_empty, 1, square)))
        x = _plus(_plus(x, length, helped), omega, corrected)
        residual = _plus(rest, ops.neg(omega), turned)
        new_size = _dot(shadow, residual)
        factor = ops.mul(ops.div(new_size, size), ops.div(length, ops.where(is_empty, 1, omega)))
        direction = _plus(residual, factor, _plus(direction, ops.neg(omega), image))
        broken = ops.bitwise_or(ops.eq(new_size, 0), is_empty)
        return x, residual, direction, new_size, broken, ops.add(count, 1)

    size = _dot(shadow, residual)
    return while_loop(goes_on, step, (start, residual, residual, size, False, 0))[0]
