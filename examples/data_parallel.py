"""A classifier of handwritten digits trained on eight devices, each with its part of every batch.

    uv run --group examples python examples/data_parallel.py

The CPU counts as eight devices. `jit` runs a step, written for the whole batch, where its arguments are: the images
and labels of a batch are split over a mesh, the parameters are whole on each device, and XLA adds the sums. `shard_map`
does the same by hand: each device has the loss of its images, and `pmean` averages. Each way trains from the same
weights on the same batches. A table shows the losses side by side; if they differ from those of one device, the
status is 1.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import adam
import numpy
from command import parser, picture, progress_bar
from digits import BATCH, Digits, initial_parameters, load, loss
from rich.console import Console
from rich.table import Table

from lawful import parallel, tree
from lawful.autodiff import value_and_grad
from lawful.batching import pmean
from lawful.parallel import NamedSharding, P, make_mesh, shard_map
from lawful.staging import jit
from lawful.xla_backend import device_put

DEVICES = 8
ALLOWED = 1e-9  # relative difference of losses


class Way(NamedTuple):
    """A way to train: a compiled step, and where it wants parameters and batches."""

    name: str
    step: Callable[..., Any]
    whole: Any
    split: Any


def step(parameters: Any, optimizer: adam.Adam, images: Any, labels: Any) -> tuple[Any, adam.Adam, Any]:
    """Returns parameters and optimizer after one step on a batch, and the loss before it."""
    value, gradient = value_and_grad(loss)(parameters, images, labels)
    optimizer, parameters = adam.update(optimizer, parameters, gradient, 3e-3)
    return parameters, optimizer, value


def step_by_hand(parameters: Any, optimizer: adam.Adam, images: Any, labels: Any) -> tuple[Any, adam.Adam, Any]:
    """Returns what `step` does, from the part of the batch that one device has."""

    def mean_loss(parameters: Any) -> Any:
        return pmean(loss(parameters, images, labels), "batch")

    value, gradient = value_and_grad(mean_loss)(parameters)
    optimizer, parameters = adam.update(optimizer, parameters, gradient, 3e-3)
    return parameters, optimizer, value


def ways() -> list[Way]:
    """Returns training on one device, and on all of them by `jit` and by `shard_map`."""
    mesh = make_mesh((DEVICES,), ("batch",))
    whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("batch"))
    first = parallel.devices()[0]
    mapped = shard_map(step_by_hand, mesh=mesh, in_specs=(P(), P(), P("batch"), P("batch")), out_specs=P())
    return [
        Way("one device", jit(step), first, first),
        Way("jit on eight", jit(step), whole, split),
        Way("shard_map on eight", jit(mapped), whole, split),
    ]


def train(way: Way, learn: Digits, steps: int, seed: int, console: Console) -> tuple[list[float], float]:
    """Returns the loss of each step, and the seconds that a step takes."""
    rng = numpy.random.default_rng(seed)
    parameters = initial_parameters(seed)
    parameters, optimizer = device_put((parameters, adam.start(parameters)), way.whole)
    losses: list[float] = []
    with progress_bar(console, way.name, steps, "loss") as bar:
        start = time.perf_counter()
        for number in range(steps):
            chosen = rng.integers(len(learn.labels), size=BATCH)
            images, labels = device_put((learn.images[chosen], learn.labels[chosen]), way.split)
            parameters, optimizer, value = way.step(parameters, optimizer, images, labels)
            losses.append(float(value))
            if number == 0:  # the step is compiled
                start = time.perf_counter()
            bar(losses[-1])
    assert all(x.sharding.device_set == value.sharding.device_set for x in tree.leaves(parameters))
    return losses, (time.perf_counter() - start) / max(steps - 1, 1)


def draw(curves: dict[str, list[float]], path: Path) -> None:
    """Draws the curves, one inside the other, and how far they are from that of one device."""
    with picture(path, figsize=(9, 4)) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(2, 1))
        reference, *others = curves.values()
        for (name, losses), width in zip(curves.items(), (5.0, 2.5, 0.8), strict=True):
            left.plot(losses, linewidth=width, label=name, alpha=0.7)
        left.set(yscale="log", xlabel="step", ylabel="loss", title="the same batches, on one device and on eight")
        left.legend(frameon=False)
        for name, losses, color in zip([*curves][1:], others, ("tab:orange", "tab:green"), strict=True):
            off = numpy.abs(numpy.array(losses) / numpy.array(reference) - 1.0)
            right.plot(numpy.maximum(off, 1e-18), linewidth=0.8, color=color, label=name)
        right.set(yscale="log", xlabel="step", title="relative difference")
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    """Runs the example; the exit status is 1 if the losses differ from those of one device."""
    assert __doc__ is not None
    made = parser(__doc__, "data_parallel")
    made.add_argument("--steps", type=int, default=500, help="of training (default: 500)")
    options = made.parse_args(arguments)
    parallel.set_cpu_device_count(DEVICES)
    console = Console()
    learn, _ = load(options.seed)
    curves: dict[str, list[float]] = {}
    times = []
    for way in ways():
        curves[way.name], seconds = train(way, learn, options.steps, options.seed, console)
        times.append(seconds)
    table = Table("step", *curves, title="loss")
    for number in sorted({0, *numpy.linspace(0, options.steps - 1, 6).astype(int).tolist()}):
        table.add_row(str(number), *[f"{losses[number]:.12f}" for losses in curves.values()])
    table.add_section()
    table.add_row("time of a step", *[f"{1e3 * seconds:.2f} ms" for seconds in times])
    console.print(table)
    draw(curves, options.output)
    console.print(f"picture: {options.output}")
    reference, *others = map(numpy.array, curves.values())
    worst = max(float(numpy.max(numpy.abs(losses / reference - 1.0))) for losses in others)
    console.print(f"largest relative difference from one device: {worst:.1e}")
    if not worst < ALLOWED:
        console.print(f"expected at most {ALLOWED:.0e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
