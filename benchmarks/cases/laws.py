"""How many programs a second are held to the laws, on the NumPy backend: against how many are wanted, and by a peer."""

from __future__ import annotations

import time
from functools import partial
from itertools import count
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


#: So many programs are checked before one counts.
_WARM_UP = 2


@case("law checking", "programs of what JAX has too, held to the laws", unit="s a program", jax=None)
def of_common_functions(system: System) -> Call:
    """Returns a call that returns the seconds of the next program: of the same one for both."""
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
