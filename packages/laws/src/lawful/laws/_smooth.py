"""Whether a function is smooth near its arguments, so that finite differences there mean something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import is_inexact
from lawful.laws._values import is_differentiable

# A kink or jump within this distance is seen; the differences that laws take are over smaller ones.
_STEP = 1e-3


def moved(x: Any, direction: Any, step: float) -> Any:
    """Returns ``x + step * direction``, of the type of ``x``; a Python number stays one."""
    if direction is None:
        return x
    y = np.asarray(x) + step * np.asarray(direction)
    return (
        y.item() if isinstance(x, float | complex) and not isinstance(x, np.generic) else y.astype(np.asarray(x).dtype)
    )


def direction_of(x: Any, random: np.random.Generator) -> Any:
    """Returns a direction with no small component, or None for a value that has no tangents."""
    if not is_differentiable(x):
        return None
    shape = np.shape(x)
    direction = random.uniform(0.5, 1.0, shape) * random.choice((-1.0, 1.0), shape)
    if np.asarray(x).dtype.kind == "c":
        direction = direction + 1j * random.uniform(0.5, 1.0, shape)
    return direction


def is_smooth(
    function: Callable[..., Any], args: Sequence[Any], random: np.random.Generator, *, constant: bool
) -> bool:
    """Whether a function has no kink or jump near its arguments, each of which moves by itself.

    Second differences over one step and over half of it are compared: where the function is smooth they have the
    ratio 4 up to terms of fourth order, at a kink the ratio 2.

    Args:
      function: of arrays, to a pytree of arrays.
      args: its arguments, of which those that are not floating stay as they are.
      random: draws the direction.
      constant: whether the derivative is said to be zero everywhere, so that the value must not change at all.
    """
    directions = [direction_of(x, random) for x in args]
    if all(direction is None for direction in directions):
        return True

    def at(step: float) -> list[np.ndarray[Any, Any]]:
        moves = [moved(x, d, step) for x, d in zip(args, directions, strict=True)]
        return [np.asarray(x) for x in tree.leaves(function(*moves))]

    around = [at(step * _STEP) for step in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    return all(_is_smooth_line(line, constant) for line in zip(*around, strict=True))


def _is_smooth_line(line: tuple[np.ndarray[Any, Any], ...], constant: bool) -> bool:
    here = line[2]
    if not is_inexact(here.dtype) or constant:
        return all(bool(np.array_equal(here, x)) for x in line)
    if here.dtype.itemsize < 8 or not here.size:
        return True  # rounding is larger than what is looked for
    far_left, left, here, right, far_right = line
    fourth = (far_left - 2 * here + far_right) - 4 * (left - 2 * here + right)
    return bool(np.max(np.abs(fourth)) <= 1e-6 * (1 + np.max(np.abs(here))))
