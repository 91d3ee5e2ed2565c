"""Test the packages from their wheels with every supported Python, NumPy and jaxlib.

    uv run python -m tools.matrix                                     # every combination
    uv run python -m tools.matrix --python 3.13 3.13t                 # of these Pythons
    uv run python -m tools.matrix --numpy oldest --jaxlib none        # of one NumPy, without jaxlib
    uv run python -m tools.matrix --interpreter 3.14t=/opt/python3.14t/bin/python3.14t
    uv run python -m tools.matrix --write                             # and write docs/supported.md

The ends of a range are the oldest and the newest version of it that have a wheel for the interpreter. The packages
without jaxlib are tested once with each Python and NumPy, those that need jaxlib with each jaxlib too. All packages
of a combination share an environment (`tools/isolation.py` tests each one alone). A combination that cannot run here
says so, and never counts as passed. `--write` keeps the rows of earlier runs for all others.
"""

import argparse
import datetime
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.isolation import (
    FOLDERS,
    ROOT,
    StepFailed,
    build_wheels,
    call,
    copy_tests,
    distribution,
    install,
    pytest,
    read_toml,
    test_requirements,
    uv,
    write_constraints,
)

#: With a "t": the free-threaded build, for the packages without jaxlib.
PYTHONS = ("3.12", "3.13", "3.14", "3.13t", "3.14t")
ENDS = {"oldest": "lowest", "newest": "highest"}  # and uv's names for them
NONE = "none"

#: Built for one interpreter or for one NumPy: the workspace's pins need not have a wheel for each.
BUILT = {
    "numpy",
    "hypothesis",
    "ml-dtypes",
    "scipy",
    "jaxlib",
    "matplotlib",
    "contourpy",
    "kiwisolver",
    "pillow",
    "fonttools",
}

#: The verdicts of a combination that was not tested, and of one that passed.
NOT_HERE, NO_WHEEL, NOT_RUN, PASSED = "not available here", "no wheel", "not run", "passed"

PAGE = ROOT / "docs/supported.md"
HEAD = """# Supported versions

The packages declare Python {pythons}, NumPy {numpy} and, those over XLA, jaxlib {jaxlib}. The table says which
combinations were tested: only a row with "{passed}" is shown to work, with the versions that it names. A "t" after the
version of Python is its free-threaded build, for the packages without jaxlib. That of Python 3.13 never frees functions
and classes once a thread was started, programs of the NumPy backend among them; that of 3.14 does.

`uv run python -m tools.matrix --write` writes this table. It builds the wheels, installs them with the oldest or the
newest version for which the package index has a wheel, and runs the packages' tests. "{not_here}" means that the
machine of the run had no such interpreter, "{no_wheel}" that the index has no wheel for it.

"""
COLUMNS = ("Python", "NumPy", "jaxlib", "result", "tests", "versions", "date")

VERSIONS = "import importlib.metadata, platform, sys; print(platform.python_version(), *["
VERSIONS += "f'{name} {importlib.metadata.version(name)}' for name in sys.argv[1:]], sep=', ')"

#: An extension module that does not declare support for running without the GIL enables it, with a warning.
WITHOUT_GIL = "import sys, lawful.numpy, lawful.random; sys.exit('the GIL is on') if sys._is_gil_enabled() else None"


@dataclass(frozen=True, slots=True)
class Combination:
    """A Python, and ends of the ranges of NumPy and jaxlib; jaxlib may be ``"none"``."""

    python: str
    numpy: str
    jaxlib: str

    @property
    def free_threaded(self) -> bool:
        return self.python.endswith("t")

    @property
    def folders(self) -> list[str]:
        """The packages to test: those that need jaxlib, or all others."""
        return [folder for folder in FOLDERS if needs_jaxlib(folder) == (self.jaxlib != NONE)]

    @property
    def label(self) -> str:
        return f"Python {self.python}, NumPy {self.numpy}, jaxlib {self.jaxlib}"


