"""The programs of GradBench beside JAX and Autograd, measured alternately in one process.

    uv run --group bench python -m benchmarks.gradbench                   all rows
    uv run --group bench python -m benchmarks.gradbench --quick lstm      those with a word in their name or group
    uv run --group bench python -m benchmarks.gradbench --write           puts the tables into docs/gradbench.md
    uv run --group bench python -m benchmarks.gradbench --json FILE       all samples, as JSON

A ratio is the median over rounds of lawful's time to the peer's in the same round, with its quartiles.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console

from benchmarks._case import chosen
from benchmarks._report import document, markdown, means, table
from benchmarks._run import measured, write
from benchmarks.gradbench._cases import declare

PAGE = Path(__file__).parents[2] / "docs" / "gradbench.md"
MARK = "<!-- measured by python -m benchmarks.gradbench -->\n"
#: Seconds per row, for all systems together.
USUAL, QUICK = 2.0, 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only rows with one of these in their name or group")
    parser.add_argument("--quick", action="store_true", help="measure each for a shorter time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/gradbench.md")
    options = parser.parse_args()
    console = Console()
    declare()
    cases = [*chosen(options.words)]
    if not cases:
        parser.error(f"no row has one of the words {', '.join(options.words)}")
    rows = measured(cases, QUICK if options.quick else USUAL)
    console.print(table(rows))
    console.print(means(rows), highlight=False)
    if options.json:
        options.json.write_text(json.dumps(document(rows), indent=1), encoding="utf-8")
    if options.write:
        write(PAGE, MARK, lambda: f"{means(rows)}\n{markdown(rows)}")


if __name__ == "__main__":
    main()
