"""The minimizers find the minimum as fast as their theory says, on each backend, and a wrong derivative is seen."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der, rosen_hess

from lawful.autodiff import hessian, value_and_grad


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_rosenbrock_minimum_is_found_as_fast_as_theory_says(run: Callable[..., int], backend: str) -> None:
    assert run("--sizes", 2, 10, "--backend", backend) == 0


def test_rosenbrock_wrong_hessian_is_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Newton's method still finds the minimum, but no longer squares the error.
    monkeypatch.setattr(example, "hessian", lambda f: lambda x: 1.01 * hessian(f)(x))
    assert run("--sizes", 2, "--backend", "numpy") == 1


@pytest.mark.parametrize("size", [2, 5])
def test_rosenbrock_derivatives_are_those_of_scipy(example: ModuleType, size: int) -> None:
    x = np.random.default_rng(size).normal(size=size)
    value, gradient = value_and_grad(example.rosenbrock)(x)
    np.testing.assert_allclose(value, rosen(x), rtol=1e-13)
    np.testing.assert_allclose(gradient, rosen_der(x), rtol=1e-11)
    np.testing.assert_allclose(hessian(example.rosenbrock)(x), rosen_hess(x), rtol=1e-11)


def _bowl(size: int) -> tuple[Any, Callable[[Any], Any]]:
    root = np.random.default_rng(size).normal(size=(size, size))
    matrix = root @ root.T + np.eye(size)
    return matrix, value_and_grad(lambda x: 0.5 * (x - 1.0) @ matrix @ (x - 1.0))


def test_newton_needs_one_step_in_a_bowl(example: ModuleType) -> None:
    matrix, value_and_gradient = _bowl(6)
    found = example.minimize(example.Newton(lambda x: matrix), value_and_gradient, np.zeros(6))
    assert len(found.points) == 2
    assert found.errors[-1] < 1e-12


def test_bfgs_learns_the_hessian_along_its_last_step(example: ModuleType) -> None:
    matrix, _ = _bowl(6)
    method, rng = example.BFGS(), np.random.default_rng(0)
    for _ in range(4):
        step = rng.normal(size=6)
        method.learn(step, matrix @ step)
        np.testing.assert_allclose(method.inverse @ matrix @ step, step, atol=1e-12)
        np.testing.assert_allclose(method.inverse, method.inverse.T, atol=1e-12)
        assert np.linalg.eigvalsh(method.inverse).min() > 0.0


def test_bfgs_finds_the_bottom_of_a_bowl(example: ModuleType) -> None:
    found = example.minimize(example.BFGS(), _bowl(6)[1], np.zeros(6))
    assert found.slope < 1e-8
    assert found.errors[-1] < 1e-8


def test_newton_goes_down_also_where_the_valley_curves_down(example: ModuleType) -> None:
    x = np.array([0.02, 0.02])
    assert np.linalg.eigvalsh(rosen_hess(x)).min() < 0.0
    direction = example.Newton(rosen_hess).direction(x, rosen_der(x))
    assert rosen_der(x) @ direction < 0.0
