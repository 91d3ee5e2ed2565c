"""The objectives of GradBench and ADBench: their values, their derivatives, and what those cost.

    uv run --group examples python examples/gradbench gmm --size small medium
    uv run --group examples python examples/gradbench --eager

Each derivative is compared with finite differences along random directions, and with the formula by hand where there
is one. The table shows how long the objective and its derivative take, by `jit` or eagerly, and the ratio of both;
tracing and compiling the derivative is told apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if not __package__:  # `python examples/gradbench` has this folder on the path, where it needs the one above
    sys.path[0] = str(Path(__file__).parents[1])

from gradbench.bundle_adjustment import bundle_adjustment
from gradbench.determinant import determinant
from gradbench.gmm import gmm
from gradbench.hand_tracking import hand_tracking, hand_tracking_complicated
from gradbench.hello import hello
from gradbench.kmeans import kmeans
from gradbench.least_squares import least_squares
from gradbench.log_sum_exp import logsumexp
from gradbench.lstm import lstm
from gradbench.objective import Objective, difference_check, relative_error
from gradbench.ode import ode
from lawful import tree
from lawful.staging import get_backend, jit

ALL = (
    gmm, bundle_adjustment, hand_tracking, hand_tracking_complicated, lstm, kmeans, logsumexp, least_squares, ode,
    determinant, hello,
)  # fmt: skip
OBJECTIVES = {objective.name: objective for objective in ALL}
TOLERANCE = 1e-6


class Measured(NamedTuple):
    """The result of a run of an objective; times are in seconds."""

    value: float  # of several numbers their norm
    by_differences: float
    by_hand: float | None
    compilation: float | None
    value_time: float
    derivative_time: float

    def is_right(self) -> bool:
        """Tells whether the derivative agrees with what it was compared with."""
        return self.by_differences < TOLERANCE and (self.by_hand is None or self.by_hand < TOLERANCE)


def seconds(f: Callable[[], Any], least: float = 0.3) -> float:
    """Returns the shortest time that a call of ``f`` takes, of at least three calls and ``least`` seconds."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        for x in tree.leaves(f()):
            numpy.asarray(x)  # waits for a device
        times.append(time.perf_counter() - start)
    return min(times)


def on_device(arrays: Any, backend: str | None) -> Any:
    """Returns arrays where the backend wants them, so that no run has to transfer them."""
    if get_backend(backend).name != "xla":
        return arrays
    from lawful.xla_backend import device_put

    return device_put(arrays)


def measure(objective: Objective, size: str, *, seed: int, backend: str | None, eager: bool) -> Measured:
    """Runs an objective and its derivative."""
    parameters, data = objective.generate(**objective.sizes[size], seed=seed)
    value, derivative, at = objective.value, objective.derivative, (parameters, data)
    if not eager:
        value, derivative, at = jit(value, backend=backend), jit(derivative, backend=backend), on_device(at, backend)
    start = time.perf_counter()
    found = derivative(*at)
    first_call = time.perf_counter() - start
    first = numpy.asarray(value(*at))
    derivative_time = seconds(lambda: derivative(*at))
    return Measured(
        value=float(first) if first.ndim == 0 else float(numpy.linalg.norm(first)),
        by_differences=difference_check(objective, found, parameters, data),
        by_hand=objective.by_hand and relative_error(found, objective.by_hand(parameters, data)),
        compilation=None if eager else first_call - derivative_time,
        value_time=seconds(lambda: value(*at)),
        derivative_time=derivative_time,
    )


def duration(s: float) -> str:
    """Returns a time with a fitting unit."""
    return f"{s:.2f} s" if s >= 1.0 else f"{s * 1e3:.3g} ms" if s >= 1e-3 else f"{s * 1e6:.3g} µs"


def row(name: str, numbers: str, run: Measured) -> list[str]:
    """Returns what the table shows of a run, in two lines."""
    by_hand = "" if run.by_hand is None else f"{run.by_hand:.0e}"
    return [
        f"{name}\n  {numbers}",
        f"{run.value:.8g}",
        f"{run.by_differences:.0e}\n{by_hand}",
        "" if run.compilation is None else duration(run.compilation),
        f"{duration(run.value_time)}\n{duration(run.derivative_time)}",
        f"{run.derivative_time / run.value_time:.1f}",
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="gradbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("objective", nargs="*", help=f"of {', '.join(OBJECTIVES)} (default: all)")
    parser.add_argument(
        "--size", nargs="+", default=["small"], choices=list(gmm.sizes), help="one or several (default: small)"
    )
    parser.add_argument("--eager", action="store_true", help="without jit")
    parser.add_argument("--backend", help="xla or numpy (default: XLA where it is installed)")
    parser.add_argument("--seed", type=int, default=31337, help="of the data (default: 31337, GradBench's)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.objective if name not in OBJECTIVES]
    if unknown:
        parser.error(f"objective: expected some of {', '.join(OBJECTIVES)}, got {', '.join(unknown)}")

    console = Console()
    console.print("eager" if options.eager else f"backend: {get_backend(options.backend).name}")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("objective f", no_wrap=True)
    for heading in ("value", "error by\ndifference\nby hand", "compile\nf'", "time\nof f\nof f'", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    wrong: list[str] = []
    for name in options.objective or OBJECTIVES:
        objective = OBJECTIVES[name]
        for size in options.size:
            numbers = " ".join(f"{key}={number}" for key, number in objective.sizes[size].items())
            with console.status(f"{name}, {numbers}"):
                run = measure(objective, size, seed=options.seed, backend=options.backend, eager=options.eager)
            table.add_row(*row(name, numbers, run))
            if not run.is_right():
                wrong.append(f"{name}, {numbers}: expected errors below {TOLERANCE:g}")
    console.print(table)
    for what in wrong:
        console.print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
