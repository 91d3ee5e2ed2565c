"""Adam's steps, where they are known."""

from types import ModuleType

import numpy as np
import pytest


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_adam_step_length_of_constant_gradient(example: ModuleType, scale: float) -> None:
    """Along a constant gradient each step is as long as the learning rate."""
    parameters = {"w": np.zeros(3), "b": np.zeros(())}
    gradient = {"w": scale * np.array([1.0, -2.0, 3.0]), "b": np.float64(-scale)}
    state = example.start(parameters)
    for step in range(1, 6):
        state, parameters = example.update(state, parameters, gradient, 0.1)
        assert state.step == step
        np.testing.assert_allclose(parameters["w"], -0.1 * step * np.array([1.0, -1.0, 1.0]), rtol=1e-3)
        np.testing.assert_allclose(parameters["b"], 0.1 * step, rtol=1e-3)


def test_adam_second_gradient_is_averaged_with_the_first(example: ModuleType) -> None:
    state, at = example.start(np.zeros(())), np.zeros(())
    for gradient in (1.0, -3.0):
        state, at = example.update(state, at, np.float64(gradient), 1.0)
    mean = (0.9 * 0.1 * 1.0 + 0.1 * -3.0) / (1.0 - 0.9**2)
    square = (0.999 * 0.001 * 1.0 + 0.001 * 9.0) / (1.0 - 0.999**2)
    np.testing.assert_allclose(at, -1.0 - mean / np.sqrt(square), rtol=1e-6)
