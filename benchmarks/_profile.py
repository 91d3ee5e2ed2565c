"""Where the time of a call goes."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks._case import Case, Timed

#: So many calls, and at most so many functions of a profile.
CALLS, ROWS = 20, 12


def shares(timed: Timed) -> list[tuple[str, float, float]]:
    """Returns the functions that a call spends most in by themselves: place, share of the time, calls a call."""
    profiler = cProfile.Profile()
    for _ in range(2):
        if timed.before is not None:
            timed.before()
        timed.call()
    for _ in range(CALLS):
        if timed.before is not None:
            timed.before()
        profiler.enable()
        timed.call()
        profiler.disable()
    stats: Any = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    found = [(_place(where), own / total, count / CALLS) for where, (_, count, own, _, _) in stats.items()]
    return sorted(found, key=lambda row: -row[1])[:ROWS]


def _place(where: tuple[str, int, str]) -> str:
    file, line, function = where
    if file == "~":
        return function.strip("<>")
    parts = Path(file).parts
    start = len(parts) - 1 - parts[::-1].index("lawful") if "lawful" in parts else len(parts) - 1
    return f"{'/'.join(parts[start:])}:{line} {function}"


def profile(case: Case, timed: Timed) -> Table:
    """Returns the table of a case. A process of its own is not looked into."""
    shown = Table("function", "share", "calls", title=f"{case.group}: {case.name}")
    if case.unit:
        shown.add_row("not a call that is timed", "", "")
        return shown
    for place, share, count in shares(timed):
        shown.add_row(place, f"{share:.1%}", f"{count:,.1f}")
    return shown
