"""How soon programs of several sizes find the faults that laws 1 to 8 find.

    python -m tests.faults.sizes 8 5 4 [--seconds 5]

Each fault is planted, and programs are drawn and held to one law of each group until one fails, does not end or cannot
be drawn, or the seconds are over. The numbers are the most equations that programs have. What it found is told in
``docs/laws_speed.md``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final
from zlib import crc32

from rich.console import Console
from rich.progress import track
from rich.table import Table

from lawful.laws import Generation, RandomChoose, check_groups, core_groups, draw_program, laws
from lawful.laws.systems import lawful

from . import table
from ._examination import ending
from ._fault import Fault
from .catalogue import faults

#: The number of programs that are tried first, without a fault, to fill caches.
WARM_UP: Final = 30


@dataclass(frozen=True, slots=True)
class Search:
    """The result of the search for a fault.

    Attributes:
      found: whether a law failed, or a program did not end or could not be drawn.
      programs: how many were drawn.
      seconds: of processor time that it took.
    """

    found: bool
    programs: int
    seconds: float


def search(fault: Fault, settings: Generation, seconds: float) -> Search:
    """Plants a fault, and draws programs until one fails or the seconds are over."""
    # Each fault has its own programs, so that one lucky program does not decide for many.
    first, start = crc32(fault.name.encode()) * 1000, time.process_time()
    with fault.planted():
        for number in count(1):
            failed = fails(first + number, settings)
            elapsed = time.process_time() - start
            if failed or elapsed > seconds:
                return Search(failed, number, elapsed)
    raise AssertionError


def fails(seed: int, settings: Generation) -> bool:
    """Whether a program violates a law of the eight groups, cannot be drawn, or does not end."""
    try:
        with ending():
            check_groups(lawful, draw_program(RandomChoose(seed), settings))
    except Exception:  # LawViolation, EndlessError, or an error caused by the fault while a program is drawn
        return True
    return False


def of_these_laws() -> list[Fault]:
    """Returns the faults that laws of the eight groups find, by the table."""
    rows = table.read()
    return [fault for fault in faults if any(laws[name].group in core_groups for name in rows[fault.name].laws)]


def report(found: dict[int, list[Search]]) -> Table:
    """Returns a table of the results of programs of each size."""
    shown = Table("most equations", "found", "faults found a second", "programs a second")
    for size, searches in found.items():
        seconds = max(sum(each.seconds for each in searches), 0.001)  # the clock may stand still in a short search
        by_laws = sum(each.found for each in searches)
        programs = sum(each.programs for each in searches)
        shown.add_row(
            str(size), f"{by_laws} of {len(searches)}", f"{by_laws / seconds:.2f}", f"{programs / seconds:.0f}"
        )
    return shown


def main(arguments: Iterable[str] | None = None) -> None:
    """Searches for all faults with programs of each size, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int, help="how many equations programs have at most")
    parser.add_argument("--seconds", type=float, default=5.0, help="of processor time for a fault")
    options = parser.parse_args(None if arguments is None else list(arguments))
    settings = {size: Generation(max_equations=size) for size in options.sizes}
    for each in settings.values():
        for seed in range(WARM_UP):
            fails(seed, each)
    found: dict[int, list[Search]] = {size: [] for size in settings}
    for fault in track(of_these_laws(), "faults"):
        for size, each in settings.items():
            found[size].append(search(fault, each, options.seconds))
    Console().print(report(found))


if __name__ == "__main__":
    main()
