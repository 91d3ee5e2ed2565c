"""How soon planted faults are found with several efforts, on the cases of the command.

    python -m tests.faults.efforts [--every 8] [--seconds 5]

Each fault is planted, and cases of its sources are drawn and held to the laws until one fails, does not end or cannot
be drawn, or the seconds are over. ``sampled`` is what ``lawful laws --profile thorough`` does, ``quick`` and
``thorough`` are all laws on each case with one variant and with all. What it found is told in ``docs/laws_speed.md``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from lawful.core import no_collections
from lawful.laws import Effort, Inapplicable, Law, draw_case, examine, find_source, quick, sampled_effort, thorough
from lawful.laws.systems import lawful

from ._examination import ending
from ._fault import Fault
from .catalogue import faults
from .sizes import Search

#: Yields the laws for the case of a source and a seed, each with its effort.
Choice = Callable[[str, int], Iterator[tuple[Law, Effort]]]

#: The number of cases of each source that are tried first, without a fault, to fill caches.
WARM_UP: Final = 3


def all_laws(effort: Effort) -> Choice:
    """Returns the choice of all laws."""
    return lambda source, seed: ((law, effort) for law in find_source(source).laws())


def sampled(source: str, seed: int) -> Iterator[tuple[Law, Effort]]:
    """Yields a sample of the laws of a case."""
    for law in find_source(source).laws():
        effort = sampled_effort(law, source, seed)
        if effort is not None:
            yield law, effort


CHOICES: Final[dict[str, Choice]] = {"thorough": all_laws(thorough), "quick": all_laws(quick), "sampled": sampled}


def fails(source: str, seed: int, choice: Choice) -> bool:
    """Whether a case violates one of its chosen laws, cannot be drawn, or does not end."""
    try:
        with ending(), no_collections():
            drawn = draw_case(find_source(source), seed)
            return any(examine(law, lawful, drawn, effort).verdict == "failed" for law, effort in choice(source, seed))
    except Inapplicable:
        return False
    except Exception:  # EndlessError, or an error caused by the fault while a case is drawn
        return True


def search(fault: Fault, choice: Choice, seconds: float, first: int = 1000) -> Search:
    """Plants a fault, and draws cases of its sources until one fails or the seconds are over."""
    start = time.process_time()
    with fault.planted():
        for number in count():
            source = fault.sources[number % len(fault.sources)]
            failed = fails(source, first + number, choice)
            elapsed = time.process_time() - start
            if failed or elapsed > seconds:
                return Search(failed, number + 1, elapsed)
    raise AssertionError


def report(found: dict[str, list[Search]]) -> Table:
    """Returns a table of the results of each effort."""
    shown = Table("effort", "found", "faults found a minute", "cases a second")
    for name, searches in found.items():
        seconds = max(sum(each.seconds for each in searches), 0.001)
        by_laws, cases = sum(each.found for each in searches), sum(each.programs for each in searches)
        shown.add_row(name, f"{by_laws} of {len(searches)}", f"{by_laws / seconds * 60:.0f}", f"{cases / seconds:.1f}")
    return shown


def main(arguments: Iterable[str] | None = None) -> None:
    """Searches for faults with each effort, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=8, help="search for every nth fault")
    parser.add_argument("--seconds", type=float, default=5.0, help="of processor time for a fault")
    options = parser.parse_args(None if arguments is None else list(arguments))
    chosen = faults[:: options.every]
    for source in {source for fault in chosen for source in fault.sources}:
        for seed in range(WARM_UP):
            fails(source, seed, CHOICES["quick"])
    found: dict[str, list[Search]] = {name: [] for name in CHOICES}
    for fault in track(chosen, "faults"):
        for name, choice in CHOICES.items():
            found[name].append(search(fault, choice, options.seconds))
    Console().print(report(found))


if __name__ == "__main__":
    main()
