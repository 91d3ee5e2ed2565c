"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def with_unit(number: float) -> str:
    """Returns a number with three digits and a unit.

    >>> with_unit(27), with_unit(1234), with_unit(5_600_000)
    ('27 ', '1.23 k', '5.60 M')
    """
    for unit in ("", "k", "M", "G", "T"):
        if abs(number) < 1000 or unit == "T":
            return f"{number} " if not unit else f"{number:.3g} {unit}" if number >= 100 else f"{number:.2f} {unit}"
        number /= 1000
    raise AssertionError("the last unit takes every number")


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """Returns a table of text; ``align`` has ``<`` or ``>`` for each column."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)).rstrip()
        for row in (titles, *rows)
    ]
    return "\n".join(lines)


def rich_table(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]], align: str, caption: str = "") -> Any:
    """Returns the same as a table of rich, which is installed where somebody asks for it."""
    from rich.table import Table
    from rich.text import Text

    found = Table(title=title, caption=caption or None, title_justify="left", caption_justify="left", box=None)
    for name, side in zip(titles, align, strict=True):
        found.add_column(name, justify="right" if side == ">" else "left", no_wrap=side == ">")
    for row in rows:
        found.add_row(*map(Text, row))
    return found
