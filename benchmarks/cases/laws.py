"""How many programs a second are held to the laws, against how many are wanted; on the NumPy backend."""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks._case import Call, case
from benchmarks._systems import System

#: Programs a second, by the names of the jobs in `benchmarks.laws`.
WANTED: Final[dict[str, int]] = {
    "drawn and evaluated": 300,
    "drawn and held to a law of each of the eight groups": 50,
}
#: How long a sample is, in seconds of processor time.
SECONDS = 0.5


def _programs(system: System, job: str) -> Call:
    """Returns a call that returns seconds a program: of programs not seen before, or as wanted."""
    if system.name != "lawful":
        return lambda: 1 / WANTED[job]
    from benchmarks.laws import JOBS, rate, unseen  # imported late: the measured processes import this module too

    seeds = unseen(JOBS[job])
    return lambda: 1 / rate(JOBS[job], SECONDS, seeds)


for _job in WANTED:
    case("law checking", f"programs {_job}", unit="s a program", wanted=1.0)(partial(_programs, job=_job))