@dataclass(frozen=True, slots=True)
class Row:
    """The row of the page for a combination."""

    combination: Combination
    verdict: str = NOT_RUN
    tests: str = ""
    versions: str = ""
    date: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        c = self.combination
        return c.python, c.numpy, c.jaxlib, self.verdict, self.tests, self.versions, self.date

    @property
    def was_tested(self) -> bool:
        return self.verdict not in (NOT_HERE, NO_WHEEL, NOT_RUN)


def combinations() -> list[Combination]:
    ways = itertools.product(PYTHONS, ENDS, (NONE, *ENDS))
    return [Combination(*way) for way in ways if way[2] == NONE or not way[0].endswith("t")]


@cache
def project(folder: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_toml(ROOT / "packages" / folder)["project"]
    return found


@cache
def needs_jaxlib(folder: str) -> bool:
    """Whether a package declares jaxlib, itself or by a package that it needs."""
    declared = {distribution(line) for line in project(folder)["dependencies"]}
    siblings = [name for name in FOLDERS if project(name)["name"] in declared]
    return "jaxlib" in declared or any(map(needs_jaxlib, siblings))


def declared_range(name: str) -> str:
    """The requirement of a distribution, as the package that needs it directly declares it."""
    lines = [line for folder in FOLDERS for line in project(folder)["dependencies"]]
    requirement: str
    [requirement] = {line for line in lines if distribution(line) == name}
    return requirement


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    chosen = [
        c
        for c in combinations()
        if c.python in options.python and c.numpy in options.numpy and c.jaxlib in options.jaxlib
    ]
    os.environ.setdefault("HYPOTHESIS_PROFILE", "few")  # the examples of one profile are the same everywhere
    console = Console()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="lawful-matrix-") as directory:
        work = Path(directory)
        paths = {name: options.interpreter.get(name) or find_interpreter(name) for name in options.python}
        if not any(paths.values()):
            wheels: list[Path] = []
        else:
            with console.status("building the wheels"):
                wheels = build_wheels(work / "wheels")
        for combination in chosen:
            start = time.monotonic()
            with console.status(combination.label):
                row, output = test(combination, paths[combination.python], wheels, work, options.jobs)
            rows.append(row)
            console.print(f"{combination.label}: {row.verdict} in {time.monotonic() - start:.0f} s {row.tests}")
            if output:
                console.print(output, markup=False, highlight=False)
            if options.write:  # after each row: a run takes long, and may be stopped
                write_page(rows)
    console.print(rich_table(rows))
    return int(any(row.was_tested and row.verdict != PASSED for row in rows))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Test the packages with every supported Python, NumPy and jaxlib.")
    parser.add_argument("--python", nargs="+", default=PYTHONS, choices=PYTHONS)
    parser.add_argument("--numpy", nargs="+", default=tuple(ENDS), choices=tuple(ENDS))
    parser.add_argument("--jaxlib", nargs="+", default=(NONE, *ENDS), choices=(NONE, *ENDS))
    parser.add_argument("--interpreter", action="append", default=[], metavar="VERSION=PATH", help="instead of uv's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes of pytest")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    paths = {}
    for given in options.interpreter:
        version, _, path = given.partition("=")
        if version not in PYTHONS or not Path(path).is_file():
            parser.error(f"--interpreter: expected VERSION=PATH of {', '.join(PYTHONS)}, got {given}")
        paths[version] = path
    options.interpreter = paths
    return options


def find_interpreter(version: str) -> str | None:
    """The path of an interpreter, which uv finds on the machine or else installs; None if it can do neither."""
    find = (uv(), "python", "find", "--no-project", "--system", "--no-python-downloads", version)
    for command in (find, (uv(), "python", "install", version), find):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode == 0 and command is find:
            return done.stdout.strip()
    return None


