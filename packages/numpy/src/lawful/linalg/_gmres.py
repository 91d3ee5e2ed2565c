"""Linear systems by generalized minimal residuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.control_flow import while_loop
from lawful.core import ArgumentValueError, get_aval
from lawful.linalg._iterative import solution, squared_norm
from lawful.numpy._raveling import ravel_pytree
from lawful.special._arguments import static_integer


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, None]:
    """Returns the solution of ``A x = b`` by generalized minimal residuals, for any ``A`` that has an inverse.

    Args:
      A: a matrix of shape (n, n), or a function of pytrees like ``b`` that multiplies by it.
      b: the right-hand side: a pytree of floating or complex arrays; for a matrix an array of shape (n,) or (n, m),
        whose dtype is promoted with that of the matrix.
      x0: where to start, like ``b``; 0 if None.
      tol: the norm of the residual, relative to that of ``b``, at which the iteration ends; or
      atol: the norm of the residual itself, if that is more.
      restart: of how many vectors a basis is built at most, before it begins anew from the solution so far.
      maxiter: how many bases are built at most; 10 for each element of ``b`` if None.
      M: approximates the inverse of ``A``: likewise a matrix or a function.
      solve_method: ``"incremental"`` ends within a basis where the residual is small enough; ``"batched"`` does not.

    Returns:
      ``(x, None)``; SciPy has a number in place of None.

    Raises:
      ArgumentTypeError: ``b`` has integers, ``A`` or ``M`` is neither a matrix nor a function, or ``restart`` is no
        integer.
      ArgumentValueError: ``x0`` differs from ``b`` in structure or shapes, ``restart`` is less than 1, or the method is
        another one.

    It also ends where a basis makes the residual no smaller: look at ``b - A x``. Derivatives are solves by the same
    iteration, not those of its steps.

    >>> import numpy as np
    >>> gmres(np.array([[4.0, 1.0], [0.0, 2.0]]), np.array([5.0, 2.0]))[0].round(6)
    array([1., 1.])

    Law: ``A x = b``. Source: ``jax.scipy.sparse.linalg.gmres``; Saad and Schultz 1986, "GMRES: A generalized minimal
    residual algorithm for solving nonsymmetric linear systems", https://doi.org/10.1137/0907058.
    """
    if solve_method not in ("batched", "incremental"):
        raise ArgumentValueError(
            f"gmres: expected the solve_method 'batched' or 'incremental', got {solve_method!r}; choose one"
        )
    if static_integer("gmres", "restart", restart) < 1:
        raise ArgumentValueError(f"gmres: expected a restart of at least 1, got {restart}; leave it out for 20")

    def iterate(multiply: Any, precondition: Any, right: Any, start: Any, end: Any, limit: Any) -> Any:
        vector, unravel = ravel_pytree(right)

        def of_vectors(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return lambda x: ravel_pytree(f(unravel(x)))[0]

        small_enough = end if solve_method == "incremental" else numpy.zeros((), get_aval(end).dtype)
        cycle = _Cycle(of_vectors(multiply), of_vectors(precondition), restart, small_enough)
        return unravel(_restarted(cycle, vector, ravel_pytree(start)[0], end, limit))

    return solution("gmres", iterate, A, b, x0, tol, atol, maxiter, M, hermitian=False)


def _restarted(cycle: _Cycle, right: Any, start: Any, end: Any, limit: Any) -> Any:
    def goes_on(state: Any) -> Any:
        _, residual, is_better, count = state
        return (squared_norm(residual) > end) & is_better & (count < limit)

    def step(state: Any) -> Any:
        x, residual, _, count = state
        found = x + cycle.correction(residual)
        left = right - cycle.multiply(found)
        is_better = squared_norm(left) < squared_norm(residual)
        return np.where(is_better, found, x), np.where(is_better, left, residual), is_better, count + 1

    return while_loop(goes_on, step, (start, right - cycle.multiply(start), True, 0))[0]


class _Cycle:
    """The basis of one residual: its images under ``A M``, made orthogonal, and the least squares problem in it."""

    def __init__(self, multiply: Any, precondition: Any, restart: int, end: Any) -> None:
        self.multiply, self.precondition, self.restart, self.end = multiply, precondition, restart, end

    def correction(self, residual: Any) -> Any:
        """Returns the vector of the space of the basis that makes a residual smallest."""
        size, dtype = get_aval(residual).size, get_aval(residual).dtype
        width = min(self.restart, size)
        length = np.sqrt(squared_norm(residual))
        basis = _with_row(np.zeros((width + 1, size), dtype), 0, residual / length.astype(dtype))
        # R and the adjoint of Q, of the QR decomposition of the matrix of A M in the basis.
        q_adjoint, r = np.eye(width + 1, dtype=dtype), np.zeros((width + 1, width), dtype)

        def goes_on(state: Any) -> Any:
            *_, q_adjoint, count, is_closed = state
            left = np.abs(_row(q_adjoint, count)[0]) * length
            return (count < width) & ~is_closed & (left * left > self.end)

        def step(state: Any) -> Any:
            basis, r, q_adjoint, count, _ = state
            image, inside, beyond = self._orthogonal(basis, self.multiply(self.precondition(_row(basis, count))))
            column = q_adjoint @ inside
            first, second = _row(column, count), beyond.astype(dtype)
            both = np.hypot(np.abs(first), beyond)
            divisor = np.where(both == 0, 1, both).astype(dtype)
            cosine, sine = np.where(both == 0, 1, first / divisor), second / divisor
            here, below = _row(q_adjoint, count), _row(q_adjoint, count + 1)
            q_adjoint = _with_row(q_adjoint, count, np.conj(cosine) * here + sine * below)
            q_adjoint = _with_row(q_adjoint, count + 1, cosine * below - sine * here)
            column = np.where(numpy.arange(width + 1) == count, both.astype(dtype), column)
            r = np.where(numpy.arange(width) == count, column[:, None], r)
            return _with_row(basis, count + 1, image), r, q_adjoint, count + 1, beyond == 0

        basis, r, q_adjoint, count, _ = while_loop(goes_on, step, (basis, r, q_adjoint, 0, False))
        # Columns that were not made, or have no length beyond rounding, have the coefficient 0.
        lengths = np.abs(np.diagonal(r))
        least = np.max(lengths, initial=0) * (size * np.finfo(dtype).eps)
        is_made = (numpy.arange(width) < count) & (lengths > least)
        square = np.triu(np.where(is_made, r[:width], 0)) + np.diag(np.where(is_made, 0, 1)).astype(dtype)
        right = np.where(is_made, q_adjoint[:width, 0] * length.astype(dtype), 0)
        return self.precondition(ops.triangular_solve(square, right, left_side=True) @ basis[:width])

    def _orthogonal(self, basis: Any, image: Any) -> tuple[Any, Any, Any]:
        """Returns the direction of a vector that is orthogonal to a basis, its coefficients in it, and its length."""
        before = np.sqrt(squared_norm(image))
        inside = np.zeros(get_aval(basis).shape[0], get_aval(basis).dtype)
        for _ in range(2):  # the second time removes what rounding left
            part = np.conj(basis) @ image
            inside, image = inside + part, image - part @ basis
        length = np.sqrt(squared_norm(image))
        # A remainder of rounding is no direction.
        length = np.where(length <= before * np.finfo(get_aval(length).dtype).eps, 0, length)
        divisor = np.where(length == 0, 1, length).astype(get_aval(image).dtype)
        return np.where(length == 0, 0, image / divisor), inside, length


def _row(x: Any, i: Any) -> Any:
    return ops.dynamic_index_in_dim(x, i, 0, keepdims=False)


def _with_row(x: Any, i: Any, row: Any) -> Any:
    return ops.dynamic_update_index_in_dim(x, row, i, 0)
