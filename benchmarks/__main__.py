"""Lawful and its peers, measured alternately in one run.

    uv run --group bench python -m benchmarks                     all cases
    uv run --group bench python -m benchmarks --quick             for a few of the samples
    uv run --group bench python -m benchmarks "compiled call"     those with a word in their name or group
    uv run --group bench python -m benchmarks --json results.json
    uv run --group bench python -m benchmarks --write             puts the table and profiles into docs/performance.md
    uv run --group bench python -m benchmarks --write --page PAGE into another page
    uv run --group bench python -m benchmarks --profile lowering  where the time of a call goes

A ratio is the median over rounds of lawful's time to the peer's in the same round, with its quartiles.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console

from benchmarks import _profile
from benchmarks._case import chosen
from benchmarks._measure import QUICK, USUAL
from benchmarks._report import document, markdown, table
from benchmarks._run import PAGE, measured, write
from benchmarks._systems import lawful
from benchmarks.cases import declare

#: Each table is between two marks. A page without a mark does not have that table.
MARK = "<!-- measured by python -m benchmarks -->\n"
PROFILE_MARK = "<!-- profiled by python -m benchmarks -->\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only cases with one of these in their name or group")
    parser.add_argument("--quick", action="store_true", help="measure each for a shorter time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples")
    parser.add_argument("--write", action="store_true", help="write the table and profiles into docs/performance.md")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write in place of docs/performance.md")
    parser.add_argument("--profile", action="store_true", help="tell where the time of a call of lawful goes")
    options = parser.parse_args()
    declare()
    found = [*chosen(options.words)]
    if options.write and not (options.page.is_file() and MARK in options.page.read_text(encoding="utf-8")):
        parser.error(f"expected a page with a place for it, got {options.page}: put {MARK.strip()} into it twice")
    if not found:
        parser.error(f"no case has one of the words {', '.join(options.words)}")
    console = Console()
    if options.profile:
        for case in found:
            console.print(_profile.profile(case, case.prepare(lawful())))
        return
    rows = measured(found, QUICK if options.quick else USUAL)
    console.print(table(rows))
    if options.json:
        options.json.write_text(json.dumps(document(rows), indent=1), encoding="utf-8")
    if options.write:
        write(options.page, MARK, lambda: markdown(rows))
        timed = [case for case in found if not case.unit]
        write(options.page, PROFILE_MARK, lambda: _profile.markdown((case, case.prepare(lawful())) for case in timed))


if __name__ == "__main__":
    main()
