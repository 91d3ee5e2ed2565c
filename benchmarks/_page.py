"""The command of benchmarks that have a page of their own: it measures their rows, and writes them into the page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from benchmarks._case import chosen
from benchmarks._report import document, markdown, means, table
from benchmarks._run import measured, write


def run(
    description: str | None, declare: Callable[[], None], name: str, page: str, *, usual: float, quick: float
) -> None:
    """Measures the rows that the command line chooses.

    Args:
      description: of the command.
      declare: declares the rows.
      name: of the module, as in the page's mark.
      page: the file in ``docs/``.
      usual: seconds per row, for all systems together.
      quick: the same with ``--quick``.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only rows with one of these in their name or group")
    parser.add_argument("--quick", action="store_true", help="measure each for a shorter time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples")
    parser.add_argument("--write", action="store_true", help=f"write the tables into docs/{page}")
    options = parser.parse_args()
    console = Console()
    declare()
    cases = [*chosen(options.words)]
    if not cases:
        parser.error(f"no row has one of the words {', '.join(options.words)}")
    rows = measured(cases, quick if options.quick else usual)
    console.print(table(rows))
    console.print(means(rows), highlight=False)
    if options.json:
        options.json.write_text(json.dumps(document(rows), indent=1), encoding="utf-8")
    if options.write:
        mark = f"<!-- measured by python -m benchmarks.{name} -->\n"
        write(Path(__file__).parents[1] / "docs" / page, mark, lambda: f"{means(rows)}\n{markdown(rows)}")
