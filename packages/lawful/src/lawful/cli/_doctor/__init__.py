"""`lawful doctor`: what is installed, what works, and what a bug report should contain."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from lawful.cli._usage import FAILS, HOLDS

if TYPE_CHECKING:
    from rich.console import Console

REPORT: Final = (
    "this output, or `lawful doctor --json`",
    "the smallest program that shows it, with its arguments; what you expected, and what came",
    "the whole error, with its first line",
    "whether it is the same with LAWFUL_FAST=0, and with LAWFUL_BACKEND=numpy",
    "for a NaN, the text of lawful.debug.blame_nan(f)(*args); for a wrong derivative, of lawful.laws.check(f, *args)",
)
_COLORS: Final = {"ok": "green", "bad": "red", "note": "yellow", "": ""}


def doctor(arguments: Namespace) -> int:
    """Prints the report; the status is 1 if something that is installed does not work."""
    from lawful.cli._doctor._installation import environment, system, versions
    from lawful.cli._doctor._runtime import backends, cache_folder
    from lawful.cli._doctor._self_test import self_test

    found: dict[str, Any] = {
        "system": system(),
        "packages": [row.as_dict() for row in versions()],
        "environment": environment(),
        "backends": backends(),
        "cache": cache_folder(),
        "self_test": self_test(),
    }
    rows = [*found["packages"], *found["backends"], found["cache"], *found["self_test"]]
    found["problems"] = [f"{row['name']}: {row['detail']}" for row in rows if row["state"] == "bad"]
    found["bug_report"] = list(REPORT)
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        from rich.console import Console

        _print(Console(), found)
    return FAILS if found["problems"] else HOLDS


def _print(console: Console, found: dict[str, Any]) -> None:
    _table(console, "System", [{"name": name, "detail": text, "state": ""} for name, text in found["system"].items()])
    _table(console, "Packages", found["packages"])
    variables = found["environment"]
    if variables:
        _table(console, "Environment", [{"name": name, "detail": x, "state": ""} for name, x in variables.items()])
    _table(console, "Backends", [*found["backends"], found["cache"]])
    seconds = sum(row["seconds"] for row in found["self_test"])
    _table(console, f"Self-test, {seconds:.1f} s", found["self_test"])
    problems = found["problems"]
    console.print()
    if problems:
        console.print("[red]not working:[/]")
        for problem in problems:
            console.print(f"  {problem}", markup=False, highlight=False, soft_wrap=True)
    else:
        console.print("[green]All that is installed works.[/]")
    console.print("\nA bug report should contain:")
    for item in found["bug_report"]:
        console.print(f"  - {item}", markup=False, highlight=False, soft_wrap=True)


def _table(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for row in rows:
        table.add_row(row["name"], Text(row["detail"]), Text(row["state"], style=_COLORS[row["state"]]))
    console.print()
    console.print(table)
