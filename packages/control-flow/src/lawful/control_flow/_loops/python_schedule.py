"""The binomial schedule of `reverse_iterations` in Python, for loops whose trip count is known when they run."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

Arrays = list[Any]


def reverse_in_python(
    trip_count: int,
    start: Arrays,
    cts: Arrays,
    sums: Arrays,
    step: Callable[[Arrays], Arrays],
    reverse: Callable[[Arrays, Arrays, Arrays], tuple[Arrays, Arrays]],
    room: int,
    *,
    tape: bool,
) -> tuple[Arrays, Arrays]:
    """Returns the cotangents before the first iteration, and sums over iterations.

    Args:
      trip_count: the number of iterations.
      start: the state before the first iteration.
      cts: the cotangents after the last iteration.
      sums: the initial values of the sums.
      step: returns the state after an iteration from the state before it.
      reverse: ``reverse(state, cts, sums)`` returns the cotangents before an iteration, and the sums with its terms
        added, from the state before the iteration.
      room: how many states can be stored, at least 1.
      tape: whether every state is stored; if there are more than ``room`` iterations, only the first ones are reversed.

    Law: `reverse_iterations` gives the same bits.
    """
    left = min(trip_count, room) if tape else trip_count
    stored = [(0, start)]
    while left > 0:
        number, state = stored[-1]
        until = number + steps_to_next(room - len(stored), left - number)
        for _ in range(number, until):
            state = step(state)
        if until < left - 1:
            stored.append((until, state))
            continue
        cts, sums = reverse(state, cts, sums)
        left = until
        if until == number:
            stored.pop()
    return cts, sums


def steps_to_next(free: int, left: int) -> int:
    """Returns how many iterations to run from the last stored state before storing or reversing again.

    Args:
      free: the number of free slots.
      left: the number of iterations after the stored state that are not reversed yet, at least 1. If it is 1, that
        iteration is reversed from the stored state: the distance is 0.
    """
    if free == 0 or left <= 2:
        return left - 1
    if left <= free + 2:  # the common case, a slot for each
        return 1
    runs = 1
    while comb(free + 1 + runs, runs) < left:
        runs += 1
    # The iterations up to the next stored state are reversed last: with one run less, and with its slot free again.
    return min(comb(free + runs, runs - 1), left - comb(free + runs - 1, runs - 1))
