"""Schedules: step sizes as functions of the number of an iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lawful.jax.numpy as np

Schedule = Callable[[Any], Any]


def constant(step_size: Any) -> Schedule:
    """Returns the schedule of one step size.

    >>> constant(0.1)(7)
    0.1
    """
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Returns the schedule that multiplies the step size by a rate in so many iterations.

    >>> exponential_decay(1.0, decay_steps=10, decay_rate=0.5)(20)
    0.25
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False) -> Schedule:
    """Returns the schedule of ``step_size / (1 + decay_rate * i / decay_steps)``.

    >>> inverse_time_decay(1.0, decay_steps=10, decay_rate=0.5)(20)
    0.5
    """

    def schedule(i: Any) -> Any:
        steps = i / decay_steps
        return step_size / (1 + decay_rate * (np.floor(steps) if staircase else steps))

    return schedule


def polynomial_decay(step_size: Any, decay_steps: Any, final_step_size: Any, power: Any = 1.0) -> Schedule:
    """Returns the schedule from one step size to another, as a power of the iterations that are left.

    >>> float(polynomial_decay(1.0, decay_steps=10, final_step_size=0.5)(5))
    0.75
    """

    def schedule(i: Any) -> Any:
        left = (1 - np.minimum(i, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """Returns the schedule of a value between any two boundaries, one value more than these.

    >>> schedule = piecewise_constant([10, 20], [1.0, 0.5, 0.25])
    >>> float(schedule(0)), float(schedule(15))
    (1.0, 0.5)
    """
    boundaries, values = np.array(boundaries), np.array(values)
    if boundaries.ndim != 1 or values.shape != (boundaries.size + 1,):
        raise ValueError(
            f"piecewise_constant: expected one value more than boundaries, got {values.shape} and {boundaries.shape}"
        )
    return lambda i: values[np.sum(i > boundaries)]


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """Returns a schedule, that of a number being constant.

    >>> make_schedule(0.1)(7)
    0.1
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule  # type: ignore[no-any-return]
    if np.ndim(scalar_or_schedule):
        raise TypeError(f"make_schedule: expected a number or a function, got {type(scalar_or_schedule)}")
    return constant(scalar_or_schedule)
