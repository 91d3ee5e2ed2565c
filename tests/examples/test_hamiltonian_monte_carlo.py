"""The draws of Hamiltonian Monte Carlo have the known posterior, on each backend, and would be found out if not."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lawful import random
from lawful.autodiff import hessian


@pytest.fixture(scope="module")
def data(example: ModuleType) -> Any:
    return example.load(30, 0)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_hamiltonian_draws_have_the_known_posterior(run: Callable[..., int], backend: str) -> None:
    assert run("--draws", 200, "--backend", backend) == 0


def test_hamiltonian_draws_of_another_density_are_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = example.log_density
    monkeypatch.setattr(example, "log_density", lambda p, data: right(p, data) - p[-1])  # no Jacobian
    assert run("--draws", 200) == 1


def test_hamiltonian_draws_that_are_all_accepted_are_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def accepting(key: Any, position: Any, target: Callable[[Any], Any]) -> tuple[Any, Any]:
        return example.leapfrog(position, random.normal(key, position.shape), 1.2, target)[0], np.ones(())

    monkeypatch.setattr(example, "transition", accepting)
    assert run("--draws", 200) == 1


def test_hamiltonian_log_density_is_that_of_the_known_posterior(example: ModuleType, data: Any) -> None:
    *weights, log_tau = example.posterior(data)
    center = np.array([each.mean() for each in weights])
    precision = data.inputs.T @ data.inputs + np.eye(10)
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(10):
        parameters = np.append(center, log_tau.mean()) + 0.5 * rng.normal(size=11)
        given_tau = stats.multivariate_normal(center, np.linalg.inv(precision) * np.exp(-parameters[-1]))
        known = given_tau.logpdf(parameters[:-1]) + log_tau.logpdf(parameters[-1])
        differences.append(example.log_density(parameters, data) - known)
    np.testing.assert_allclose(differences, differences[0], rtol=1e-10)


def test_hamiltonian_round_coordinates_curvature_at_mode(example: ModuleType, data: Any) -> None:
    """In round coordinates the curvature at the mode is the unit matrix."""
    target = lambda p: example.log_density(p, data)  # noqa: E731
    mode, root = example.round_coordinates(target, np.zeros(11))
    np.testing.assert_allclose(-root.T @ hessian(target)(mode) @ root, np.eye(11), atol=1e-8)


def test_hamiltonian_leaps_lead_back(example: ModuleType, data: Any) -> None:
    target = lambda p: example.log_density(p, data)  # noqa: E731
    rng = np.random.default_rng(0)
    start, momentum = rng.normal(size=11), rng.normal(size=11)
    place, there, _ = example.leapfrog(start, momentum, 0.05, target)
    back, again, _ = example.leapfrog(place, -there, 0.05, target)
    assert np.max(np.abs(place - start)) > 0.1
    np.testing.assert_allclose(back, start, atol=1e-11)
    np.testing.assert_allclose(again, -momentum, atol=1e-11)
