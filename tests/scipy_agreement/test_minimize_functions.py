"""`lawful.optimize.minimize` converges where BFGS of SciPy does, on functions that optimizers are tested with.

Source: Moré, Garbow and Hillstrom (1981), "Testing unconstrained optimization software", for most of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import lawful.numpy as lnp
from lawful.autodiff import value_and_grad
from lawful.control_flow import scan
from lawful.optimize import minimize
from lawful.staging import jit

TIMES = np.linspace(0.0, 5.0, 30)
RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(20, 3))
LABELS = np.sign(FEATURES @ np.array([1.0, -2.0, 0.5]) + 0.1)


def rosenbrock(x: Any) -> Any:
    return lnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def beale(x: Any) -> Any:
    return sum((c - x[0] * (1 - x[1] ** (i + 1))) ** 2 for i, c in enumerate((1.5, 2.25, 2.625)))


def booth(x: Any) -> Any:
    return (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2


def himmelblau(x: Any) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def trid(x: Any) -> Any:
    return lnp.sum((x - 1) ** 2) - lnp.sum(x[1:] * x[:-1])


def powell(x: Any) -> Any:
    return (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2 + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4


def helical(x: Any) -> Any:
    turns = lnp.arctan2(x[1], x[0]) / (2 * np.pi)
    return 100 * ((x[2] - 10 * turns) ** 2 + (lnp.sqrt(x[0] ** 2 + x[1] ** 2) - 1) ** 2) + x[2] ** 2


def zakharov(x: Any) -> Any:
    total = lnp.sum(0.5 * np.arange(1, 5) * x)
    return lnp.sum(x**2) + total**2 + total**4


def badly_scaled(x: Any) -> Any:
    return (x[0] - 1e6) ** 2 + (x[1] - 2e-6) ** 2 + (x[0] * x[1] - 2) ** 2


def exponentials(x: Any) -> Any:
    return lnp.exp(x[0] + 3 * x[1] - 0.1) + lnp.exp(x[0] - 3 * x[1] - 0.1) + lnp.exp(-x[0] - 0.1)


def logistic_regression(x: Any) -> Any:
    return lnp.sum(lnp.logaddexp(0, -(FEATURES @ x) * LABELS)) + 0.01 * lnp.sum(x**2)


def decay_fit(x: Any) -> Any:
    return lnp.sum((x[0] * lnp.exp(-x[1] * TIMES) - 2 * np.exp(-0.7 * TIMES)) ** 2)


def growth_fit(x: Any) -> Any:
    return lnp.sum((x[0] / (1 + lnp.exp(-x[1] * (TIMES - x[2]))) - 5 / (1 + np.exp(-2 * (TIMES - 2)))) ** 2)


def oscillation_fit(x: Any) -> Any:
    return lnp.sum((lnp.exp(-x[0] * TIMES) * lnp.cos(x[1] * TIMES) - np.exp(-0.3 * TIMES) * np.cos(2 * TIMES)) ** 2)


def pendulum(p: Any) -> Any:
    """Returns the angles of a damped pendulum under a periodic force, by the method of Runge and Kutta."""

    def slope(y: Any, t: Any) -> Any:
        return lnp.stack([y[1], -p[0] * y[1] - p[1] * lnp.sin(y[0]) + p[2] * lnp.cos(1.3 * t)])

    def step(y: Any, t: Any) -> Any:
        k1 = slope(y, t)
        k2 = slope(y + 0.025 * k1, t + 0.025)
        k3 = slope(y + 0.025 * k2, t + 0.025)
        k4 = slope(y + 0.05 * k3, t + 0.05)
        y = y + 0.05 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y[0]

    return scan(step, np.array([1.0, 0.0]), 0.05 * np.arange(200))[1]


MEASURED = pendulum(np.array([0.3, 2.0, 0.8])) + 0.02 * RANDOM.normal(size=200)


def pendulum_fit(p: Any) -> Any:
    return 0.5 * lnp.mean(((pendulum(p) - MEASURED) / 0.02) ** 2)


CASES: list[tuple[Callable[[Any], Any], list[float]]] = [
    (rosenbrock, [-1.2, 1.0]),
    (rosenbrock, [-1.2, 1.0, 1.0]),
    (rosenbrock, [0.0] * 5),
    (rosenbrock, [-1.2, 1.0] * 3),
    (rosenbrock, [-1.5] * 10),
    (beale, [1.0, 1.0]),
    (beale, [-2.0, -2.0]),
    (booth, [0.0, 0.0]),
    (himmelblau, [-50.0, 80.0]),
    (trid, [0.0] * 8),
    (powell, [3.0, -1.0, 0.0, 1.0]),
    (helical, [-1.0, 0.1, 0.0]),
    (zakharov, [5.0] * 4),
    (badly_scaled, [1.0, 1.0]),
    (exponentials, [2.0, 2.0]),
    (exponentials, [-5.0, 8.0]),
    (logistic_regression, [0.0] * 3),
    (decay_fit, [10.0, 3.0]),
    (growth_fit, [1.0, 1.0, 1.0]),
    (oscillation_fit, [0.1, 1.5]),
    (pendulum_fit, [0.5, 1.5, 0.5]),
    (pendulum_fit, [0.2, 2.5, 1.0]),
]


@pytest.mark.parametrize("case", range(len(CASES)), ids=[f"{f.__name__}-{x[0]}-{len(x)}" for f, x in CASES])
def test_minimize_converges_where_scipy_does(case: int) -> None:
    function, start = CASES[case]
    of = jit(value_and_grad(function), backend="numpy")
    expected = scipy.optimize.minimize(
        lambda x: tuple(map(np.asarray, of(x))), np.array(start), jac=True, method="BFGS"
    )
    assert expected.success
    found = minimize(function, np.array(start), method="BFGS")
    assert (bool(found.success), int(found.status)) == (True, 0)
    assert np.max(np.abs(found.jac)) <= 1e-5
    np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-7, atol=1e-8)
    assert found.nit <= 1.5 * expected.nit + 5


def test_minimize_status_of_a_short_line_search() -> None:
    """With JAX's limit the search along a line ends before it comes near enough; more points cure it, as is said."""
    start = np.array([0.5, 1.5, 0.5])
    short = minimize(pendulum_fit, start, method="BFGS", options={"line_search_maxiter": 10})
    assert (bool(short.success), int(short.status)) == (False, 5)
    assert "raise ``line_search_maxiter``" in (type(short).__doc__ or "")
