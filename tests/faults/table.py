"""The table of faults and laws: which law finds which fault, and whether ``check_grads`` does.

    python -m tests.faults.table --write            try every law on every fault, and write the table and its page
    python -m tests.faults.table --write cond jit   the same for faults with a word in their name or chapter
    python -m tests.faults.table --missing          the same for faults that the table does not have yet
    python -m tests.faults.table --stale            the same for faults whose rows are stale
    python -m tests.faults.table                    write the pages anew

The table is ``tests/faults/kills.json``, the pages are ``docs/faults.md`` and ``docs/law_table.md``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lawful.laws import laws

from . import law_table
from ._examination import (
    CASES_OF_LOOPS,
    SLOW_GROUPS,
    Kill,
    finds_by_check_grads,
    found_by_check_grads,
    is_killed,
    kills_of,
)
from ._fault import Fault
from .catalogue import chapters, faults

#: The number of cases on which every law is tried for each fault.
CASES: Final = 18
#: The number of cases tried for a fault that no law finds on those; 200 of each source.
MOST_CASES: Final = 600

#: The number of laws that the page names for a fault.
SHOWN: Final = 5

TABLE: Final = Path(__file__).with_name("kills.json")
PAGE: Final = Path(__file__).parents[2] / "docs" / "faults.md"


@dataclass(frozen=True, slots=True)
class Row:
    """The laws and programs that find a fault.

    Attributes:
      laws: the laws that find it, each with the first case.
      check_grads: the first case on which ``check_grads`` finds it, if there is one.
      cases: how many were tried.
    """

    laws: dict[str, Kill]
    check_grads: Kill | None
    cases: int

    def first(self) -> int:
        """Returns the number of cases after which the first law finds it."""
        return min((kill.after for kill in self.laws.values()), default=0)


def is_slow(law: str) -> bool:
    """Whether a law is tried on the first cases only."""
    return law in laws and laws[law].group in SLOW_GROUPS


def examined(fault: Fault) -> Row:
    """Tries all laws, and ``check_grads``, on a fault."""
    found = kills_of(fault, CASES)
    if all(map(is_slow, found)):
        found |= kills_of(fault, MOST_CASES, enough=1, seen=CASES)
    count = max(CASES, *(kill.after for kill in found.values()), 0) if found else MOST_CASES
    return Row(found, found_by_check_grads(fault, count), count)


def is_found_by_laws(fault: Fault, row: Row) -> bool:
    """Whether one of the two first laws of a row finds the fault on its case, and holds there without the fault.

    A new primitive changes what is drawn, and so the cases: the laws may find the fault on others.
    """
    for name, kill in sorted(row.laws.items(), key=lambda item: (is_slow(item[0]), item[1].after))[:2]:
        if name in laws:
            with fault.planted():
                is_found = is_killed(laws[name], kill.source, kill.seed)
            if is_found and not is_killed(laws[name], kill.source, kill.seed):
                return True
    return False


def is_found_by_check_grads(fault: Fault, row: Row) -> bool:
    """Whether ``check_grads`` finds the fault on the case of a row, and passes there without the fault."""
    kill = row.check_grads
    if kill is None:
        return False
    with fault.planted():
        is_found = finds_by_check_grads(kill.source, kill.seed)
    return bool(is_found) and not finds_by_check_grads(kill.source, kill.seed)


def is_stale(fault: Fault, row: Row) -> bool:
    """Whether a row is stale: on its cases the laws, or ``check_grads``, no longer find the fault."""
    by_check_grads = row.check_grads is None or is_found_by_check_grads(fault, row)
    return not (is_found_by_laws(fault, row) and by_check_grads)


def read() -> dict[str, Row]:
    """Returns the stored table."""
    if not TABLE.exists():
        return {}
    return {
        name: Row(
            {law: Kill(**kill) for law, kill in row["laws"].items()},
            None if row["check_grads"] is None else Kill(**row["check_grads"]),
            row["cases"],
        )
        for name, row in json.loads(TABLE.read_text(encoding="utf-8")).items()
    }


def write(rows: dict[str, Row]) -> None:
    """Writes the table, in the order of the catalogue."""
    ordered = {fault.name: asdict(rows[fault.name]) for fault in faults if fault.name in rows}
    lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in ordered.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


# The page


def page(rows: dict[str, Row]) -> str:
    """Returns the page that shows the table."""
    parts = [_introduction(rows), _scores(rows)]
    for chapter, members in chapters.items():
        parts += [f"## {chapter}", _table(members, rows)]
    return "\n\n".join(parts) + "\n"


def _introduction(rows: dict[str, Row]) -> str:
    by_grads = sum(row.check_grads is not None for row in rows.values())
    kinds = len({fault.kind for fault in faults})
    by_laws = sum(bool(row.laws) for row in rows.values())
    deep = sum(row.cases > CASES for row in rows.values())
    return f"""# Faults that the laws find

