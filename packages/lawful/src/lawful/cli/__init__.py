"""The `lawful` command: says which layers are installed, in which versions, and what `jit` can compile with."""

import argparse
from collections.abc import Sequence
from importlib.metadata import distributions, entry_points, version

from rich.console import Console
from rich.table import Table

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status.

    Args:
      argv: the arguments after the command's name; those of the process if None.
    """
    parser = argparse.ArgumentParser(prog="lawful", description="Show the installed layers of lawful.")
    parser.add_argument("--version", action="version", version=f"lawful {version('lawful')}")
    parser.parse_args(argv)
    console = Console()
    console.print(layers())
    console.print("Backends of jit:", ", ".join(sorted(entry_points(group="lawful.backends").names)))
    return 0


def layers() -> Table:
    """Returns the installed distributions of lawful with their versions and summaries."""
    table = Table("layer", "version", "what it holds", box=None)
    rows = {(d.name, d.version, d.metadata["Summary"]) for d in distributions() if d.name.startswith("lawful-")}
    for row in sorted(rows):
        table.add_row(*row)
    return table
