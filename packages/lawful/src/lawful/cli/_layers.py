"""`lawful` without a subcommand: the installed layers, and the backends of `jit`."""

from __future__ import annotations

import json
from argparse import Namespace
from importlib.metadata import distributions, entry_points

from lawful.cli._usage import HOLDS


def layers(arguments: Namespace) -> int:
    """Prints the installed distributions of lawful with their versions and summaries, and the backends."""
    found = {(d.name, d.version, d.metadata["Summary"]) for d in distributions() if d.name.startswith("lawful-")}
    backends = sorted(set(entry_points(group="lawful.backends").names))
    if arguments.json:
        rows = [dict(zip(("name", "version", "summary"), row, strict=True)) for row in sorted(found)]
        print(json.dumps({"layers": rows, "backends": backends}, indent=2))
        return HOLDS
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("layer", "version", "what it holds", box=None)
    for row in sorted(found):
        table.add_row(*row)
    console.print(table)
    console.print("Backends of jit:", ", ".join(backends))
    return HOLDS
