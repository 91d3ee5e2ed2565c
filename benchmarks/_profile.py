"""Profiles: where a call spends its time."""

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

#: The limits of a profile: number of calls, and seconds.
CALLS, SECONDS = 500, 1.0
#: The number of functions listed on a terminal, and on a page.
ROWS, LISTED = 12, 4
#: The least share of time that a page lists.
LEAST = 0.03


def shares(timed: Timed, *, lines: bool = True) -> list[tuple[str, float, float]]:
    """Returns the functions with most time of their own: source line, share, calls per call.

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
        share, times = found[location := _location(where, lines=lines)]
        found[location] = (share + own / total, times + count / calls)
    return sorted([(location, *numbers) for location, numbers in found.items()], key=lambda row: -row[1])


def _location(where: tuple[str, int, str], *, lines: bool) -> str:
    file, line, function = where
    if file == "~":
        return _builtin(function)
    parts = Path(file).parts
    start = len(parts) - 1 - parts[::-1].index("lawful") if "lawful" in parts else len(parts) - 1
    return f"{'/'.join(parts[start:])}:{line if lines else ''} {function}".replace(": ", " ")


def _builtin(name: str) -> str:
    """Returns the short name of a built-in function, without its address."""
    name = re.sub(r" at 0x[0-9a-f]+", "", name.strip("<>"))
    name = re.sub(r"^method '(\w+)' of '([\w.]+)' objects$", r"\2.\1", name)
    return name.removeprefix("built-in method ").removeprefix("builtins.")


def profile(case: Case, timed: Timed) -> Table:
    """Returns the profile of a case. Calls that run in another process are not profiled."""
    shown = Table("function", "share", "calls", title=f"{case.group}: {case.name}")
    if case.unit:
        shown.add_row("not a call that is timed", "", "")
        return shown
    for location, share, count in shares(timed)[:ROWS]:
        shown.add_row(location, f"{share:.1%}", f"{count:,.1f}")
    return shown


def markdown(profiled: Iterable[tuple[Case, Timed]]) -> str:
    """Returns the page's table: for each timed call, the functions in which it spends most time."""
    lines = ["| what | in which functions |", "|---|---|"]
    group = ""
    for case, timed in profiled:
        if case.unit:
            continue
        if case.group != group:
            group = case.group
            lines.append(f"| **{group}** | |")
        most = [(location, share) for location, share, _ in shares(timed, lines=False)[:LISTED] if share >= LEAST]
        listed = ", ".join(f"{share:.0%} `{location.removeprefix('lawful/')}`" for location, share in most)
        lines.append(f"| {case.name} | {listed} |")
    return "\n".join(lines) + "\n"
