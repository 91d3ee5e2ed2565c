"""The measurements as a text table, as Markdown and as JSON."""

from __future__ import annotations

import math
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rich.table import Table

from benchmarks._case import Case
from benchmarks._measure import Measured
from benchmarks._systems import missing

HEAD = ("what", "lawful", "peer", "ratio", "quartiles", "at most")
NO_AIM = "–"
COLOURS = {True: "green", False: "red", None: "default"}


@dataclass(frozen=True, slots=True)
class Row:
    """A case and its measurements."""

    case: Case
    measured: Measured

    def cells(self) -> list[tuple[tuple[str, ...], bool | None]]:
        """Returns the cells of a line for each installed peer, and whether lawful keeps within the aim, if any."""
        lines: list[tuple[tuple[str, ...], bool | None]] = []
        for peer, most in self.case.most.items():
            if peer not in self.measured.samples:
                continue
            ratio, low, high = self.measured.ratio(peer)
            texts = (
                self.case.name, readable(self.measured.median("lawful"), self.case.unit),
                f"{peer} {readable(self.measured.median(peer), self.case.unit)}",
                f"{ratio:.3g}", f"{low:.3g}–{high:.3g}", NO_AIM if most is None else f"{most:g}",
            )  # fmt: skip
            lines.append((texts, None if most is None else ratio <= most))
        return lines


def readable(value: float, unit: str) -> str:
    """Returns seconds, or bytes, with three digits and a suitable unit; seconds per program as programs per second."""
    if unit == "bytes":
        return f"{value / 2**20:.3g} MiB"
    if unit == "s a program":
        return f"{1 / value:.3g}/s"
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def table(rows: list[Row]) -> Table:
    """Returns the text table."""
    shown = Table(*HEAD, title="lawful and its peers", caption=_not_installed() or None)
    group = ""
    for row in rows:
        if row.case.group != group:
            group = row.case.group
            shown.add_section()
            shown.add_row(f"[bold]{group}")
        for texts, holds in row.cells():
            shown.add_row(*texts[:3], f"[{COLOURS[holds]}]{texts[3]}", *texts[4:])
    return shown


def markdown(rows: list[Row]) -> str:
    """Returns the page's table, with the machine and versions."""
    lines = [
        f"Measured on {machine()}. {_not_installed()}".rstrip(),
        "",
        f"| {' | '.join(HEAD)} |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    group = ""
    for row in rows:
        if row.case.group != group:
            group = row.case.group
            lines.append(f"| **{group}** | | | | | |")
        for texts, holds in row.cells():
            ratio = f"**{texts[3]}**" if holds is False else texts[3]
            lines.append(f"| {' | '.join((*texts[:3], ratio, *texts[4:]))} |")
    return "\n".join(lines) + "\n"


def means(rows: list[Row]) -> str:
    """Returns a Markdown table of the geometric means of ratios, by group and peer."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        for peer in row.case.most:
            if peer in row.measured.samples:
                ratios.setdefault((row.case.group, peer), []).append(row.measured.ratio(peer)[0])
    lines = ["| group | peer | rows | geometric mean | largest |", "|---|---|---:|---:|---:|"]
    for (group, peer), found in ratios.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        lines.append(f"| {group} | {peer} | {len(found)} | {mean:.3g} | {max(found):.3g} |")
    return "\n".join(lines) + "\n"


def document(rows: list[Row]) -> dict[str, Any]:
    """Returns all samples, with the machine and versions."""
    return {
        "machine": machine(),
        "versions": _versions(),
        "not installed": missing(),
        "cases": [
            {
                "group": row.case.group,
                "name": row.case.name,
                "unit": row.case.unit or "s",
                "most": dict(row.case.most),
                "loops": dict(row.measured.loops),
                "samples": {name: list(samples) for name, samples in row.measured.samples.items()},
            }
            for row in rows
        ],
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("numpy", "jaxlib", "jax", "autograd", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _not_installed() -> str:
    """Returns the sentence about missing peers; empty if all are installed."""
    return f"Left out, because it is not installed: {', '.join(missing())}." if missing() else ""


def machine() -> str:
    versions = ", ".join(f"{name} {number}" for name, number in _versions().items())
    return f"{os.cpu_count()} cores ({platform.machine()}) with {versions}"
