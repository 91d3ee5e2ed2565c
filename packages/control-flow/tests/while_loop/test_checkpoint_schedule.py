"""The checkpoint schedule reverses every iteration once, from the last to the first, with the fewest possible runs."""

from functools import cache
from math import comb

import numpy as np
import pytest

from lawful.control_flow._loops.checkpointing import distance, schedule


def simulated(trip_count: int, room: int) -> tuple[int, int]:
    """Simulates the schedule: returns the number of runs of iterations, and the most runs of the same one."""
    table, left, stored = schedule(room), trip_count, [0]
    runs = np.zeros(trip_count, int)
    while left:
        assert len(stored) <= room
        until = stored[-1] + int(distance(table, np.int64(room - len(stored)), np.int64(left - stored[-1])))
        assert stored[-1] <= until < left
        runs[stored[-1] : until] += 1
        if until < left - 1:
            assert until > stored[-1]
            stored.append(until)
        else:
            left = until  # this iteration is reversed
            if until == stored[-1]:
                stored.pop()
    return int(runs.sum()), int(runs.max(initial=0))


@cache
def least(trip_count: int, room: int) -> int:
    """The fewest runs of any schedule, by trying every next state to store."""
    if trip_count <= 1:
        return 0
    if room == 1:
        return trip_count * (trip_count - 1) // 2
    return min(first + least(trip_count - first, room - 1) + least(first, room) for first in range(1, trip_count))


@pytest.mark.parametrize("room", [1, 2, 3, 4, 5, 8])
def test_schedule_is_optimal(room: int) -> None:
    for trip_count in range(40):
        assert simulated(trip_count, room)[0] == least(trip_count, room)


@pytest.mark.parametrize("room", [2, 3, 5, 16])
def test_schedule_runs_match_the_binomial_formula(room: int) -> None:
    for runs in range(1, 4):
        trip_count = comb(room + runs, runs)
        # Griewank and Walther prove: t n - β(K + 1, t - 1) runs, each iteration at most t times.
        assert simulated(trip_count, room) == (runs * trip_count - comb(room + runs, runs - 1), runs)
        assert simulated(trip_count + 1, room)[1] == runs + 1


def test_schedule_with_a_slot_for_each_iteration() -> None:
    for trip_count in range(1, 12):
        assert simulated(trip_count, trip_count) == (trip_count - 1, min(trip_count - 1, 1))


def test_schedule_table_is_exact_and_small() -> None:
    for room in (1, 2, 3, 32, 1000):
        table = schedule(room)
        assert table.nbytes < 100_000
        for (stored, runs), trip_count in np.ndenumerate(table):
            assert trip_count == comb(stored + runs, runs) or trip_count > 2**32
