"""The Gaussian process agrees with scikit-learn, whose gradients were derived by hand, on each backend."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from lawful.autodiff import grad, hessian, value_and_grad


@pytest.fixture(scope="module")
def land(example: ModuleType) -> Any:
    return example.load(60, 0)


@pytest.fixture(scope="module")
def theirs(land: Any) -> Callable[[Any], Any]:
    """Minus the log marginal likelihood, and its gradient, of scikit-learn."""
    kernel = ConstantKernel(1.0) * Matern([1.0, 1.0], nu=1.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(land.places, land.heights)
    return lambda theta: tuple(-x for x in model.log_marginal_likelihood(theta, eval_gradient=True))


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_gaussian_process_fit_is_that_of_scikit_learn(run: Callable[..., int], backend: str) -> None:
    assert run("--points", 150, "--backend", backend) == 0


def test_gaussian_process_wrong_covariance_is_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = example.covariance
    monkeypatch.setattr(example, "covariance", lambda theta, a, b: right(theta, 1.05 * a, 1.05 * b))
    assert run("--points", 40, "--backend", "numpy") == 1


@pytest.mark.parametrize("seed", range(5))
def test_gaussian_process_value_and_gradient_of_scikit_learn(
    example: ModuleType, land: Any, theirs: Callable[[Any], Any], seed: int
) -> None:
    theta = np.random.default_rng(seed).normal(size=4)
    value, gradient = value_and_grad(example.negative_log_likelihood)(theta, land.places, land.heights)
    expected = theirs(theta)
    np.testing.assert_allclose(value, expected[0], rtol=1e-11)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-8, atol=1e-10 * abs(expected[0]))


def test_gaussian_process_hessian_is_change_of_gradient(
    example: ModuleType, land: Any, theirs: Callable[[Any], Any]
) -> None:
    theta = np.random.default_rng(7).normal(size=4)
    found = hessian(example.negative_log_likelihood)(theta, land.places, land.heights)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9)
    expected = approx_fprime(theta, lambda theta: theirs(theta)[1], 1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * abs(expected).max())


def test_gaussian_process_predict_without_noise(example: ModuleType, land: Any) -> None:
    """Without noise, the prediction at a measured point is the measurement."""
    theta = np.log([1.0, 1.0, 1.0, 1e-10])
    mean, deviation = example.predict(theta, land.places, land.heights, land.places)
    np.testing.assert_allclose(mean, land.heights, atol=1e-6)
    assert np.all(deviation < 1e-4)


def test_gaussian_process_derivative_of_variance(example: ModuleType) -> None:
    place = np.ones((1, 2))
    gradient = grad(lambda theta: example.covariance(theta, place, place)[0, 0])(np.zeros(4))
    np.testing.assert_array_equal(gradient, [1.0, 0.0, 0.0, 0.0])
