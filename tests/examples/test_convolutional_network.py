"""The convolutional network learns, on each backend, in a short form; its layers are what their names say."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy.signal import correlate2d

from lawful import random


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_convolutional_network_short_training_reaches_accuracy(run: Callable[..., int], backend: str) -> None:
    assert run("--steps", 400, "--backend", backend) == 0


def test_convolutional_network_too_short_a_training_is_reported(run: Callable[..., int]) -> None:
    assert run("--steps", 3, "--backend", "numpy") == 1


def test_convolutional_network_layer_correlates_and_rectifies(example: ModuleType) -> None:
    rng = np.random.default_rng(0)
    layer, image = {"w": rng.normal(size=(4, 3, 3, 3)), "b": rng.normal(size=4)}, rng.normal(size=(3, 8, 6))
    expected = [
        bias + sum(correlate2d(plane, each, mode="same") for plane, each in zip(image, kernel, strict=True))
        for kernel, bias in zip(layer["w"], layer["b"], strict=True)
    ]
    np.testing.assert_allclose(example.convolve(layer, image), np.maximum(expected, 0.0), atol=1e-13)


def test_convolutional_network_pooling_is_the_maximum_of_squares(example: ModuleType) -> None:
    image = np.random.default_rng(0).normal(size=(3, 8, 6))
    np.testing.assert_array_equal(example.pool(image), image.reshape(3, 4, 2, 3, 2).max(axis=(2, 4)))


def test_convolutional_network_shifts_are_of_at_most_a_pixel(example: ModuleType) -> None:
    image = np.random.default_rng(0).normal(size=(1, 8, 8))
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    allowed = {padded[:, i : i + 8, j : j + 8].tobytes() for i in range(3) for j in range(3)}
    found = {np.asarray(example.shifted(random.key(seed), image)).tobytes() for seed in range(100)}
    assert found == allowed


@pytest.mark.parametrize("label", range(10))
def test_convolutional_network_importance_sums_to_score(example: ModuleType, label: int) -> None:
    """Without biases the importance of the pixels adds up to the score."""
    # The score is then homogeneous of degree 1 in the image: Euler's theorem.
    parameters = example.initial_parameters(random.key(label))
    image = np.random.default_rng(label).uniform(size=(1, 8, 8))
    importance = example.importance(parameters, image, label)
    np.testing.assert_allclose(np.sum(importance), example.scores(parameters, image)[label], rtol=1e-12)
