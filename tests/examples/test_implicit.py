"""The gradient through the fixed point is right, by all penalties, and lowers the loss on held-out examples."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import grad, jacfwd, jacrev
from lawful.staging import jit


def test_implicit_short_run_lowers_the_loss(run: Callable[..., int]) -> None:
    assert run("--steps", 15) == 0


def test_implicit_wrong_derivative_is_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = example.conjugate_gradients
    monkeypatch.setattr(example, "conjugate_gradients", lambda product, b: 1.01 * solve(product, b))
    assert run("--steps", 1) == 1


def test_implicit_conjugate_gradients_solve_a_system(example: ModuleType) -> None:
    root = np.random.default_rng(0).standard_normal((7, 7))
    matrix, b = root @ root.T + np.eye(7), np.arange(7.0)
    np.testing.assert_allclose(example.conjugate_gradients(lambda x: matrix @ x, b), np.linalg.solve(matrix, b))


def test_implicit_both_modes_give_derivative_of_the_fixed_point(example: ModuleType) -> None:
    random = np.random.default_rng(1)
    data = example.Data(random.standard_normal((20, 3)), np.where(random.random(20) < 0.5, 1.0, -1.0))
    penalties = np.array([-2.0, -1.0, 0.0])

    def fit(log_penalties: Any) -> Any:
        return example.fit(log_penalties, data)

    weights = fit(penalties)
    slope = grad(lambda w: example.loss(w, data) + 0.5 * np.sum(np.exp(penalties) * np.square(w)))(weights)
    assert np.max(np.abs(slope)) < 1e-12
    expected = np.stack([example.by_differences(lambda p, i=i: fit(p)[i], penalties) for i in range(3)])
    for transform in (jacfwd, jacrev):
        np.testing.assert_allclose(transform(fit)(penalties), expected, atol=1e-9)
        np.testing.assert_allclose(jit(transform(fit))(penalties), expected, atol=1e-9)
