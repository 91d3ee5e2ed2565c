"""Growth of cost from 1,000 to 100,000 equations: lawful is its own peer, each size in a separate process."""

from __future__ import annotations

from functools import cache, partial
from itertools import count

from benchmarks._case import Timed, case
from benchmarks._systems import System

SMALL, LARGE = 1_000, 100_000
PEER = f"{SMALL:,} equations"
#: The largest factor of cost for a hundred times the equations.
MOST = 115.0
#: One process measures all rows of time; the large size takes some seconds.
ROUNDS = 3
STAGES = ("make_jaxpr", "grad, eager", "trace and lower to StableHLO", "trace and lower to NumPy")
#: The stage that needs the most memory. Tracing memory is slow, and its result is always the same.
TRACED = ("trace and lower to NumPy",)


@cache
def _measured(equations: int, number: int) -> dict[str, float]:
    """Returns the measurements of the process for a size and a round, for all rows of time."""
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
