"""`gmres`: solutions, derivatives, pytrees, matrices that it cannot solve, and mistakes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jacfwd, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.linalg import gmres
from lawful.staging import jit

RNG = np.random.default_rng(0)
GENERAL = RNG.normal(size=(6, 6))
EASY = GENERAL + 6 * np.eye(6)
RIGHT = RNG.normal(size=6)


@pytest.fixture(params=["batched", "incremental"])
def solve(request):
    return partial(gmres, solve_method=request.param)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_gmres_residual_is_small(solve, dtype: str) -> None:
    tol = 1e-5 if dtype in ("float32", "complex64") else 1e-12
    turned = (1j * GENERAL[::-1] if dtype[0] == "c" else 0) + GENERAL
    for matrix, restart in ((turned, 6), (turned, 20), (turned + 6 * np.eye(6), 2)):
        matrix, right = matrix.astype(dtype), RIGHT.astype(dtype)
        x, info = solve(matrix, right, tol=tol, restart=restart)
        assert info is None
        assert x.dtype == dtype
        assert np.linalg.norm(matrix @ x - right) <= 2 * tol * np.linalg.norm(right)
        if restart == 2:
            compiled = jit(lambda a, b: solve(a, b, tol=tol, restart=2)[0], backend="numpy")(matrix, right)
            np.testing.assert_allclose(compiled, x, rtol=1e-4)


def test_gmres_incremental_ends_within_a_basis() -> None:
    """Both take the same steps, and one of them ends once the residual is small enough."""
    residuals = []
    for method in ("batched", "incremental"):
        x = gmres(EASY, RIGHT, tol=0.3, solve_method=method)[0]
        residuals.append(np.linalg.norm(EASY @ x - RIGHT) / np.linalg.norm(RIGHT))
    assert residuals[0] < 1e-14
    assert 1e-4 < residuals[1] <= 0.3


def test_gmres_derivatives_are_those_of_the_exact_solution(solve) -> None:
    def found(a, b):
        return lnp.sum(solve(a, b, tol=1e-13, restart=3)[0] ** 2)

    def exact(a, b):
        return lnp.sum(lnp.linalg.solve(a, b) ** 2)

    for argnum in (0, 1):
        expected = grad(exact, argnum)(EASY, RIGHT)
        np.testing.assert_allclose(grad(found, argnum)(EASY, RIGHT), expected, rtol=1e-8, atol=1e-11)
        compiled = jit(grad(found, argnum), backend="numpy")(EASY, RIGHT)
        np.testing.assert_allclose(compiled, expected, rtol=1e-8, atol=1e-11)
    tangents = np.cos(EASY), np.sin(RIGHT)
    np.testing.assert_allclose(jvp(found, (EASY, RIGHT), tangents)[1], jvp(exact, (EASY, RIGHT), tangents)[1])
    inverse = np.linalg.inv(EASY)
    np.testing.assert_allclose(jacfwd(grad(found, 1), 1)(EASY, RIGHT), 2 * inverse.T @ inverse, rtol=1e-8, atol=1e-11)


def test_gmres_batches_and_pytrees(solve) -> None:
    columns = vmap(lambda b: solve(EASY, b, tol=1e-12, restart=3)[0])(np.eye(6))
    np.testing.assert_allclose(columns.T, np.linalg.inv(EASY), atol=1e-11)
    x, _ = solve(lambda t: {"a": 2 * t["a"], "b": 4 * t["b"]}, {"a": np.ones(2), "b": np.ones((2, 2), np.float32)})
    np.testing.assert_allclose(x["a"], 0.5)
    np.testing.assert_allclose(x["b"], 0.25, rtol=1e-6)
    assert x["b"].dtype == np.float32


def test_gmres_start_and_preconditioner(solve) -> None:
    exact = np.linalg.solve(GENERAL, RIGHT)
    np.testing.assert_array_equal(solve(GENERAL, RIGHT, x0=exact)[0], exact)
    np.testing.assert_array_equal(solve(GENERAL, np.zeros(6))[0], np.zeros(6))
    np.testing.assert_array_equal(solve(GENERAL, RIGHT, maxiter=0)[0], np.zeros(6))
    once = solve(GENERAL, RIGHT, M=np.linalg.inv(GENERAL), restart=1, maxiter=1)[0]
    np.testing.assert_allclose(once, exact, rtol=1e-9)
    assert not np.allclose(solve(GENERAL, RIGHT, restart=1, maxiter=1)[0], exact)
    assert solve(np.zeros((0, 0)), np.zeros(0))[0].shape == (0,)


def test_gmres_without_solution_ends(solve) -> None:
    """Where no vector of the space makes the residual smaller, it ends with what it has."""
    cycle = np.roll(np.eye(4), 1, axis=0)
    first = np.array([1.0, 0, 0, 0])
    np.testing.assert_array_equal(solve(cycle, first, restart=2)[0], np.zeros(4))
    np.testing.assert_allclose(solve(cycle, first, restart=4)[0], [0, 0, 0, 1], atol=1e-14)
    np.testing.assert_array_equal(solve(np.zeros((3, 3)), np.ones(3))[0], np.zeros(3))
    singular = np.diag([1.0, 2, 0])
    np.testing.assert_allclose(solve(singular, np.array([1.0, 2, 0]))[0], [1, 1, 0], atol=1e-14)
    x = solve(singular, np.array([1.0, 2, 1]))[0]
    assert np.abs(x).max() < 10


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: gmres(EASY, RIGHT, solve_method="qr"), ArgumentValueError, "expected the solve_method 'batched' or"),
        (lambda: gmres(EASY, RIGHT, restart=0), ArgumentValueError, "expected a restart of at least 1, got 0"),
        (lambda: gmres(EASY, RIGHT, restart=2.0), ArgumentTypeError, "expected a static integer as restart"),
        (lambda: gmres(lambda x: x, np.arange(6)), ArgumentTypeError, "gmres: expected b of floats or complex numbers"),
        (lambda: gmres(EASY, RIGHT, x0=np.ones(3)), ArgumentValueError, "gmres: expected x0 like b"),
    ],
)
def test_gmres_mistakes_are_explained(call, error, text: str) -> None:
    with pytest.raises(error, match=text):
        call()
