"""How long programs take to compile, beside JAX's.

    uv run --group bench python -m benchmarks.compiling functions [WORD ...]   those of ops and special
    uv run --group bench python -m benchmarks.compiling draws [WORD ...]       chains of random draws
    uv run --group bench python -m benchmarks.compiling draws --json FILE      keeps results, and resumes with them
    uv run --group bench python -m benchmarks.compiling draws --json FILE --again   also measures its slow rows again

With words, only functions with one of them in their name. Each row is printed when it is measured, in processor
milliseconds of lawful and of JAX. A function is compiled alone, applied to itself, and summed over pieces of its input.
A row is slow if a function takes more than 0.2 s and 1.2 times as long as JAX, or if draws take longer than JAX's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from benchmarks.compiling._draws import draws
from benchmarks.compiling._functions import functions
from benchmarks.compiling._results import Results
from benchmarks.compiling._worker import Worker, work

PROGRAMS = {"functions": (functions,), "draws": (draws,), "all": (functions, draws)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=PROGRAMS, default="all")
    parser.add_argument("words", nargs="*", help="only functions with one of these in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep results here; those it holds are not measured")
    parser.add_argument("--again", action="store_true", help="measure the slow rows of the file again")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    rows = [row for programs in PROGRAMS[options.what] for row in programs(options.words)]
    if not rows:
        parser.error(f"expected part of the name of a function or distribution, got {' '.join(options.words)}")
    results = Results(options.json)
    workers = {name: Worker(name) for name in ("lawful", "jax")}
    console = Console(highlight=False)
    try:
        for number, row in enumerate(rows, 1):
            known = results.get(row)
            if known is None or (options.again and known.is_slow):
                known = results.measure(row, workers)
                console.print(f"{number:4}/{len(rows)}  {known.line()}", soft_wrap=True)
    finally:
        for worker in workers.values():
            worker.close()
    console.print(results.table([*map(results.get, rows)]))


if __name__ == "__main__":
    main()
