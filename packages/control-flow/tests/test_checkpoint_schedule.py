"""The schedule of reversing a loop: every turn once, from the last on, with few places and as few runs as can be."""

from functools import cache
from math import comb

import numpy as np
import pytest

from lawful.control_flow._loops.checkpointing import distance, schedule


def simulated(turns: int, room: int) -> tuple[int, int]:
    """Follows the schedule: how many runs of turns it makes, and how often it runs the same one at most."""
    table, left, places = schedule(room), turns, [0]
    runs = np.zeros(turns, int)
    while left:
        assert len(places) <= room
        until = places[-1] + int(distance(table, np.int64(room - len(places)), np.int64(left - places[-1])))
        assert places[-1] <= until < left
        runs[places[-1] : until] += 1
        if until < left - 1:
            assert until > places[-1]
            places.append(until)
        else:
            left = until  # this turn is reversed
            if until == places[-1]:
                places.pop()
    return int(runs.sum()), int(runs.max(initial=0))


@cache
def least(turns: int, room: int) -> int:
    """The fewest runs of turns of any schedule: what is stored next is tried at every place."""
    if turns <= 1:
        return 0
    if room == 1:
        return turns * (turns - 1) // 2
    return min(first + least(turns - first, room - 1) + least(first, room) for first in range(1, turns))


@pytest.mark.parametrize("room", [1, 2, 3, 4, 5, 8])
def test_no_schedule_runs_fewer_turns(room: int) -> None:
    for turns in range(40):
        assert simulated(turns, room)[0] == least(turns, room)


@pytest.mark.parametrize("room", [2, 3, 5, 32])
def test_so_many_turns_are_reversed_by_so_many_runs(room: int) -> None:
    for runs in range(1, 4):
        turns = comb(room + runs, runs)
        # What the first of these papers on it proves: t n - β(K + 1, t - 1), each turn at most t times.
        assert simulated(turns, room) == (runs * turns - comb(room + runs, runs - 1), runs)
        assert simulated(turns + 1, room)[1] == runs + 1


def test_as_many_places_as_turns() -> None:
    for turns in range(1, 12):
        assert simulated(turns, turns) == (turns - 1, min(turns - 1, 1))


def test_the_table_is_exact_and_small() -> None:
    for room in (1, 2, 3, 32, 1000):
        table = schedule(room)
        assert table.nbytes < 100_000
        for (places, runs), turns in np.ndenumerate(table):
            assert turns == comb(places + runs, runs) or turns > 2**32
