"""A line search for the strong Wolfe conditions: bracketing, then interpolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import lawful.numpy as np
from lawful import ops
from lawful.control_flow import while_loop

#: How much a step decreases the function, and how flat it is there: the constants of Nocedal and Wright for BFGS.
_DECREASE, _FLATNESS = 1e-4, 0.9


class Point(NamedTuple):
    """A point of the line: its position, the value and slope there, and the gradient."""

    step: Any
    value: Any
    slope: Any
    gradient: Any


class _State(NamedTuple):
    low: Point  # the least value with a sufficient decrease so far
    high: Point  # the other end of the interval, if it is bracketed
    step: Any  # the next one
    bracketed: Any
    accepted: Any
    count: Any


def line_search(evaluate: Callable[[Any], Point], start: Point, guess: Any, limit: int) -> tuple[Point, Any, Any]:
    """Returns a point that satisfies the strong Wolfe conditions.

    Args:
      evaluate: returns the point of the line at a step.
      start: that of step 0, with a negative slope.
      guess: the first step.
      limit: how many points are evaluated at most.

    Returns:
      The point, whether it satisfies the conditions, and how many points were evaluated. If none does, it is the one of
      the least value with a sufficient decrease, or ``start``.

    Source: Nocedal and Wright (2006), "Numerical optimization", algorithms 3.5 and 3.6, in one loop.
    """

    def advance(state: _State) -> _State:
        new = evaluate(state.step)
        decreases = new.value <= start.value + _DECREASE * new.step * start.slope
        too_high = ~(decreases & ((new.value < state.low.value) | (state.low.step == 0)))
        is_flat = ~too_high & (ops.abs(new.slope) <= -_FLATNESS * start.slope)
        # Whether the minimum is between the new point and the low one.
        past = ~too_high & (new.slope * (new.step - state.low.step) >= 0)
        high = _chosen(too_high, new, _chosen(past, state.low, state.high))
        low = _chosen(too_high, state.low, new)
        bracketed = state.bracketed | too_high | past
        step = ops.where(bracketed, _between(low, high), 2 * state.step)
        return _State(low, high, step, bracketed, is_flat, state.count + 1)

    first = _State(start, start, guess, np.asarray(False), np.asarray(False), np.asarray(0))
    last = while_loop(lambda state: ~state.accepted & (state.count < limit), advance, first)
    return last.low, last.accepted, last.count


def _chosen(condition: Any, one: Point, other: Point) -> Point:
    return Point(*(ops.where(condition, x, y) for x, y in zip(one, other, strict=True)))


def _between(low: Point, high: Point) -> Any:
    """Returns the minimum of the cubic through two points, or of the parabola, or the middle: well inside of them."""
    width = high.step - low.step
    rise = (high.value - low.value) / width
    mixed = low.slope + high.slope - 3 * rise
    square = mixed * mixed - low.slope * high.slope
    root = ops.sqrt(ops.max(square, 0.0)) * ops.sign(width)
    cubic = high.step - width * (high.slope + root - mixed) / (high.slope - low.slope + 2 * root)
    parabola = low.step - low.slope * width / (2 * (rise - low.slope))
    middle = low.step + width / 2

    def inside(step: Any) -> Any:
        return ops.abs(step - middle) <= 0.4 * ops.abs(width)  # NaN is not

    return ops.where(inside(cubic) & (square >= 0), cubic, ops.where(inside(parabola), parabola, middle))
