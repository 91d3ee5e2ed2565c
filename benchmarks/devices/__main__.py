"""Programs on many devices, beside JAX on the same jaxlib. Each system has its own process, and rounds alternate.

    uv run --group bench python -m benchmarks.devices                calls, collectives and growth
    uv run --group bench python -m benchmarks.devices --only calls   calls on 8 CPU devices; or collectives, or growth
    uv run --group bench python -m benchmarks.devices --quick pmap   those with a word in their name or group
    uv run --group bench --group docs python -m benchmarks.devices --write    puts all into docs/scaling.md
    uv run --group bench python -m benchmarks.devices --json FILE    all results, as JSON

A ratio is the median over rounds of lawful's time to JAX's in the same round, with its quartiles.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks._case import Timed
from benchmarks._measure import QUICK, USUAL, measure
from benchmarks._report import Row, document, markdown, table
from benchmarks.devices import _calls, _tables
from benchmarks.devices._programs import programs
from benchmarks.devices._worker import Worker, work

SYSTEMS = ("lawful", "jax")
PARTS = ("calls", "collectives", "growth")
#: The programs and numbers of devices of the table of growth.
GROWING = ("data parallel", "tensor parallel")
COUNTS = (8, 16, 32, 64, 128, 256, 512)
PAGE = Path(__file__).parent.parent.parent / "docs" / "scaling.md"


def chosen(words: list[str], name: str) -> bool:
    """Whether a name has one of the words; every name if there are none."""
    return not words or any(word.lower() in name.lower() for word in words)


@contextmanager
def workers(count: int) -> Iterator[dict[str, Worker]]:
    """Gives a worker for each system; they end with the context."""
    found = {system: Worker(system, count) for system in SYSTEMS}
    try:
        yield found
    finally:
        for worker in found.values():
            worker.close()


def calls(words: list[str], seconds: float, processor: bool, progress: Progress) -> list[Row]:
    """Measures the calls, alternating between the systems."""
    cases = [case for case in _calls.cases if chosen(words, f"{case.group} {case.name}")]
    rows, task = [], progress.add_task("", total=len(cases))
    with workers(_calls.DEVICES) as running:
        for case in cases:
            progress.update(task, description=case.name)
            # Both make as many calls, so that the threads of their devices are awake for as long.
            loops = max([worker("prepare", case.group, case.name) for worker in running.values()])
            clock = "told" if case.group == _calls.COMPILE else "processor" if processor else "time"
            for worker in running.values():
                worker("sample", loops, clock)  # the first one is not counted
            timed = {system: Timed(partial(worker, "sample", loops, clock)) for system, worker in running.items()}
            rows.append(Row(case, measure(timed, seconds, told=True)))
            progress.advance(task)
    return rows


def collectives(words: list[str], progress: Progress) -> dict[str, dict[str, Any]]:
    """Returns the collectives of each program by system: by kind the number and the bytes."""
    names = [name for name in programs if chosen(words, f"collectives {name}")]
    found, task = {}, progress.add_task("", total=len(names))
    with workers(_calls.DEVICES) as running:
        for name in names:
            progress.update(task, description=f"collectives, {name}")
            found[name] = {
                system: worker("collectives", name, _calls.DEVICES) for system, worker in running.items()
            }  # fmt: skip
            progress.advance(task)
    return found


def growth(words: list[str], progress: Progress) -> dict[str, dict[int, dict[str, Any]]]:
    """Returns for programs and numbers of devices what they cost, by system."""
    names = [name for name in GROWING if chosen(words, f"growth {name}")]
    found: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in names}
    task = progress.add_task("", total=len(names) * len(COUNTS))
    if not names:
        return found
    with workers(COUNTS[-1]) as running:
        for name in names:
            for worker in running.values():
                worker("growth", name, COUNTS[0])  # the first compilation also starts the compiler
            for count in COUNTS:
                progress.update(task, description=f"growth, {name}, {count} devices")
                found[name][count] = {system: worker("growth", name, count) for system, worker in running.items()}
                progress.advance(task)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only what has one of these in its name or group")
    parser.add_argument("--only", choices=PARTS, help="a part of the measurements")
    parser.add_argument("--quick", action="store_true", help="measure each call for a shorter time")
    parser.add_argument("--processor", action="store_true", help="measure processor time, on a machine with other load")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    parser.add_argument("--write", action="store_true", help="write tables and figures into docs/scaling.md")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    parts = [part for part in PARTS if options.only in (None, part)]
    columns = (TextColumn("{task.description:50.50}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    rows, counted, grown = [], {}, {}
    with Progress(*columns) as progress:
        if "calls" in parts:
            rows = calls(options.words, QUICK if options.quick else USUAL, options.processor, progress)
        if "collectives" in parts:
            counted = collectives(options.words, progress)
        if "growth" in parts:
            grown = growth(options.words, progress)
    console = Console()
    if rows:
        console.print(table(rows))
    if counted:
        console.print(_tables.collectives(counted))
    for each in _tables.growth(grown):
        console.print(each)
    if options.json:
        results = {"calls": document(rows), "collectives": counted, "growth": grown}
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.write:
        if rows:
            _tables.write(PAGE, "calls", markdown(rows))
        if counted:
            _tables.write(PAGE, "collectives", _tables.collectives_markdown(counted))
        if grown:
            _tables.write(PAGE, "growth", _tables.growth_markdown(grown))
            _tables.draw(grown, PAGE.with_name("scaling_growth.svg"))
        _tables.draw_model(PAGE, PAGE.with_name("scaling_model.svg"))


if __name__ == "__main__":
    main()
