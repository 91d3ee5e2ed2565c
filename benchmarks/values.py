"""Calls of `lawful.numpy` with NumPy arrays, without a transformation, beside NumPy's own.

    uv run --group bench python -m benchmarks.values                all rows
    uv run --group bench python -m benchmarks.values sum dot        those with a word in their text
    uv run --group bench python -m benchmarks.values --write        puts the table into docs/performance_values.md

A time is the least of 60 samples, which alternate: a difference of tenths of a microsecond is lost in the load that
affects other samples.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks._case import Timed
from benchmarks._measure import sample
from benchmarks._report import machine, readable
from benchmarks._run import write

PAGE: Final = Path(__file__).parent.parent / "docs" / "performance_values.md"
MARK: Final = "<!-- measured by python -m benchmarks.values -->\n"
HEAD: Final = ("call", "lawful", "NumPy", "difference")
#: The largest difference that is aimed at, and the length of a sample, in seconds; and the number of samples.
MOST: Final = 0.3e-6
SAMPLE: Final = 0.001
SAMPLES: Final = 60

#: The fifty functions that SciPy's modules, Autograd's examples and those of this repository call most often, by the
#: mean of the three shares; without those that compute nothing, such as `shape`.
MOST_USED: Final = (
    "np.sum(x)", "np.sum(A, axis=0)", "np.array([1.0, 2.0, 3.0])", "np.array(x)", "np.exp(x)",
    "np.linspace(0.0, 1.0, 8)", "np.concatenate([x, y])", "np.concatenate([A, A], axis=1)", "np.asarray(x)",
    "np.zeros(8)", "np.arange(8)", "np.sqrt(x)", "np.mean(x)", "np.mean(A, axis=0)", "np.dot(x, y)", "np.dot(A, b)",
    "np.log(x)", "np.square(x)", "np.abs(x)", "np.max(x)", "np.reshape(x, (2, 4))", "np.ones(8)", "np.sin(x)",
    "np.where(m, x, y)", "np.where(m, x, 0.0)", "np.atleast_2d(x)", "np.tanh(x)", "np.cos(x)", "np.eye(3)",
    "np.argmax(x)", "np.linalg.norm(x)", "np.maximum(x, y)", "np.maximum(x, 0.5)", "np.stack([x, y])", "np.diag(A)",
    "np.full(8, 1.0)", "np.isnan(x)", "np.any(m)", "np.repeat(x, 2)", 'np.einsum("ij,jk->ik", A, A)', "np.prod(x)",
    "np.allclose(x, y)", "np.split(x, 2)", "np.logical_and(m, m)", "np.isfinite(x)", "np.all(m)", "np.sign(x)",
    "np.logaddexp(x, y)", "np.min(x)", "np.meshgrid(x, y)", "np.expand_dims(x, 0)", "np.zeros_like(x)",
    "np.vstack([x, y])", "np.ceil(x)", "np.flatnonzero(m)", "np.linalg.inv(A)", "np.hstack([x, y])", "np.ravel(A)",
)  # fmt: skip
OTHERS: Final = (
    "np.take(x, i)", "np.take_along_axis(x, i)", "np.add(x, y)", "np.multiply(x, 2.0)", "np.power(x, 2)",
    "np.matmul(A, A)", "np.outer(b, b)", "np.clip(x, 0.2, 0.7)", "np.transpose(A)", "np.moveaxis(A, 0, 1)",
    "np.squeeze(x)", "np.broadcast_to(x, (2, 8))", "np.tile(x, 2)", "np.cumsum(x)", "np.std(x)", "np.var(x)",
    "np.sort(x)", "np.argsort(x)", "np.diff(x)", "np.linalg.solve(A, b)", "np.linalg.det(A)", "np.linalg.cholesky(P)",
)  # fmt: skip


def arguments() -> dict[str, Any]:
    """Returns the arrays in the calls, by name."""
    x = numpy.linspace(0.1, 0.9, 8)
    A = numpy.random.default_rng(0).uniform(size=(3, 3)) + 3 * numpy.eye(3)
    return {
        "x": x, "y": x[::-1].copy(), "m": x > 0.5, "i": numpy.array([0, 2, 1]), "A": A, "P": A @ A.T,
        "b": numpy.arange(3.0),
    }  # fmt: skip


def call(text: str, namespace: str) -> Callable[[], Any]:
    """Returns the function that makes a call, with ``np`` for a namespace."""
    function: Callable[[], Any] = eval(f"lambda: {text}", {"np": importlib.import_module(namespace), **arguments()})
    return function


def row(text: str) -> tuple[tuple[str, ...], bool]:
    """Measures a call; returns the cells, and whether the difference is at most `MOST`."""
    ours, theirs = call(text, "lawful.numpy"), call(text, "numpy")
    numpy.testing.assert_allclose(ours(), theirs(), rtol=1e-12)
    calls = Timed(ours), Timed(theirs)
    loops = max(1, int(SAMPLE / max(sample(calls[1], 100), 1e-9)))
    times = [[sample(timed, loops) for timed in calls] for _ in range(SAMPLES)]
    least = [min(column) for column in zip(*times, strict=True)]
    more = least[0] - least[1]
    return (text, *[readable(x, "") for x in least], f"{more * 1e6:.2f} µs"), more <= MOST


def markdown(groups: dict[str, list[tuple[tuple[str, ...], bool]]]) -> str:
    """Returns the page's table, with the machine and versions."""
    lines = [f"Measured on {machine()}.", "", f"| {' | '.join(HEAD)} |", "|---|---:|---:|---:|"]
    for group, rows in groups.items():
        lines.append(f"| **{group}** | | | |")
        for (text, *times, more), holds in rows:
            lines.append(f"| {' | '.join((f'`{text}`', *times, more if holds else f'**{more}**'))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only rows with one of these in their text")
    parser.add_argument("--write", action="store_true", help=f"write the table into docs/{PAGE.name}")
    options = parser.parse_args()
    shown = Table(*HEAD, title="lawful.numpy and NumPy")
    groups: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for group, texts in (("most used", MOST_USED), ("others", OTHERS)):
        chosen = [text for text in texts if not options.words or any(word in text for word in options.words)]
        groups[group] = [row(text) for text in chosen]
        shown.add_section()
        for (text, *times, more), holds in groups[group]:
            shown.add_row(escape(text), *times, f"[{'green' if holds else 'red'}]{more}")
    Console().print(shown)
    if options.write:
        write(PAGE, MARK, lambda: markdown(groups))


if __name__ == "__main__":
    main()
