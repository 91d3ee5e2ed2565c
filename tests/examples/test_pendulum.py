"""The planner swings the pendulum up, and solves a linear problem in one step, as the Riccati equation does."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest


def test_the_pendulum_is_swung_up(run: Callable[..., int]) -> None:
    assert run("--moments", 80) == 0


def test_pendulum_plan_that_is_not_optimal_is_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = example.plan
    monkeypatch.setattr(example, "plan", lambda *args, **options: plan(*args, most=3, **options))
    assert run("--moments", 80, "--backend", "numpy") == 1


def linear_problem(example: ModuleType) -> tuple[Any, dict[str, Any]]:
    random = np.random.default_rng(0)
    root = random.standard_normal((3, 3))
    m = {
        "A": np.eye(3) + 0.1 * random.standard_normal((3, 3)),
        "B": random.standard_normal((3, 2)),
        "Q": 0.1 * root @ root.T,
        "R": np.diag([0.5, 2.0]),
    }
    problem = example.Problem(
        lambda x, u: m["A"] @ x + m["B"] @ u,
        lambda x, u: 0.5 * (x @ m["Q"] @ x + u @ m["R"] @ u),
        lambda x: 0.5 * x @ m["Q"] @ x,
    )
    return problem, m


def test_pendulum_one_step_solves_a_linear_problem(example: ModuleType) -> None:
    problem, m = linear_problem(example)
    start, moments = np.array([1.0, -2.0, 0.5]), 12
    controls, cost, far = example.improve(problem, start, np.zeros((moments, 2)), 0.0)
    assert far == 1.0
    value, answers = m["Q"], []
    for _ in range(moments):
        answer = -np.linalg.solve(m["R"] + m["B"].T @ value @ m["B"], m["B"].T @ value @ m["A"])
        value = m["Q"] + m["A"].T @ value @ (m["A"] + m["B"] @ answer)
        answers.append(answer)
    assert cost == pytest.approx(0.5 * start @ value @ start, rel=1e-12)
    x = start
    for u, answer in zip(controls, reversed(answers), strict=True):
        np.testing.assert_allclose(u, answer @ x, atol=1e-10)
        x = m["A"] @ x + m["B"] @ u
    assert example.slope_of(problem, start, controls) < 1e-10
