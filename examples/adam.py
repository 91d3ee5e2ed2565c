"""The optimizer Adam (Kingma and Ba 2015), over any tree of parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import lawful.numpy as np
from lawful import tree


class Adam(NamedTuple):
    """The number of steps so far, and the running means of gradients and of their squares."""

    step: Any
    mean: Any
    square: Any


def start(parameters: Any) -> Adam:
    """Returns the optimizer before its first step."""
    zeros = tree.map(np.zeros_like, parameters)
    return Adam(np.zeros(()), zeros, zeros)


def update(adam: Adam, parameters: Any, gradient: Any, rate: Any) -> tuple[Adam, Any]:
    """Returns the optimizer and the parameters after a step that lowers what ``gradient`` is of."""
    step = adam.step + 1.0
    mean = tree.map(lambda m, g: 0.9 * m + 0.1 * g, adam.mean, gradient)
    square = tree.map(lambda v, g: 0.999 * v + 0.001 * np.square(g), adam.square, gradient)
    rate = rate * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
    return Adam(step, mean, square), tree.map(
        lambda p, m, v: p - rate * m / (np.sqrt(v) + 1e-8), parameters, mean, square
    )
