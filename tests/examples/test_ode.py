"""The adaptive solver has the order of its method, and its derivatives are those of the answer in formulas."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from lawful.autodiff import grad, hessian, jvp, stop_gradient
from lawful.batching import vmap
from lawful.control_flow import IterationBoundError
from lawful.staging import jit


def test_ode_short_run_fits_the_measurements(run: Callable[..., int]) -> None:
    assert run("--end", 6, "--measurements", 60) == 0


def test_ode_wrong_derivative_is_reported(
    example: ModuleType, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = example.solve
    monkeypatch.setattr(example, "solve", lambda slope, start, *rest: solve(slope, stop_gradient(start), *rest))
    assert run("--end", 2, "--measurements", 20) == 1


def test_ode_step_order_five_and_error_estimate_order_four(example: ModuleType) -> None:
    slope = example.oscillator(example.PARAMETERS)
    y = np.array(example.START)

    def errors(h: float) -> tuple[float, float]:
        after, last, estimate = example.step(slope, y, slope(y), h)
        np.testing.assert_allclose(last, slope(after))
        exact = example.position_in_formulas(y, example.PARAMETERS, h)
        return abs(after[0] - exact), float(np.max(np.abs(estimate)))

    (error, estimate), (half_error, half_estimate) = errors(0.2), errors(0.1)
    assert np.log2(error / half_error) == pytest.approx(6, abs=0.5)
    assert np.log2(estimate / half_estimate) == pytest.approx(5, abs=0.5)


def test_ode_nonlinear_equation_is_solved_as_scipy_does(example: ModuleType) -> None:
    def slope(y: np.ndarray) -> np.ndarray:
        return np.stack([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])

    start = np.array([2.0, 0.0])
    found, steps = example.solve(slope, start, 10.0, 1e-10)
    expected = solve_ivp(lambda t, y: slope(y), (0.0, 10.0), start, rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert 50 < int(steps) < 2000


@pytest.mark.parametrize("loop", [{}, {"checkpoints": 3}, {"max_iters": 300}])
def test_derivatives_in_both_modes_by_all_arguments(example: ModuleType, loop: dict[str, int]) -> None:
    point = (np.array(example.START), np.array(example.PARAMETERS), 3.0)
    direction = (np.array([0.3, -0.2]), np.array([0.1, 0.4]), 0.7)

    def solved(start: np.ndarray, parameters: np.ndarray, end: float) -> np.ndarray:
        return example.position(start, parameters, end, 1e-9, **loop)

    expected = grad(example.position_in_formulas, (0, 1, 2))(*point)
    for function in (grad(solved, (0, 1)), jit(grad(solved, (0, 1)))):
        for got, exact in zip(function(*point), expected, strict=False):
            np.testing.assert_allclose(got, exact, atol=1e-7)
    forward = jvp(solved, (*point[:2], 3.0), (*direction[:2], 0.0))[1]
    exact = sum(np.vdot(a, b) for a, b in zip(expected[:2], direction[:2], strict=True))
    assert forward == pytest.approx(exact, abs=1e-7)


def test_ode_second_derivatives(example: ModuleType) -> None:
    start, parameters = np.array(example.START), np.array(example.PARAMETERS)
    found = jit(hessian(lambda p: example.position(start, p, 1.0, 1e-9)))(parameters)
    expected = hessian(lambda p: example.position_in_formulas(start, p, 1.0))(parameters)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_ode_each_element_of_batch_takes_its_own_number_of_steps(example: ModuleType) -> None:
    slope = example.oscillator(example.PARAMETERS)
    ends = np.array([0.0, 0.5, 8.0])
    found, steps = vmap(lambda end: example.solve(slope, np.array(example.START), end, 1e-8))(ends)
    exact = [example.position_in_formulas(example.START, example.PARAMETERS, end) for end in ends]
    np.testing.assert_allclose(found[:, 0], exact, atol=1e-6)
    assert int(steps[0]) == 0
    assert int(steps[1]) < int(steps[2])


def test_ode_more_steps_than_are_allowed_is_an_error(example: ModuleType) -> None:
    with pytest.raises(IterationBoundError, match="max_iters=5"):
        grad(lambda p: example.position(np.array(example.START), p, 3.0, 1e-9, max_iters=5))(
            np.array(example.PARAMETERS)
        )
