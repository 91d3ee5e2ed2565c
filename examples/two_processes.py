"""Several processes train a classifier of handwritten digits together, each with its own part of every batch.

    uv run --group examples python examples/two_processes.py

starts two processes on this machine, as ``python -m lawful.parallel -n 2`` does. On several machines, start it on each
with the environment variables that `lawful.parallel.initialize` reads.

Each process loads the examples of its rows only. The step is written for the whole batch: `jit` runs it where the data
lies, and XLA adds the sums over processes. At the end process 0 trains once more alone, on whole batches, compares the
losses, and draws both curves; the losses have to agree to nearly all digits.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adam
import numpy
from command import parser, picture
from digits import BATCH, Digits, initial_parameters, load, loss

from lawful import parallel
from lawful.autodiff import value_and_grad
from lawful.parallel import NamedSharding, P, make_mesh
from lawful.staging import jit
from lawful.xla_backend import device_put, make_array_from_process_local_data

#: Places a value of the host for the step: the same value in all processes, or each process's rows.
Place = Callable[[Any], Any]


def step(parameters: Any, optimizer: adam.Adam, images: Any, labels: Any) -> tuple[Any, adam.Adam, Any]:
    """Returns parameters and optimizer after one step on a batch, and the loss before it."""
    value, gradient = value_and_grad(loss)(parameters, images, labels)
    optimizer, parameters = adam.update(optimizer, parameters, gradient, 3e-3)
    return parameters, optimizer, value


def train(learn: Digits, rows: slice, steps: int, seed: int, replicate: Place, split: Place) -> list[float]:
    """Returns the losses of a training, in which this process gives some rows of each batch."""
    rng = numpy.random.default_rng(seed)
    parameters = replicate(initial_parameters(seed))
    optimizer = replicate(adam.start(initial_parameters(seed)))
    compiled = jit(step)
    losses = []
    for _ in range(steps):
        chosen = rng.integers(len(learn.labels), size=BATCH)[rows]  # the same batch in all processes
        images, labels = split(learn.images[chosen]), split(learn.labels[chosen])
        parameters, optimizer, value = compiled(parameters, optimizer, images, labels)
        losses.append(float(value))
    return losses


def train_together(learn: Digits, steps: int, seed: int) -> list[float]:
    """Returns the losses of a training by all processes, the same in each."""
    mesh = make_mesh((parallel.device_count(),), ("batch",))
    rows = numpy.split(numpy.arange(BATCH), parallel.process_count())[parallel.process_index()]
    everywhere, by_rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("batch"))
    return train(
        learn,
        slice(rows[0], rows[-1] + 1),
        steps,
        seed,
        lambda value: device_put(value, everywhere),
        lambda part: make_array_from_process_local_data(by_rows, part),
    )


def draw(together: list[float], alone: list[float], path: Path) -> None:
    """Draws the losses of both trainings, and how they differ."""
    with picture(path, figsize=(8, 5)) as figure:
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        top.plot(alone, color="0.8", linewidth=4, label="one process")
        top.plot(together, color="tab:blue", linewidth=1, label=f"{parallel.process_count()} processes")
        top.set_ylabel("loss")
        top.legend()
        bottom.plot(numpy.abs(numpy.subtract(together, alone)), color="tab:red", linewidth=1)
        bottom.set(xlabel="step", ylabel="difference")


def main(arguments: list[str] | None = None) -> int:
    """Runs the example; the exit status is 1 if the losses differ from those of one process."""
    assert __doc__ is not None
    made = parser(__doc__, "two_processes")
    made.add_argument("--steps", type=int, default=300, help="of training (default: 300)")
    made.add_argument("--processes", type=int, default=2, help="to start on this machine (default: 2)")
    options = made.parse_args(arguments)
    if "LAWFUL_PROCESS_ID" not in os.environ:
        program = [__file__, *(sys.argv[1:] if arguments is None else arguments)]
        launcher = [sys.executable, "-m", "lawful.parallel", "-n", str(options.processes)]
        return subprocess.run([*launcher, *program], check=False).returncode

    parallel.initialize()
    learn, _ = load(options.seed)
    together = train_together(learn, options.steps, options.seed)
    parallel.assert_equal(together, "all processes have the same losses")
    if parallel.process_index() > 0:
        return 0
    alone = train(learn, slice(None), options.steps, options.seed, lambda value: value, lambda part: part)
    difference = numpy.max(numpy.abs(numpy.subtract(together, alone)))
    print(f"{parallel.process_count()} processes: loss {together[0]:.6f} at first, {together[-1]:.6f} at last")
    print(f"largest difference from the losses of one process: {difference:.1e}")
    draw(together, alone, options.output)
    return 0 if difference < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
