"""`cg` and `bicgstab`: solutions, derivatives, pytrees, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jacfwd
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.linalg import bicgstab, cg
from lawful.staging import jit

RNG = np.random.default_rng(0)
GENERAL = RNG.normal(size=(6, 6))
POSITIVE = GENERAL @ GENERAL.T + 6 * np.eye(6)
RIGHT = RNG.normal(size=6)
SOLVERS = [(cg, POSITIVE), (bicgstab, GENERAL), (bicgstab, POSITIVE)]


@pytest.fixture(params=range(len(SOLVERS)))
def solver(request):
    return SOLVERS[request.param]


def total(solve):
    return lambda matrix, right: lnp.sum(solve(matrix, right) ** 2)


def test_solution_is_that_of_numpy(solver) -> None:
    solve, matrix = solver
    x, info = solve(matrix, RIGHT, tol=1e-12)
    assert info is None
    np.testing.assert_allclose(x, np.linalg.solve(matrix, RIGHT), rtol=1e-8)
    by_function = solve(lambda x: matrix @ x, RIGHT, tol=1e-12)[0]
    np.testing.assert_array_equal(by_function, x)


def test_solution_of_complex_systems(solver) -> None:
    solve, matrix = solver
    turned = matrix + 1j * GENERAL[::-1]
    matrix = turned @ turned.conj().T + 6 * np.eye(6) if solve is cg else turned
    right = RIGHT + 1j * RIGHT[::-1]
    np.testing.assert_allclose(solve(matrix, right, tol=1e-12)[0], np.linalg.solve(matrix, right), rtol=1e-8)


def test_derivatives_are_those_of_the_exact_solution(solver) -> None:
    solve, matrix = solver
    found = total(lambda a, b: solve(a, b, tol=1e-13)[0])
    expected = total(np.linalg.solve)
    for argnum in (0, 1):
        exact = grad(total(lnp.linalg.solve), argnum)(matrix, RIGHT)
        np.testing.assert_allclose(grad(found, argnum)(matrix, RIGHT), exact, rtol=1e-6, atol=1e-9)
        compiled = jit(grad(found, argnum), backend="numpy")(matrix, RIGHT)
        np.testing.assert_allclose(compiled, exact, rtol=1e-6, atol=1e-9)
    assert found(matrix, RIGHT) == pytest.approx(expected(matrix, RIGHT))
    inverse = np.linalg.inv(matrix)
    hessian = jacfwd(grad(found, 1), 1)(matrix, RIGHT)
    np.testing.assert_allclose(hessian, 2 * inverse.T @ inverse, rtol=1e-6, atol=1e-9)


def test_batches_of_right_sides(solver) -> None:
    solve, matrix = solver
    columns = vmap(lambda b: solve(matrix, b, tol=1e-12)[0])(np.eye(6))
    np.testing.assert_allclose(columns.T, np.linalg.inv(matrix), rtol=1e-7, atol=1e-10)


def test_pytrees_are_vectors() -> None:
    x, _ = cg(lambda t: {"a": 2 * t["a"], "b": 4 * t["b"]}, {"a": np.ones(2), "b": np.ones((2, 2))}, tol=1e-12)
    np.testing.assert_allclose(x["a"], 0.5)
    np.testing.assert_allclose(x["b"], 0.25)


def test_zero_start_and_preconditioner(solver) -> None:
    solve, matrix = solver
    exact = np.linalg.solve(matrix, RIGHT)
    assert np.array_equal(solve(matrix, np.zeros(6))[0], np.zeros(6))
    assert np.array_equal(solve(matrix, RIGHT, x0=exact)[0], exact)
    once = solve(matrix, RIGHT, M=np.linalg.inv(matrix), maxiter=1)[0]
    np.testing.assert_allclose(once, exact, rtol=1e-9)
    assert np.array_equal(solve(matrix, RIGHT, maxiter=0)[0], np.zeros(6))
    assert not np.allclose(solve(matrix, RIGHT, maxiter=1)[0], exact)


def test_dtypes_of_a_matrix_and_a_right_side_are_promoted(solver) -> None:
    solve, matrix = solver
    for right in (RIGHT.astype(np.float32), np.arange(6), [1, 2, 3, 4, 5, 6], RIGHT + 1j):
        x = solve(matrix, right, tol=1e-12)[0]
        assert x.dtype == np.result_type(np.float64, np.asarray(right))
        np.testing.assert_allclose(x, np.linalg.solve(matrix, right), rtol=1e-7)
    whole = solve([[2, 0], [0, 4]], [2, 4])[0]
    np.testing.assert_allclose(whole, [1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: cg(lambda x: x, np.arange(6)), ArgumentTypeError, "expected b of floats or complex numbers, got i64"),
        (lambda: cg(np.ones((2, 3)), RIGHT), ArgumentTypeError, "expected a square matrix or a function as A"),
        (lambda: bicgstab(POSITIVE, RIGHT, M=3.0), ArgumentTypeError, "a square matrix or a function as M, got 3.0"),
        (lambda: cg(POSITIVE, RIGHT, x0=np.ones(3)), ArgumentValueError, "expected x0 like b"),
        (lambda: cg(lambda x: x[:2], RIGHT), ArgumentTypeError, "matvec"),
    ],
)
def test_mistakes_are_explained(call, error, text: str) -> None:
    with pytest.raises(error, match=text):
        call()
