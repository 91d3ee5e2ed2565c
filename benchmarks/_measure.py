"""Measures several calls in one run, alternating, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks._case import Timed

#: Seconds per case, for all systems together.
USUAL, QUICK = 6.0, 0.4
#: The least length of a sample in seconds, so that the clock and the loop do not matter.
SAMPLE = 0.005
#: The number of unmeasured calls after the first, for preparations of a system.
WARMING = 3
#: The least and the largest number of rounds; a shorter run also has at least the least number.
ROUNDS = (5, 200)
QUICK_ROUNDS = 3
#: The least number of rounds if one takes the whole time, and if one takes several times as long.
LONG_ROUNDS, LONGER_ROUNDS = 2, 1
LONGER = 2.5


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per call, or returned numbers, of each system, in the order of the rounds.

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
        # Quartiles need at least two values.
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
    warm = {name: (1, None) if told else warmed(timed, seconds) for name, timed in calls.items()}
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
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            known = warm[name][1] if number == 0 else None
            if known is not None:
                samples[name].append(known)
                start -= known
            else:
                samples[name].append(float(calls[name].call()) if told else sample(calls[name], loops[name]))
    return Measured(samples, loops)


def warmed(timed: Timed, seconds: float) -> tuple[int, float | None]:
    """Returns the number of calls per sample, after warm-up; if one call takes the whole time, its seconds."""
    spent = sample(timed, 1)
    if spent > seconds:
        return 1, spent if spent > LONGER * seconds else None
    if timed.before is not None:
        return 1, None
    for _ in range(WARMING):
        if spent < seconds / 10:
            spent += sample(timed, 1)
    loops = 1
    while (spent := sample(timed, loops) * loops) < SAMPLE:
        loops = max(2 * loops, int(loops * SAMPLE / max(spent, 1e-9)) + 1)
    return loops, None


def sample(timed: Timed, loops: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Returns the seconds of a call by a clock. Garbage is collected before long calls, outside of the measurement."""
    if timed.before is not None:
        timed.before()
    if loops == 1:
        gc.collect()
    call, repeats = timed.call, range(loops)
    start = clock()
    for _ in repeats:
        call()
    return (clock() - start) / loops
