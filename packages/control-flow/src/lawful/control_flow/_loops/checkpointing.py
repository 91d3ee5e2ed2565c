"""Reversing the iterations of a loop with memory for few of its states: the binomial schedule.

An iteration is reversed from the state at its start. With room for K states, the initial one included, as many as
fit are stored while the loop runs again up to the last iteration. After that iteration is reversed, the loop runs
again from the last stored state, and stores more where slots are free. With K slots, and each iteration run again at
most t times, β(K, t) = C(K + t, t) iterations can be reversed. Memory does not depend on the trip count.

For n iterations, t is the least that suffices, and t n − β(K + 1, t − 1) iterations are run again: the minimum of all
schedules.

Source: Griewank and Walther, "Algorithm 799: revolve", ACM Trans. Math. Softw. 26 (2000).
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, Final

import numpy as np

from lawful import control_flow
from lawful.core import get_aval
from lawful.ops import (
    broadcasted_iota,
    convert_element_type,
    cumprod,
    dynamic_index_in_dim,
    dynamic_update_index_in_dim,
    full,
    full_like,
    reduce_sum,
    select,
)
from lawful.ops import max as larger
from lawful.ops import min as smaller

Arrays = list[Any]

# The table of the schedule ends at this trip count, or at this number of runs of each iteration.
_MAX_TRIP_COUNT: Final = 2**32
_MAX_RUNS: Final = 512


def reverse_iterations(
    trip_count: Any,
    start: Arrays,
    cts: Arrays,
    sums: Arrays,
    advance: Callable[[Arrays, Any, Any], Arrays],
    reverse: Callable[[Arrays, Any, Arrays, Arrays], tuple[Arrays, Arrays]],
    room: int,
    *,
    tape: bool,
) -> tuple[Arrays, Arrays]:
    """Returns the cotangents before the first iteration, and sums over iterations.

    Args:
      trip_count: the number of iterations, an integer scalar that may be traced.
      start: the state before the first iteration.
      cts: the cotangents after the last iteration.
      sums: the initial values of the sums.
      advance: ``advance(state, i, j)`` returns the state before iteration ``j`` from that before iteration ``i``.
      reverse: ``reverse(state, i, cts, sums)`` returns the cotangents before iteration ``i``, and the sums with its
        terms added.
      room: how many states can be stored, at least 1.
      tape: whether every state is stored; if there are more than ``room`` iterations, only the first ones are reversed.

    Law: the same for every ``room``.
    """
    table = None if tape else schedule(room)
    trip_count = smaller(trip_count, np.int64(room)) if tape else trip_count
    numbers = full((room,), 0, np.int64)
    stored = [_stack(x, room) for x in start]

    def step(loop: Any) -> Any:
        left, top, numbers, stored, cts, sums = loop
        number = _read(numbers, top)
        before = [_read(stack, top) for stack in stored]
        until = number + (
            smaller(left - number - 1, np.int64(1)) if tape else distance(table, room - 1 - top, left - number)
        )
        state = advance(before, number, until)
        is_next = until == left - 1
        cts, sums = control_flow.cond(
            is_next, lambda cts, sums: reverse(state, until, cts, sums), lambda cts, sums: (cts, sums), cts, sums
        )
        # Store the state unless its iteration is reversed. In that case write the old state: an unconditional write
        # is done in place.
        to = select(is_next, top, top + 1)
        numbers = _write(numbers, select(is_next, number, until), to)
        stored = [
            _write(stack, select(_like(is_next, x), x, y), to)
            for stack, x, y in zip(stored, before, state, strict=True)
        ]
        top = select(is_next, select(until == number, top - 1, top), top + 1)
        return select(is_next, until, left), top, numbers, stored, cts, sums

    loop = (trip_count, np.int64(0), numbers, stored, cts, sums)
    *_, cts, sums = control_flow.while_loop(lambda loop: loop[0] > 0, step, loop)
    return cts, sums


def schedule(room: int) -> Any:
    """Returns β(k, t) at [k, t]: how many iterations can be reversed with k ≤ ``room`` slots and t runs of each.

    The table is computed, because a jaxpr within a jaxpr has no array constants.
    """
    runs = next((t for t in range(1, _MAX_RUNS) if comb(room + t, t) >= _MAX_TRIP_COUNT), _MAX_RUNS)
    slots, times = (broadcasted_iota(np.float64, (room + 1, runs + 1), axis) for axis in range(2))
    # β(k, t) = β(k, t - 1) (k + t) / t, in floats that round to the exact integers.
    ratios = select(times == 0.0, full_like(times, 1.0), (slots + times) / larger(times, 1.0))
    return convert_element_type(cumprod(ratios, 1) + 0.5, np.int64)


def distance(table: Any, free: Any, left: Any) -> Any:
    """Returns how many iterations to run from the last stored state before storing again.

    Args:
      table: the schedule.
      free: the number of free slots.
      left: the number of iterations after the stored state that are not reversed yet, at least 1. If it is 1, that
        iteration is reversed from the stored state: the distance is 0.
    """
    reach = _read(table, free + 1)
    runs = reduce_sum(convert_element_type(reach < left, np.int64), (0,))
    before = larger(runs - 1, np.int64(0))
    # The iterations up to the next stored state are reversed last: with one run less, and with its slot free again.
    first = smaller(_read(reach, before), left - _read(_read(table, free), before))
    return select(free == 0, left - 1, select(left == 1, np.int64(0), first))


def _stack(x: Any, room: int) -> Any:
    aval = get_aval(x)
    return _write(full((room, *aval.shape), 0, aval.dtype), x, np.int64(0))


def _read(stack: Any, i: Any) -> Any:
    return dynamic_index_in_dim(stack, i, 0, keepdims=False, allow_negative_indices=False)


def _write(stack: Any, x: Any, i: Any) -> Any:
    return dynamic_update_index_in_dim(stack, x, i, 0, allow_negative_indices=False)


def _like(condition: Any, x: Any) -> Any:
    return condition if not get_aval(x).shape else full(get_aval(x).shape, condition)
