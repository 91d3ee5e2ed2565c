"""How many generated programs a second one core draws, evaluates and holds to the laws.

    uv run python -m benchmarks.laws [--write] [--seconds 5]

Everything runs on the NumPy backend, in processor time of one thread. ``--write`` puts the tables into
``docs/laws_speed.md``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.cases.laws import WANTED
from lawful.laws import (
    Inapplicable,
    LawViolation,
    Program,
    RandomChoose,
    check_groups,
    core_groups,
    draw_program,
    laws,
    quick,
    usual,
)
from lawful.laws.systems import lawful

PAGE = Path(__file__).parent.parent / "docs" / "laws_speed.md"
MARK = "<!-- measured by benchmarks/laws.py -->\n"
WARM_UP = 20


def drawn(seed: int) -> Program:
    return draw_program(RandomChoose(seed))


def evaluated(seed: int) -> None:
    program = drawn(seed)
    with np.errstate(all="ignore"):
        program(*program.args)


def checked(seed: int) -> None:
    try:
        check_groups(lawful, drawn(seed))
    except LawViolation as violation:  # a found violation must not discard the measurements
        print(f"draw_program(RandomChoose({seed})): {str(violation).splitlines()[0]}", file=sys.stderr)


#: The measured jobs, in programs per second; the aims are in the cases of the table.
JOBS: Final[dict[str, Callable[[int], object]]] = {
    "drawn": drawn,
    "drawn and evaluated": evaluated,
    "drawn and held to a law of each of the eight groups": checked,
}


def unseen(job: Callable[[int], object]) -> Iterator[int]:
    """Returns the seeds of programs that a job has not seen, after a warm-up with others."""
    for seed in range(WARM_UP):
        job(seed)
    return count(WARM_UP)


def rate(job: Callable[[int], object], seconds: float, seeds: Iterator[int]) -> float:
    """Returns how many programs per second of processor time a job does, on the next seeds."""
    start = time.process_time()
    for number, seed in enumerate(seeds, 1):
        job(seed)
        elapsed = time.process_time() - start
        if elapsed > seconds:
            return number / elapsed
    raise AssertionError


def cost(name: str, effort_name: str, seconds: float) -> float:
    """Returns the milliseconds that a law takes per program."""
    effort = {"quick": quick, "usual": usual}[effort_name]
    total, start = 0.0, time.process_time()
    for seed in count():
        program = drawn(seed)
        before = time.process_time()
        with suppress(Inapplicable):
            laws[name](lawful, program, effort=effort)
        after = time.process_time()
        total += after - before
        if after - start > seconds:
            return 1000 * total / (seed + 1)
    raise AssertionError


def rates(seconds: float) -> dict[str, tuple[float, int | None]]:
    """Returns programs per second for each job, with the aim."""
    return {name: (rate(job, seconds, unseen(job)), WANTED.get(name)) for name, job in JOBS.items()}


def costs(seconds: float) -> dict[str, tuple[str, float, float]]:
    """Returns the group of each law, and its milliseconds with the efforts quick and usual."""
    from rich.progress import track

    chosen = [law for group in core_groups for law in laws.values() if law.group == group and law.subject == "function"]
    return {
        law.name: (law.group, *[cost(law.name, effort, seconds / 5) for effort in ("quick", "usual")])  # type: ignore[misc]
        for law in track(chosen, "measuring laws")
    }


def tables(speeds: dict[str, tuple[float, int | None]], times: dict[str, tuple[str, float, float]]) -> str:
    """Returns both tables in Markdown."""
    lines = ["| programs a second | measured | wanted |", "|---|---:|---:|"]
    lines += [f"| {name} | {speed:.0f} | {wanted or ''} |" for name, (speed, wanted) in speeds.items()]
    lines += ["", "| ms a program | group | quick | usual |", "|---|---|---:|---:|"]
    lines += [f"| {name} | {group} | {fast:.1f} | {slow:.1f} |" for name, (group, fast, slow) in times.items()]
    return "\n".join(lines) + "\n"


def show(speeds: dict[str, tuple[float, int | None]], times: dict[str, tuple[str, float, float]]) -> None:
    """Prints both tables."""
    from rich.console import Console
    from rich.table import Table

    first = Table("programs a second", "measured", "wanted")
    for name, (speed, wanted) in speeds.items():
        first.add_row(name, f"{speed:.0f}", str(wanted or ""))
    second = Table("ms a program", "group", "quick", "usual")
    for name, (group, fast, slow) in times.items():
        second.add_row(name, group, f"{fast:.1f}", f"{slow:.1f}")
    console = Console()
    console.print(first)
    console.print(second)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each row of the first table is measured")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/laws_speed.md")
    options = parser.parse_args()
    speeds, times = rates(options.seconds), costs(options.seconds)
    show(speeds, times)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        _, _, after = rest.partition(MARK)
        PAGE.write_text(f"{before}{MARK}{tables(speeds, times)}{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