Planted faults test a test suite. Each of the {len(faults)} below, of {kinds} kinds, is planted alone into a rule or a
transformation, and the laws are checked on generated programs, or on calls of the primitive concerned.

**Found by laws: {by_laws} of {len(faults)}. Found by `check_grads`: {by_grads} of {len(faults)}.**

A law finds a fault if it fails with the fault on a case on which it holds without. The first {SHOWN} laws are named,
each with the number of cases until it found the fault. For each fault, every law is checked on {CASES} cases with one
variant per group; the laws of cost and leaks, which are slow, on the first case of each source, and those of loops on
the first {CASES_OF_LOOPS}. The {deep} faults that no law finds there are tried on up to {MOST_CASES} cases, until a law
finds them.

`check_grads` is that of `lawful.laws`, with the checks of `jax.test_util.check_grads`: derivatives to second order at
the given arguments, forward mode against finite differences along one random direction, reverse mode against forward
mode by an inner product. It gets the same cases, as functions of their 64-bit arguments, and as many of them. It
covers derivatives only, not batching, compilation, printing, types and memory, which explains most of the difference.

[The table of laws](law_table.md) says what each law finds. `python -m tests.faults.table --write` writes both, and
`tests/faults` checks them."""


def _scores(rows: dict[str, Row]) -> str:
    lines = ["| chapter | faults | laws | `check_grads` |", "|---|--:|--:|--:|"]
    for chapter, members in chapters.items():
        of_chapter = [rows[fault.name] for fault in members]
        by_laws = sum(bool(row.laws) for row in of_chapter)
        by_grads = sum(row.check_grads is not None for row in of_chapter)
        lines.append(f"| {chapter} | {len(members)} | {by_laws} | {by_grads} |")
    return "\n".join(lines)


def _table(members: Iterable[Fault], rows: dict[str, Row]) -> str:
    head = ("fault", "kind", "where", "laws that find it, after how many cases", "`check_grads`")
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---|---|"]
    for fault in members:
        row = rows[fault.name]
        found = sorted(row.laws.items(), key=lambda item: (item[1].after, item[0]))
        texts = ", ".join(f"{law} {kill.after}" for law, kill in found[:SHOWN])
        texts += f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        grads = "no" if row.check_grads is None else f"after {row.check_grads.after}"
        lines.append(f"| {fault.name} | {fault.kind} | {fault.where} | {texts} | {grads} |")
    return "\n".join(lines)


def chosen(words: Iterable[str]) -> list[Fault]:
    """Returns the faults with one of the words in their name or chapter; all if there are no words."""
    words = [word.lower() for word in words]
    return [
        fault
        for chapter, members in chapters.items()
        for fault in members
        if not words or any(word in f"{fault.name} {chapter}".lower() for word in words)
    ]


def examine_faults(which: list[Fault], rows: dict[str, Row]) -> None:
    """Examines faults, and writes the table after each."""
    columns: tuple[Any, ...] = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        *(TimeElapsedColumn(), TimeRemainingColumn()),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("faults", total=len(which))
        for fault in which:
            progress.update(task, description=f"{fault.name:60.60}")
            rows[fault.name] = examined(fault)
            write(rows)
            if not rows[fault.name].laws:
                progress.console.print(f"survives: {fault.name}")
            progress.advance(task)


def is_wanted(fault: Fault, rows: dict[str, Row], options: argparse.Namespace) -> bool:
    """Whether the options ask for the examination of a fault."""
    if options.write or fault.name not in rows:
        return bool(options.write or options.missing)
    return bool(options.stale) and is_stale(fault, rows[fault.name])


def main(arguments: list[str] | None = None) -> int:
    """Writes the table or its pages; returns 1 if a fault survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="try the laws on faults and write the table")
    parser.add_argument("--missing", action="store_true", help="the same for faults that are not in the table yet")
    parser.add_argument("--stale", action="store_true", help="the same for faults whose rows are stale")
    parser.add_argument("words", nargs="*", help="only faults with one of these in their name or chapter")
    options = parser.parse_args(arguments)
    rows = read()
    examine_faults([f for f in chosen(options.words) if is_wanted(f, rows, options)], rows)
    rows = {fault.name: rows[fault.name] for fault in faults if fault.name in rows}
    if len(rows) == len(faults):
        PAGE.write_text(page(rows), encoding="utf-8")
        law_table.PAGE.write_text(law_table.page(rows), encoding="utf-8")
    return 0 if all(row.laws for row in rows.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
