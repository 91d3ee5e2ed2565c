"""Measuring several calls in one run, in turns, so that what else the machine does meets all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks._case import Timed

#: Seconds a case, of all systems together.
USUAL, QUICK = 6.0, 0.4
#: A sample is at least so long, in seconds, so that the clock and the loop around it do not count.
SAMPLE = 0.005
#: After the first call come so many that are not measured: what a system prepares, it may prepare in any of them.
WARMING = 3
#: There are at least so many rounds, and at most so many; in less than the usual time at least so many.
ROUNDS = (5, 200)
QUICK_ROUNDS = 3
#: The least number of rounds where one alone takes all of the time, and where one takes several times as long.
LONG_ROUNDS, LONGER_ROUNDS = 2, 1
LONGER = 2.5


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds a call, or what calls told, of each system in the order of the rounds.

    Attributes:
      samples: for each system, one number a round.
      loops: how many calls a sample of each is the mean of.
    """

    samples: Mapping[str, list[float]]
    loops: Mapping[str, int]

    def median(self, name: str) -> float:
        """Returns a system's median."""
        return statistics.median(self.samples[name])

    def ratio(self, peer: str) -> tuple[float, float, float]:
        """Returns the median of the ratios of lawful to a peer within each round, and their quartiles."""
        ratios = [a / b for a, b in zip(self.samples["lawful"], self.samples[peer], strict=True)]
        # One round has no quartiles of its own.
        low, middle, high = statistics.quantiles(ratios * 2 if len(ratios) == 1 else ratios, n=4, method="inclusive")
        return middle, low, high


def measure(calls: Mapping[str, Timed], seconds: float, *, told: bool = False) -> Measured:
    """Returns what calls take.

    Args:
      calls: by the name of the system.
      seconds: about how long to measure all of them together.
      told: whether a call returns the number that is compared, such as seconds of a process of its own, or bytes.
    """
    names = [*calls]
    warm = {name: (1, None) if told else _warmed(timed, seconds) for name, timed in calls.items()}
    loops = {name: number for name, (number, _) in warm.items()}
    samples: dict[str, list[float]] = {name: [] for name in names}
    start = time.perf_counter()
    least, most = ROUNDS[0] if seconds >= USUAL else QUICK_ROUNDS, ROUNDS[1]
    if long := [timed.rounds for timed in calls.values() if timed.rounds]:
        most = max(1, round(min(long) * seconds / USUAL))
    for number in range(most):
        if number == 1 and (spent := time.perf_counter() - start) > seconds:
            least = LONGER_ROUNDS if spent > LONGER * seconds else LONG_ROUNDS
        if number >= least and time.perf_counter() - start > seconds:
            break
        gc.collect()
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            known = warm[name][1] if number == 0 else None
            if known is not None:
                samples[name].append(known)
                start -= known
            else:
                samples[name].append(float(calls[name].call()) if told else _sample(calls[name], loops[name]))
    return Measured(samples, loops)


def _warmed(timed: Timed, seconds: float) -> tuple[int, float | None]:
    """Returns how many calls a sample needs, after a few to warm up; of one that takes all of the time, its seconds."""
    spent = _sample(timed, 1)
    if spent > seconds:
        return 1, spent if spent > LONGER * seconds else None
    if timed.before is not None:
        return 1, None
    for _ in range(WARMING):
        if spent < seconds / 10:
            spent += _sample(timed, 1)
    loops = 1
    while (spent := _sample(timed, loops) * loops) < SAMPLE:
        loops = max(2 * loops, int(loops * SAMPLE / max(spent, 1e-9)) + 1)
    return loops, None


def _sample(timed: Timed, loops: int) -> float:
    """Returns seconds a call. What other calls left behind is collected before long ones, and does not count."""
    if timed.before is not None:
        timed.before()
    if loops == 1:
        gc.collect()
    call, turns = timed.call, range(loops)
    start = time.perf_counter()
    for _ in turns:
        call()
    return (time.perf_counter() - start) / loops
