"""Measures cases, and writes tables into pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks._case import Case, Timed
from benchmarks._measure import measure
from benchmarks._report import Row
from benchmarks._systems import System, lawful, missing, systems

#: The page of the results.
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def prepared(case: Case) -> dict[str, Timed]:
    """Returns the calls of a case for lawful and the installed peers."""
    calls = {"lawful": case.prepare(lawful())}
    for peer in case.most:
        if peer in missing():
            continue
        # A variant of lawful itself has no system of its own.
        own = System(peer, *[getattr(lawful(), name) for name in ("numpy", "array", "wait", "clear", "functions")])
        calls[peer] = case.prepare(systems[peer]() if peer in systems else own)
    return calls


def measured(found: list[Case], seconds: float) -> list[Row]:
    """Measures cases and shows the progress."""
    rows = []
    columns = (TextColumn("{task.description:50.50}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        task = progress.add_task("", total=len(found))
        for case in found:
            progress.update(task, description=case.name)
            rows.append(Row(case, measure(prepared(case), seconds, told=bool(case.unit))))
            progress.advance(task)
    return rows


def write(page: Path, mark: str, text: Callable[[], str]) -> None:
    """Puts a text between its marks on a page."""
    before, found, rest = page.read_text(encoding="utf-8").partition(mark)
    if found:
        _, _, after = rest.partition(mark)
        page.write_text(f"{before}{mark}{text()}{mark}{after}", encoding="utf-8")
