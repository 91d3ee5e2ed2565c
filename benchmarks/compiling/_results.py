"""Results of compilations: stored in a file, judged, and printed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from benchmarks.compiling._worker import Result, Worker

RATIO, LEAST = 1.2, 0.2
Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """The times of lawful and JAX for one program."""

    row: Row
    ours: Result
    theirs: Result

    @property
    def stage(self) -> str:
        """The judged stage: for functions XLA's alone, which is stricter."""
        return "total" if self.row[0] == "random" else "compile"

    @property
    def ratio(self) -> float | None:
        """The ratio of lawful's time to JAX's; None if either is missing."""
        if self.stage not in self.ours or self.stage not in self.theirs:
            return None
        return float(self.ours[self.stage] / self.theirs[self.stage])

    @property
    def is_slow(self) -> bool:
        """Whether it misses its bound."""
        ours = self.ours.get(self.stage, float("inf"))
        theirs = self.theirs.get(self.stage, 0.0)
        return bool(ours > theirs if self.row[0] == "random" else ours > max(LEAST, RATIO * theirs))

    def line(self) -> str:
        """Returns the row as a line of text."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        mark = "  [red]slow[/]" if self.is_slow else ""
        name = f"{self.row[0]}.{self.row[1]}, {self.row[2]}"
        return f"{name:44} {shown(self.ours, self.stage):>12} {shown(self.theirs, self.stage):>12} {ratio:>6}{mark}"


def shown(result: Result, stage: str) -> str:
    """Returns milliseconds, or why there are none."""
    return f"{result[stage] * 1e3:.0f} ms" if stage in result else str(result["error"])[:60]


class Results:
    """Results by program, read from a file and written to it one by one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.found: dict[Row, Compared] = {}
        if path is not None and path.exists():
            for entry in json.loads(path.read_text(encoding="utf-8")):
                row = (entry["module"], entry["name"], entry["form"])
                self.found[row] = Compared(row, entry["lawful"], entry["jax"])

    def get(self, row: Row) -> Compared | None:
        """Returns the stored times of a program, or None."""
        return self.found.get(row)

    def measure(self, row: Row, workers: Mapping[str, Worker]) -> Compared:
        """Measures a program, a slow one twice; the shorter time counts, because the machine may be busy."""
        found = Compared(row, *[workers[name].measure(row) for name in ("lawful", "jax")])
        if found.is_slow and "error" not in found.ours:
            again = [workers[name].measure(row) for name in ("lawful", "jax")]
            found = Compared(row, *map(least, (found.ours, found.theirs), again))
        self.found[row] = found
        if self.path is not None:
            entries = [
                {"module": r[0], "name": r[1], "form": r[2], "lawful": c.ours, "jax": c.theirs}
                for r, c in self.found.items()
            ]
            text = ",\n".join(map(json.dumps, entries))
            part = self.path.with_suffix(".part")
            part.write_text(f"[\n{text}\n]\n", encoding="utf-8")
            part.replace(self.path)
        return found

    def table(self, rows: Sequence[Compared | None]) -> Table:
        """Returns the slow rows and their number."""
        slow = [row for row in rows if row is not None and row.is_slow]
        table = Table("program", "lawful", "jax", "ratio", title=f"{len(slow)} slow of {len(rows)}")
        for row in slow:
            ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
            name = f"{row.row[0]}.{row.row[1]}, {row.row[2]}"
            table.add_row(name, shown(row.ours, row.stage), shown(row.theirs, row.stage), ratio)
        return table


def least(one: Result, other: Result) -> Result:
    """Returns the shorter of two measurements, stage by stage."""
    if "error" in one or "error" in other:
        return one if "error" in other else other
    return {stage: min(one[stage], other[stage]) for stage in one}
