"""The polar decomposition by Halley's iteration."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.control_flow import cond, while_loop
from lawful.core import ArgumentValueError, float0, get_aval
from lawful.custom_rules import custom_jvp
from lawful.linalg._equations import solve_sylvester
from lawful.numpy._loops import traced_once
from lawful.special._arguments import inexact, silent

# Above this weight of a step, products of the matrix with itself would lose too much.
_LARGE = 100.0
_MOST_ITERATIONS = 20


@silent
def qdwh(
    x: Any, *, is_hermitian: bool = False, max_iterations: int | None = None, eps: float | None = None
) -> tuple[Any, Any, Any, Any]:
    """Returns the polar decomposition ``x = U H`` by QR-based dynamically weighted Halley iterations.

    Args:
      x: an array of shape (m, n) with n ≤ m, of rank n.
      is_hermitian: has no effect.
      max_iterations: how many iterations at most; 20 if None.
      eps: the precision; that of the dtype if None.

    Returns:
      ``(U, H, num_iters, is_converged)``: U has orthonormal columns, and H is Hermitian and positive definite.

    Raises:
      ArgumentTypeError: the dtype is one that LAPACK does not support, such as float16.
      ArgumentValueError: the array is no matrix, or has more columns than rows.

    Where the rank is less, so is that of U. Derivatives are those of the exact decomposition, not of the iterations.
    `polar` gives U and H by singular values.

    >>> u, h, _, is_converged = qdwh(np.array([[0.0, -3.0], [2.0, 0.0]]))
    >>> u.round(6)
    array([[ 0., -1.],
           [ 1.,  0.]])

    Law: ``U H = x``, ``Uᴴ U = 1``. Source: ``jax.lax.linalg.qdwh``; Nakatsukasa, Bai and Gygi 2010, "Optimizing
    Halley's iteration for computing the matrix polar decomposition", https://doi.org/10.1137/090774999.
    """
    x = inexact("qdwh", x)
    aval = get_aval(x)
    if aval.ndim != 2 or aval.shape[0] < aval.shape[1]:
        raise ArgumentValueError(
            f"qdwh: expected a matrix with at least as many rows as columns, got {aval}; transpose it, or use vmap"
        )
    u, h, count, is_converged = _decompose(
        x,
        _MOST_ITERATIONS if max_iterations is None else max_iterations,
        float(np.finfo(aval.dtype).eps) if eps is None else eps,
    )
    return u, h, count, is_converged


def _iterate(x: Any, max_iterations: Any, eps: Any) -> tuple[Any, Any, Any, Any]:
    return _converged(x, max_iterations, eps, (4 * eps) ** (1 / 3))


@traced_once()
def _converged(x: Any, max_iterations: Any, eps: Any, tolerance: Any) -> tuple[Any, Any, Any, Any]:
    size = np.max(np.abs(x), initial=0)
    scaled = x / np.where(size == 0, 1, size).astype(get_aval(x).dtype)
    # A bound of the largest singular value, and one of the smallest after the division by it.
    sums = [np.max(np.sum(np.abs(scaled), axis=axis), initial=0) for axis in (0, 1)]
    bound = np.sqrt(sums[0] * sums[1])
    start = scaled / np.where(bound == 0, 1, bound).astype(get_aval(x).dtype)

    def goes_on(state: Any) -> Any:
        _, least, is_close, count = state
        return ~(is_close & (np.abs(1 - least) <= 5 * eps)) & (count < max_iterations)

    def step(state: Any) -> Any:
        u, least, _, count = state
        found, least = _halley(u, least)
        change = np.linalg.norm(found - u)
        # Of NaN nothing is close, and it need not go on.
        is_close = (change <= tolerance * np.linalg.norm(found)) | ~np.isfinite(change)
        least = np.where(np.isfinite(change), least, 1)
        return found, least, is_close, count + 1

    least = np.asarray(eps).astype(get_aval(bound).dtype)
    u, least, is_close, count = while_loop(goes_on, step, (start, least, False, 0))
    u = 1.5 * u - 0.5 * u @ (_adjoint(u) @ u)  # a step of Newton and Schulz, for columns that are orthonormal
    h = _adjoint(u) @ x
    is_converged = is_close & (np.abs(1 - least) <= 5 * eps) & np.all(np.isfinite(u))
    return u, (h + _adjoint(h)) / 2, count, is_converged


def _halley(u: Any, least: Any) -> tuple[Any, Any]:
    """Returns the next iterate, and the bound of its smallest singular value."""
    square = least * least
    d = np.cbrt(4 * (1 - square) / (square * square))
    root = np.sqrt(1 + d)
    a = root + np.sqrt(8 - 4 * d + 8 * (2 - square) / (square * root)) / 2
    b = (a - 1) ** 2 / 4
    c = a + b - 1
    dtype = get_aval(u).dtype
    kept, added = (b / c).astype(dtype), (a - b / c).astype(dtype)
    identity = np.eye(get_aval(u).shape[1], dtype=dtype)

    def by_qr(u: Any) -> Any:
        q, _ = ops.qr(np.concatenate([np.sqrt(c).astype(dtype) * u, identity]), full_matrices=False)
        rows = get_aval(u).shape[0]
        return kept * u + added / np.sqrt(c).astype(dtype) * (q[:rows] @ _adjoint(q[rows:]))

    def by_cholesky(u: Any) -> Any:
        factor = ops.cholesky(identity + c.astype(dtype) * (_adjoint(u) @ u), symmetrize_input=False)
        first = ops.triangular_solve(factor, u, lower=True, transpose_a=True, conjugate_a=True)
        return kept * u + added * ops.triangular_solve(factor, first, lower=True)

    found = cond(c > _LARGE, by_qr, by_cholesky, u)
    return found, np.minimum(least * (a + b * square) / (1 + c * square), 1)


_decompose = custom_jvp(_iterate, nondiff_argnums=(1, 2))


@_decompose.defjvp
def _jvp(max_iterations: Any, eps: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (x_dot,) = primals, tangents
    u, h, count, is_converged = _decompose(x, max_iterations, eps)
    # Uᴴ ẋ = Ω H + Ḣ with a skew Ω = Uᴴ U̇ and a Hermitian Ḣ, so that H Ω + Ω H = Uᴴ ẋ − ẋᴴ U.
    inner = _adjoint(u) @ x_dot
    turn = solve_sylvester(h, h, inner - _adjoint(inner))
    h_dot = inner - turn @ h
    # The part outside of the space of U is U̇ H.
    outside = _adjoint(np.linalg.solve(h, _adjoint(x_dot - u @ inner)))
    no_tangents = [numpy.zeros(get_aval(value).shape, float0) for value in (count, is_converged)]
    return (u, h, count, is_converged), (u @ turn + outside, (h_dot + _adjoint(h_dot)) / 2, *no_tangents)


def _adjoint(a: Any) -> Any:
    return np.conj(np.matrix_transpose(a))
