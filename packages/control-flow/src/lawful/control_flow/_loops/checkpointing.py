"""Reversing the turns of a loop with room for few of its states: the binomial schedule.

A turn is reversed from the state at its start. With room for K states, the first of them that of the start, as many
as fit are stored while the loop runs again towards the last turn. After that turn is reversed, the loop runs again
from the last stored state, and stores more where room has become free. With K places, and each turn run again at most
t times, β(K, t) = C(K + t, t) turns can be reversed. Memory does not depend on the number of turns.

For n turns, t is the least that is enough, and they make t n − β(K + 1, t − 1) runs: no schedule makes fewer.

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

# The table of the schedule goes as far as anyone can wait: for so many turns, or so many runs of each.
_MOST_TURNS: Final = 2**32
_MOST_RUNS: Final = 512


def reverse_turns(
    turns: Any,
    start: Arrays,
    cts: Arrays,
    sums: Arrays,
    advance: Callable[[Arrays, Any, Any], Arrays],
    reverse: Callable[[Arrays, Any, Arrays, Arrays], tuple[Arrays, Arrays]],
    room: int,
    *,
    tape: bool,
) -> tuple[Arrays, Arrays]:
    """Returns the cotangents before the first turn, and sums over turns.

    Args:
      turns: how many turns there are, an integer scalar that may be traced.
      start: the state before the first turn.
      cts: the cotangents after the last turn.
      sums: what the sums begin with.
      advance: ``advance(state, i, j)`` gives the state before turn ``j`` from that before turn ``i``.
      reverse: ``reverse(state, i, cts, sums)`` gives the cotangents before turn ``i``, and the sums with its terms.
      room: how many states can be stored, at least 1.
      tape: whether there is room for all: of more turns than that only the first ones are reversed.

    Law: the same for every ``room``.
    """
    table = None if tape else schedule(room)
    turns = smaller(turns, np.int64(room)) if tape else turns
    places = full((room,), 0, np.int64)
    stored = [_stack(x, room) for x in start]

    def turn(loop: Any) -> Any:
        left, top, places, stored, cts, sums = loop
        place = _read(places, top)
        before = [_read(stack, top) for stack in stored]
        until = place + (
            smaller(left - place - 1, np.int64(1)) if tape else distance(table, room - 1 - top, left - place)
        )
        state = advance(before, place, until)
        is_next = until == left - 1
        cts, sums = control_flow.cond(
            is_next, lambda cts, sums: reverse(state, until, cts, sums), lambda cts, sums: (cts, sums), cts, sums
        )
        # What is not reversed now is stored. Else the same is written again: a write that always happens is in place.
        to = select(is_next, top, top + 1)
        places = _write(places, select(is_next, place, until), to)
        stored = [
            _write(stack, select(_like(is_next, x), x, y), to)
            for stack, x, y in zip(stored, before, state, strict=True)
        ]
        top = select(is_next, select(until == place, top - 1, top), top + 1)
        return select(is_next, until, left), top, places, stored, cts, sums

    loop = (turns, np.int64(0), places, stored, cts, sums)
    *_, cts, sums = control_flow.while_loop(lambda loop: loop[0] > 0, turn, loop)
    return cts, sums


def schedule(room: int) -> Any:
    """Returns β(k, t) at [k, t]: how many turns can be reversed with k places, up to ``room``, by t runs of each.

    It is computed, not a constant: a jaxpr within a jaxpr has no constants.
    """
    runs = next((t for t in range(1, _MOST_RUNS) if comb(room + t, t) >= _MOST_TURNS), _MOST_RUNS)
    places, times = (broadcasted_iota(np.float64, (room + 1, runs + 1), axis) for axis in range(2))
    # β(k, t) = β(k, t - 1) (k + t) / t, in floats that are exact enough to be rounded.
    ratios = select(times == 0.0, full_like(times, 1.0), (places + times) / larger(times, 1.0))
    return convert_element_type(cumprod(ratios, 1) + 0.5, np.int64)


def distance(table: Any, free: Any, turns: Any) -> Any:
    """Returns how far to run from the last stored state before storing, of which so many turns are not reversed yet.

    Args:
      table: the schedule.
      free: how many places are free.
      turns: how many turns, at least 1. Where it is 1, that one is reversed from the stored state: the distance is 0.
    """
    places = _read(table, free + 1)
    runs = reduce_sum(convert_element_type(places < turns, np.int64), (0,))
    before = larger(runs - 1, np.int64(0))
    # The turns up to the next stored state are reversed after the others, with one run less but its place free again.
    first = smaller(_read(places, before), turns - _read(_read(table, free), before))
    return select(free == 0, turns - 1, select(turns == 1, np.int64(0), first))


def _stack(x: Any, room: int) -> Any:
    aval = get_aval(x)
    return _write(full((room, *aval.shape), 0, aval.dtype), x, np.int64(0))


def _read(stack: Any, place: Any) -> Any:
    return dynamic_index_in_dim(stack, place, 0, keepdims=False, allow_negative_indices=False)


def _write(stack: Any, x: Any, place: Any) -> Any:
    return dynamic_update_index_in_dim(stack, x, place, 0, allow_negative_indices=False)


def _like(condition: Any, x: Any) -> Any:
    return condition if not get_aval(x).shape else full(get_aval(x).shape, condition)
