"""The page of all laws: what each states, and which faults it finds. `tests.faults.table` writes it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lawful.laws import Law, groups, laws

if TYPE_CHECKING:
    from .table import Row

PAGE: Final = Path(__file__).parents[2] / "docs" / "law_table.md"

#: The number of faults that a row names.
_NAMED: Final = 3


def page(rows: Mapping[str, Row]) -> str:
    """Returns the page, with a table for each group of laws."""
    parts = [_introduction(rows)]
    for group in groups:
        members = [law for law in laws.values() if law.group == group]
        if members:
            parts += [f"## {group[0].upper()}{group[1:]}", _table(members, rows)]
    return "\n\n".join(parts) + "\n"


def _introduction(rows: Mapping[str, Row]) -> str:
    return f"""# The table of laws

Every law of `lawful.laws`, by group: what it states, in words and as an equation, and which of the {len(rows)}
[planted faults](faults.md) it finds. {_NAMED} of these are named: first the faults that no other law finds, then those
that it finds after the fewest cases. [The laws](laws.md) is how to check them on your functions.

`T` is a transformation or a stack of them, `j` a jaxpr, `v` a tangent, `w` a cotangent."""


def _table(members: list[Law], rows: Mapping[str, Row]) -> str:
    lines = ["| law | states | finds |", "|---|---|---|"]
    lines += [
        f"| `{law.name}` | {statement(law)}<br>`{_cell(law.equation)}` | {_finds(law, rows)} |" for law in members
    ]
    return "\n".join(lines)


def statement(law: Law) -> str:
    """Returns what a law states in words: the first paragraph of its docstring."""
    first = (inspect.getdoc(law.check) or "").split("\n\n")[0]
    return _cell(" ".join(first.split()))


def _finds(law: Law, rows: Mapping[str, Row]) -> str:
    found = {name: row.laws for name, row in rows.items() if law.name in row.laws}
    if not found:
        return "none"
    alone = sum(len(kills) == 1 for kills in found.values())
    ordered = sorted(found, key=lambda name: (len(found[name]) > 1, found[name][law.name].after))
    text = f"{len(found)}, {alone} alone" if alone else f"{len(found)}"
    return f"{text}: {_cell('; '.join(ordered[:_NAMED]))}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
