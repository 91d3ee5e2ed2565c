"""Loops over the terms of hypergeometric series, each element with its own number of terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import ops
from lawful.control_flow import while_loop
from lawful.core import get_aval

# A series ends where a bound of its terms is this small beside the sum.
EPSILON = 1e-18
MOST_TERMS = 20_000.0
# After so many Taylor series the result is NaN: the parameters are too large.
MOST_STEPS = 1000.0


def loop(step: Callable[..., tuple[Any, ...]], active: Any, *arrays: Any) -> tuple[Any, ...]:
    """Returns the last arrays of a loop that ends when no element is active.

    Args:
      step: ``step(k, *arrays)`` returns which elements go on, and the next arrays; ``k`` counts from 0.
      active: which elements are active at first; the others keep their arrays.
      arrays: those of the beginning.
    """
    axes = tuple(range(get_aval(active).ndim))

    def following(state: tuple[Any, ...]) -> tuple[Any, ...]:
        k, active, *arrays = state
        goes_on, *found = step(k, *arrays)
        kept = [ops.where(active, x, y) for x, y in zip(found, arrays, strict=True)]
        return (k + 1.0, ops.bitwise_and(active, goes_on), *kept)

    out: tuple[Any, ...] = while_loop(lambda state: ops.reduce_or(state[1], axes), following, (0.0, active, *arrays))
    return out[2:]


def loop_while(
    goes_on: Callable[..., Any], step: Callable[..., tuple[Any, ...]], most: float, *arrays: Any
) -> tuple[Any, ...]:
    """Returns the last arrays of a loop that ends when no element is active, or after the most steps.

    Args:
      goes_on: ``goes_on(k, *arrays)`` returns which elements are active; ``k`` counts from 0. The others keep their
        arrays, and must stay inactive by them.
      step: ``step(k, *arrays)`` returns the next arrays.
      most: the largest number of steps.
      arrays: those of the beginning.
    """
    axes = tuple(range(get_aval(arrays[0]).ndim))

    def is_active(state: tuple[Any, ...]) -> Any:
        return ops.bitwise_and(ops.reduce_or(goes_on(*state), axes), ops.lt(state[0], most))

    def following(state: tuple[Any, ...]) -> tuple[Any, ...]:
        active, found = goes_on(*state), step(*state)
        kept = [ops.where(active, x, y) for x, y in zip(found, state[1:], strict=True)]
        return (state[0] + 1.0, *kept)

    out: tuple[Any, ...] = while_loop(is_active, following, (0.0, *arrays))
    return out[1:]


def all_finite(*args: Any) -> Any:
    out = ops.is_finite(args[0])
    for x in args[1:]:
        out = ops.bitwise_and(out, ops.is_finite(x))
    return out


def is_integer(x: Any) -> Any:
    return ops.eq(x, ops.floor(x))


def ends_sum(a: Any) -> Any:
    """Returns where a series is a polynomial: where a parameter is 0 or a negative integer."""
    return ops.bitwise_and(is_integer(a), ops.le(a, 0))


def least_terms(exact: bool) -> float:
    """Returns the least number of terms of a Taylor series: its terms may vanish where their derivatives do not."""
    return 8.0 if exact else 64.0


def least_powers(exact: bool) -> float:
    """Returns the least number of terms of a power series: in a derivative by a parameter the first ones vanish."""
    return 0.0 if exact else 8.0