def test(
    combination: Combination, interpreter: str | None, wheels: Sequence[Path], work: Path, jobs: int
) -> tuple[Row, str]:
    """Test one combination; return its row, and the output of the step that failed."""
    row = Row(combination, date=datetime.date.today().isoformat())
    if interpreter is None:
        return replace(row, verdict=NOT_HERE), ""
    home = work / re.sub(r"\W+", "-", combination.label)
    python = home / "venv/bin/python"
    try:
        write_constraints(home, wheels, BUILT)
        call("venv", uv(), "venv", "--python", interpreter, home / "venv", cwd=work)
        try:
            pins = [resolve("numpy", combination.numpy, home)]
            pins += [resolve("jaxlib", combination.jaxlib, home)] if combination.jaxlib != NONE else []
        except StepFailed as failure:
            return replace(row, verdict=NO_WHEEL), failure.output
        projects = [project(folder)["name"] for folder in combination.folders]
        tools = {requirement for folder in combination.folders for requirement in test_requirements(folder)}
        # Without these, a requirement that has no wheel would be compiled.
        install("install", home, "--only-binary", ":all:", "pytest-xdist", *sorted(tools), *pins, *projects)
        names = [distribution(pin) for pin in pins]
        row = replace(row, versions=call("versions", python, "-c", VERSIONS, *names, cwd=work).strip())
        if combination.free_threaded:
            call("no GIL", python, "-W", "error", "-c", WITHOUT_GIL, cwd=work)
        for folder in combination.folders:
            copy_tests(folder, home)
        # A worker takes tests from another one that is behind.
        output = pytest(home, "-n", str(jobs), "--dist", "worksteal")
        return replace(row, verdict=PASSED, tests=summary(output)), ""
    except StepFailed as failure:
        return replace(row, verdict=f"FAILED: {failure.step}", tests=summary(failure.output)), failure.output


def resolve(name: str, end: str, home: Path) -> str:
    """The pin of the oldest or newest version in the declared range with a wheel for this interpreter."""
    source = home / f"{name}.in"
    source.write_text(declared_range(name))
    options = ("--no-deps", "--no-header", "--no-annotate", "--only-binary", ":all:", "--resolution", ENDS[end])
    return call(
        "resolve", uv(), "pip", "compile", "--quiet", *options, "--python", home / "venv", source, cwd=home.parent
    ).strip()


def summary(output: str) -> str:
    """The counts on pytest's last line.

    >>> summary("=== 1 failed, 12 passed, 3 skipped in 4.56s ===")
    '1 failed, 12 passed, 3 skipped'
    """
    counts = re.findall(r"(\d+ (?:failed|passed|skipped|errors?)\b[^\n]*?) in [\d.]+s", output)
    return counts[-1] if counts else ""


def rich_table(rows: Sequence[Row]) -> Table:
    table = Table(*COLUMNS)
    for row in rows:
        style = "green" if row.verdict == PASSED else "red" if row.was_tested else "dim"
        table.add_row(*row.cells, style=style)
    return table


def read_page() -> Mapping[Combination, Row]:
    """The rows of earlier runs."""
    if not PAGE.exists():
        return {}
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(COLUMNS) and cells[0] in PYTHONS:
            combination = Combination(*cells[:3])
            found[combination] = Row(combination, *cells[3:])
    return found


def write_page(rows: Sequence[Row]) -> None:
    """Write the rows of this run beside those of earlier runs; a tested row is not replaced by one without a test."""
    found = dict(read_page())
    for row in rows:
        if row.was_tested or not found.get(row.combination, row).was_tested:
            found[row.combination] = row
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(found.get(c, Row(c)).cells)} |" for c in combinations()]
    head = HEAD.format(
        pythons=f"{PYTHONS[0]} to {[name for name in PYTHONS if not name.endswith('t')][-1]}",
        numpy=declared_range("numpy").removeprefix("numpy"),
        jaxlib=declared_range("jaxlib").removeprefix("jaxlib"),
        passed=PASSED,
        not_here=NOT_HERE,
        no_wheel=NO_WHEEL,
    )
    PAGE.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
