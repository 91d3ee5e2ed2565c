"""Where the time of a call goes."""

from __future__ import annotations

import cProfile
import pstats
import re
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks._case import Case, Timed

#: At most so many calls, and no more once they took so many seconds.
CALLS, SECONDS = 500, 1.0
#: So many functions has a profile of a terminal, and of a page at most.
ROWS, LISTED = 12, 4
#: The least share of the time that a page lists.
LEAST = 0.03


def shares(timed: Timed, *, lines: bool = True) -> list[tuple[str, float, float]]:
    """Returns the functions that a call spends most in by themselves: place, share of the time, calls a call.

    Args:
      timed: the call.
      lines: whether places tell the line; without, functions of a name in a file are one.
    """
    profiler = cProfile.Profile()
    for _ in range(2):
        if timed.before is not None:
            timed.before()
        timed.call()
    start, calls = time.perf_counter(), 0
    while calls < CALLS and (not calls or time.perf_counter() - start < SECONDS):
        if timed.before is not None:
            timed.before()
        profiler.enable()
        timed.call()
        profiler.disable()
        calls += 1
    stats: Any = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    stats = {where: numbers for where, numbers in stats.items() if "_lsprof.Profiler" not in where[2]}
    total = sum(own for _, _, own, _, _ in stats.values())
    found: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for where, (_, count, own, _, _) in stats.items():
        share, times = found[place := _place(where, lines=lines)]
        found[place] = (share + own / total, times + count / calls)
    return sorted([(place, *numbers) for place, numbers in found.items()], key=lambda row: -row[1])


def _place(where: tuple[str, int, str], *, lines: bool) -> str:
    file, line, function = where
    if file == "~":
        return _builtin(function)
    parts = Path(file).parts
    start = len(parts) - 1 - parts[::-1].index("lawful") if "lawful" in parts else len(parts) - 1
    return f"{'/'.join(parts[start:])}:{line if lines else ''} {function}".replace(": ", " ")


def _builtin(name: str) -> str:
    """Returns the short name of a function that is not Python's, with no address in it."""
    name = re.sub(r" at 0x[0-9a-f]+", "", name.strip("<>"))
    name = re.sub(r"^method '(\w+)' of '([\w.]+)' objects$", r"\2.\1", name)
    return name.removeprefix("built-in method ").removeprefix("builtins.")


def profile(case: Case, timed: Timed) -> Table:
    """Returns the table of a case. A process of its own is not looked into."""
    shown = Table("function", "share", "calls", title=f"{case.group}: {case.name}")
    if case.unit:
        shown.add_row("not a call that is timed", "", "")
        return shown
    for place, share, count in shares(timed)[:ROWS]:
        shown.add_row(place, f"{share:.1%}", f"{count:,.1f}")
    return shown


def markdown(profiled: Iterable[tuple[Case, Timed]]) -> str:
    """Returns the table of a page: for each call that is timed, the functions that take most of it by themselves."""
    lines = ["| what | in which functions |", "|---|---|"]
    group = ""
    for case, timed in profiled:
        if case.unit:
            continue
        if case.group != group:
            group = case.group
            lines.append(f"| **{group}** | |")
        most = [(place, share) for place, share, _ in shares(timed, lines=False)[:LISTED] if share >= LEAST]
        listed = ", ".join(f"{share:.0%} `{place.removeprefix('lawful/')}`" for place, share in most)
        lines.append(f"| {case.name} | {listed} |")
    return "\n".join(lines) + "\n"
