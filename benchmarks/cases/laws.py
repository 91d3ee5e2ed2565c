"""Programs per second that are checked by the laws on the NumPy backend, compared with the aim and a peer."""

from __future__ import annotations

import time
from functools import partial
from itertools import count
from typing import Final

from benchmarks._case import Call, case
from benchmarks._systems import System

#: The aims in programs per second, by the names of the jobs in `benchmarks.laws`.
WANTED: Final[dict[str, int]] = {
    "drawn and evaluated": 300,
    "drawn and held to a law of each of the eight groups": 50,
}
#: The length of a sample, in seconds of processor time.
SECONDS = 0.5


def _programs(system: System, job: str) -> Call:
    """Returns a call that returns seconds per program: measured on new programs, or the aim."""
    if system.name != "lawful":
        return lambda: 1 / WANTED[job]
    from benchmarks.laws import JOBS, rate, unseen  # imported late: the measured processes import this module too

    seeds = unseen(JOBS[job])
    return lambda: 1 / rate(JOBS[job], SECONDS, seeds)


for _job in WANTED:
    case("law checking", f"programs {_job}", unit="s a program", wanted=1.0)(partial(_programs, job=_job))


#: The number of programs checked before the measurement.
_WARM_UP = 2


@case("law checking", "programs of what JAX has too, held to the laws", unit="s a program", jax=None)
def of_common_functions(system: System) -> Call:
    """Returns a call that returns the seconds of the next program; both systems get the same programs."""
    from lawful.laws import Generation, RandomChoose, catalogue_for, check_groups, draw_program, forms_of
    from lawful.laws.systems import find_system, lawful

    peer = find_system("jax")
    common = [form for form in forms_of(peer) if form in forms_of(lawful)]
    settings = Generation(catalogue=catalogue_for(lawful, peer), forms=tuple(common))
    checked = lawful if system.name == "lawful" else peer
    seeds = count()

    def seconds() -> float:
        program = draw_program(RandomChoose(next(seeds)), settings)
        start = time.perf_counter()
        check_groups(checked, program)
        return time.perf_counter() - start

    for _ in range(_WARM_UP):
        seconds()
    return seconds
