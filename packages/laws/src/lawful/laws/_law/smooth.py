"""Whether a function is smooth near its arguments, so that finite differences are meaningful."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import cached_function, get_aval, is_array, is_inexact, kind

# The distance within which kinks and jumps are detected; laws take smaller differences.
_STEP = 1e-3


def moved(x: Any, direction: Any, step: float) -> Any:
    """Returns ``x + step * direction``, of the type of ``x``; a Python number stays one."""
    if direction is None:
        return x
    y = np.asarray(x) + step * np.asarray(direction)
    return (
        y.item() if isinstance(x, float | complex) and not isinstance(x, np.generic) else y.astype(np.asarray(x).dtype)
    )


@cached_function("directions of laws", 4096)
def direction_of(shape: tuple[int, ...], kind: str, argnum: int) -> Any:
    """Returns a direction without small components, different for each argument; None if there are no tangents.

    Args:
      shape: that of the argument.
      kind: the kind of its dtype.
      argnum: the argument number.
    """
    if kind not in "fc":
        return None
    numbers = np.arange(math.prod(shape)) + 1000 * (argnum + 1)
    parts = np.modf(np.multiply.outer(numbers, (math.sqrt(2), math.sqrt(3), math.sqrt(5))))[0]
    direction = ((0.5 + 0.5 * parts[:, 0]) * np.where(parts[:, 1] < 0.5, -1.0, 1.0)).reshape(shape)
    return direction + 1j * (0.5 + 0.5 * parts[:, 2]).reshape(shape) if kind == "c" else direction


def is_smooth(function: Callable[..., Any], args: Sequence[Any], here: Any, *, constant: bool) -> bool:
    """Whether a function has no kink or jump near its arguments, each of which moves by itself.

    Second differences over one step and over half of it are compared: where the function is smooth they have the
    ratio 4 up to terms of fourth order, at a kink the ratio 2.

    Args:
      function: of arrays, to a pytree of arrays.
      args: its arguments, of which those that are not floating stay as they are.
      here: what it gives there.
      constant: whether the derivative is said to be zero everywhere, so that the value must not change at all.
    """
    avals = [get_aval(x) if is_array(x) else None for x in args]
    directions = [
        None if aval is None else direction_of(aval.shape, kind(aval.dtype), i) for i, aval in enumerate(avals)
    ]
    if all(direction is None for direction in directions):
        return True

    def at(step: float) -> list[np.ndarray[Any, Any]]:
        moves = [moved(x, d, step) for x, d in zip(args, directions, strict=True)]
        return [np.asarray(x) for x in tree.leaves(function(*moves))]

    middle = [np.asarray(x) for x in tree.leaves(here)]
    around = [at(-1.0 * _STEP), at(-0.5 * _STEP), middle, at(0.5 * _STEP), at(1.0 * _STEP)]
    return all(_is_smooth_line(line, constant) for line in zip(*around, strict=True))


def _is_smooth_line(line: tuple[np.ndarray[Any, Any], ...], constant: bool) -> bool:
    here = line[2]
    if not is_inexact(here.dtype) or constant:
        return all(bool(np.array_equal(here, x)) for x in line)
    if here.dtype.itemsize < 8 or not here.size:
        return True  # rounding exceeds the second difference
    far_left, left, here, right, far_right = line
    fourth = (far_left - 2 * here + far_right) - 4 * (left - 2 * here + right)
    return bool(np.max(np.abs(fourth)) <= 1e-6 * (1 + np.max(np.abs(here))))
