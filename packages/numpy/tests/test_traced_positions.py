"""`insert` and `delete` at traced positions, and structured matrices and cross products of batches."""

from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import linalg
from lawful.autodiff import grad
from lawful.staging import jit

MATRIX = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("position", [-2, 0, 2])
def test_insert_and_delete_at_traced_position(axis: int | None, position: int) -> None:
    for values in (5.0, np.array([7.0])):
        inserted = jit(lambda i, values=values: lnp.insert(MATRIX, i, values, axis), backend="numpy")(position)
        np.testing.assert_array_equal(inserted, np.insert(MATRIX, position, values, axis))
    deleted = jit(lambda i: lnp.delete(MATRIX, i, axis), backend="numpy")(position)
    np.testing.assert_array_equal(deleted, np.delete(MATRIX, position, axis))


@pytest.mark.parametrize("positions", [np.array([0, -1]), np.array([], int), np.array([[2], [1]])])
def test_delete_unique_traced_positions(positions: Any) -> None:
    f = jit(lambda i: lnp.delete(MATRIX, i, 1, assume_unique_indices=True), backend="numpy")
    np.testing.assert_array_equal(f(positions), np.delete(MATRIX, positions.ravel(), 1))


def test_delete_of_traced_positions_differentiates() -> None:
    slope = jit(grad(lambda x, i: (lnp.delete(x, i) ** 2).sum()), backend="numpy")(np.arange(3.0), 1)
    np.testing.assert_array_equal(slope, [0.0, 0.0, 4.0])


@pytest.mark.parametrize(("m", "n"), [(2, 2), (2, 3), (3, 2)])
def test_cross_of_vectors_of_two_elements(m: int, n: int) -> None:
    a, b = np.arange(2.0 * m).reshape(2, m), np.arange(5.0, 5.0 + n)
    padded = np.cross(np.pad(a, ((0, 0), (0, 3 - m))), np.pad(b, (0, 3 - n)))
    for f in (lnp.cross, jit(lnp.cross, backend="numpy")):
        np.testing.assert_array_equal(f(a, b), padded[:, 2] if m == n == 2 else padded)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_matrix_of_batch(mode: str) -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    reference = pytest.importorskip("scipy.linalg", reason="SciPy is the reference")
    expected = [[reference.convolution_matrix(x, 3, mode) for x in row] for row in a]
    np.testing.assert_array_equal(linalg.convolution_matrix(a, 3, mode), expected)


def test_hankel_of_batch() -> None:
    c, r = np.arange(6.0).reshape(2, 3), np.arange(4.0)
    reference = pytest.importorskip("scipy.linalg", reason="SciPy is the reference")
    np.testing.assert_array_equal(linalg.hankel(c, r), [reference.hankel(x, r) for x in c])


def test_eye_of_a_far_diagonal() -> None:
    np.testing.assert_array_equal(jit(lambda: lnp.eye(2, k=-(2**100)), backend="numpy")(), np.zeros((2, 2)))
    np.testing.assert_array_equal(lnp.tri(2, 3, 2**100), np.ones((2, 3)))


@pytest.mark.parametrize("solve", [linalg.cg, linalg.gmres, linalg.bicgstab])
def test_solvers_take_operators_with_matmul(solve: Any) -> None:
    class Operator:
        def __matmul__(self, x: Any) -> Any:
            return 2.0 * x

    x, _ = solve(Operator(), np.array([2.0, 4.0]))
    np.testing.assert_allclose(x, [1.0, 2.0])
