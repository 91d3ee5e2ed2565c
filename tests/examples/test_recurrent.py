"""The recurrent network learns to read digits, and its scan is the loop over rows."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lawful import tree
from lawful.autodiff import grad
from lawful.special import logsumexp


@pytest.mark.parametrize(("backend", "steps"), [("xla", 500)])
def test_recurrent_short_training_reaches_the_accuracy(run: Callable[..., int], backend: str, steps: int) -> None:
    assert run("--steps", steps, "--backend", backend) == 0


def test_recurrent_too_short_a_training_is_reported(run: Callable[..., int]) -> None:
    assert run("--steps", 3, "--backend", "numpy") == 1


def test_recurrent_gradient_through_scan_is_that_through_loop(example: ModuleType) -> None:
    parameters = example.initial_parameters(0)
    learn, _ = example.load(0)
    images, labels = learn.images[:3], learn.labels[:3]

    def by_loop(parameters: Any) -> Any:
        total = 0.0
        for image, label in zip(images, labels, strict=True):
            state = (np.zeros(example.HIDDEN), np.zeros(example.HIDDEN))
            for row in image.reshape(example.SIDE, example.SIDE):
                state, scores = example.read_row(parameters, state, row)
            total = total - (scores[label] - logsumexp(scores))
        return total / len(labels)

    np.testing.assert_allclose(example.loss(parameters, images, labels), by_loop(parameters), rtol=1e-12)
    found, expected = (grad(f)(parameters) for f in (lambda p: example.loss(p, images, labels), by_loop))
    tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12), found, expected)
