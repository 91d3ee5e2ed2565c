"""The command line that examples share: options, a progress bar, a picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def parser(description: str, name: str) -> argparse.ArgumentParser:
    """Returns a parser of the options that all examples have; ``name`` is that of the picture."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    made.add_argument("--backend", help="xla or numpy (default: XLA where it is installed)")
    picture = Path(__file__).parent / "output" / f"{name}.png"
    made.add_argument("--output", type=Path, default=picture, help="the picture")
    return made


@contextmanager
def progress_bar(console: Console, what: str, total: int | None, shown: str) -> Iterator[Callable[[float], None]]:
    """Gives a function to be called with each step's value of what is shown; ``total`` steps, None if not known."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(shown + " {task.fields[value]:.5g}"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(what, total=total, value=float("nan"))
        yield lambda value: bar.update(task, advance=1, value=value)


@contextmanager
def picture(path: Path, **figure: Any) -> Iterator[Any]:
    """Gives a figure to draw on, and saves it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawn = plt.figure(layout="constrained", **figure)
    yield drawn
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=100)
    plt.close(drawn)
