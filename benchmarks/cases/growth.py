"""How cost grows from 1,000 equations to 100,000: lawful is its own peer, each size in a process of its own."""

from __future__ import annotations

from functools import cache, partial
from itertools import count

from benchmarks._case import Timed, case
from benchmarks._systems import System

SMALL, LARGE = 1_000, 100_000
PEER = f"{SMALL:,} equations"
#: A hundred times the equations may take a little more than a hundred times as much.
MOST = 115.0
#: A process measures all rows of time, and the large one takes some seconds.
ROUNDS = 3
STAGES = ("make_jaxpr", "grad, eager", "trace and lower to StableHLO", "trace and lower to NumPy")
#: The stage that takes the most memory. It is traced, which is slow and tells the same each time.
TRACED = ("trace and lower to NumPy",)


@cache
def _measured(equations: int, number: int) -> dict[str, float]:
    """Returns what the process of a size and a round tells, for all rows of time."""
    from benchmarks.growth import measure_alone  # imported late: the measured processes import this module too

    return measure_alone(equations, STAGES)


def _equations(system: System) -> int:
    return LARGE if system.name == "lawful" else SMALL


def _time(system: System, stage: str) -> Timed:
    equations, numbers = _equations(system), count()
    return Timed(lambda: _measured(equations, next(numbers))[stage] * equations / 1e6, rounds=ROUNDS)


for _stage in STAGES:
    case("growth", f"{_stage}, {LARGE:,} equations", unit="s", **{PEER: MOST})(partial(_time, stage=_stage))


@case("growth", f"peak memory of the last, {LARGE:,} equations", unit="bytes", **{PEER: MOST})
def memory(system: System) -> Timed:
    from benchmarks.growth import measure_alone

    return Timed(lambda: max(measure_alone(_equations(system), TRACED, memory=True).values()), rounds=1)
