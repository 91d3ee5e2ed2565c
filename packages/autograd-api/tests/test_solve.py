"""``numpy.linalg.solve`` of a known matrix and a traced right side: the same values and derivatives in both layers."""

from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import elementwise_grad, grad, hessian, jacobian, value_and_grad
from lawful.core import plain

RNG = numpy.random.default_rng(0)


def matrix(size: int) -> Any:
    return RNG.uniform(size=(size, size)) + size * numpy.eye(size)


@pytest.mark.parametrize("shape", [(1,), (3,), (3, 1), (3, 2), (20,)])
def test_solve_gradient_by_the_right_side(shape: Any) -> None:
    a, b, w = matrix(shape[0]), RNG.uniform(size=shape), RNG.uniform(size=shape)

    def f(b: Any) -> Any:
        return np.sum(w * np.linalg.solve(a, b) ** 2)

    with plain():
        expected = value_and_grad(f)(b)
    for _ in range(3):
        value, gradient = value_and_grad(f)(b)
        numpy.testing.assert_allclose(value, expected[0], rtol=1e-15)  # a sum of products is a dot product there
        assert numpy.array_equal(gradient, expected[1])
    numpy.testing.assert_allclose(
        gradient, numpy.linalg.inv(a).T @ (2.0 * w * (numpy.linalg.inv(a) @ b)), rtol=1e-12, atol=1e-12
    )


def test_solve_derivatives_of_higher_order() -> None:
    a, b = matrix(3), RNG.uniform(size=3)
    inverse = numpy.linalg.inv(a)
    numpy.testing.assert_allclose(jacobian(lambda b: np.linalg.solve(a, b))(b), inverse, rtol=1e-12)
    numpy.testing.assert_allclose(
        hessian(lambda b: np.sum(np.linalg.solve(a, b) ** 3))(b),
        inverse.T @ numpy.diag(6.0 * inverse @ b) @ inverse,
        rtol=1e-11,
    )
    by_all = hessian(lambda x: np.sum(np.linalg.solve(np.reshape(x[:9], (3, 3)), x[9:]) ** 2))
    with plain():
        expected = by_all(numpy.concatenate([a.reshape(-1), b]))
    numpy.testing.assert_allclose(by_all(numpy.concatenate([a.reshape(-1), b])), expected, rtol=1e-12)


def test_solve_with_a_matrix_that_is_overwritten() -> None:
    a, b = matrix(3), RNG.uniform(size=3)
    expected = numpy.linalg.inv(a).sum(0)

    def f(b: Any) -> Any:
        matrix = a.copy()
        out = np.sum(np.linalg.solve(matrix, b))
        matrix[:] = 0.0
        return out

    numpy.testing.assert_allclose(grad(f)(b), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf, 1e308])
def test_solve_without_a_finite_solution(bad: float) -> None:
    small = numpy.array([[1e-10, 0.0], [0.0, 1.0]])
    infinite = numpy.array([[bad, 0.0], [0.0, 1.0]])
    b = numpy.array([[1.0, 2.0], [bad, 4.0]])
    for a, right in ((small, b[::-1].copy()), (infinite, numpy.ones((2, 2))), (numpy.eye(2), b)):
        f = elementwise_grad(lambda b, a=a: np.linalg.solve(a, b) * 1e200)
        with plain():
            expected = f(right)
        for _ in range(3):
            numpy.testing.assert_array_equal(f(right), expected)
        both = value_and_grad(lambda b, a=a: np.linalg.solve(a, b)[1, 0])
        with plain():
            expected = both(right)
        found = both(right)
        numpy.testing.assert_array_equal(found[0], expected[0])
        numpy.testing.assert_array_equal(found[1], expected[1])


def test_solve_of_a_singular_matrix_raises() -> None:
    with pytest.raises(numpy.linalg.LinAlgError):
        grad(lambda b: np.sum(np.linalg.solve(numpy.ones((2, 2)), b)))(numpy.ones(2))


def numpy_refuses_singular_without_right_sides() -> bool:
    try:
        numpy.linalg.solve(numpy.ones((3, 3)), numpy.zeros((3, 0)))
    except numpy.linalg.LinAlgError:
        return True
    return False


@pytest.mark.skipif(
    not numpy_refuses_singular_without_right_sides(), reason="this NumPy gives an empty result, as old ones do"
)
@pytest.mark.parametrize("argnum", [0, 1])
def test_solve_singular_without_right_sides(argnum: int) -> None:
    """It is an error as in Autograd, in both layers, though no element of the result shows it."""
    args = numpy.ones((3, 3)), numpy.zeros((3, 0))

    def f(a: Any, b: Any) -> Any:
        return np.sum(np.linalg.solve(a, b))

    with pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix"):
        grad(f, argnum)(*args)
    with plain(), pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix"):
        grad(f, argnum)(*args)
