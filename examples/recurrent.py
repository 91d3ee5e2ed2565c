"""A recurrent network that reads handwritten digits row by row, trained through a `scan`.

    uv run --group examples python examples/recurrent.py

The network is an LSTM (Hochreiter and Schmidhuber 1997) with the forget gate of Gers, Schmidhuber and Cummins (2000).
An image is a sequence of eight rows; `scan` carries the cell and the hidden state from row to row, so that the program
is as long for eight rows as for eight thousand, and so is its gradient, which is a `scan` backwards.

It prints the accuracy on test images after the last row, and draws the loss, how sure the network grows from row to
row, and some images with what it says after each row.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import adam
import numpy
from command import parser, picture, progress_bar
from digits import load
from rich.console import Console

import lawful.numpy as np
from lawful import random
from lawful.autodiff import value_and_grad
from lawful.batching import vmap
from lawful.control_flow import scan
from lawful.special import expit, logsumexp
from lawful.staging import get_backend, jit

SIDE, HIDDEN, BATCH = 8, 48, 64


def initial_parameters(seed: int) -> dict[str, Any]:
    """Returns weights of the four gates, side by side, and those of the scores."""
    keys = random.split(random.key(seed), 3)
    scale = 1.0 / numpy.sqrt(HIDDEN)
    return {
        "input": scale * random.normal(keys[0], (SIDE, 4 * HIDDEN)),
        "state": scale * random.normal(keys[1], (HIDDEN, 4 * HIDDEN)),
        # A forget gate that begins open keeps what the first rows say.
        "bias": numpy.repeat([0.0, 1.0, 0.0, 0.0], HIDDEN),
        "scores": scale * random.normal(keys[2], (HIDDEN, 10)),
    }


def read_row(parameters: dict[str, Any], state: tuple[Any, Any], row: Any) -> tuple[Any, Any]:
    """Returns the cell and the hidden state after a row, and the scores then."""
    cell, hidden = state
    gates = row @ parameters["input"] + hidden @ parameters["state"] + parameters["bias"]
    take, keep, show, new = np.split(gates, 4)
    cell = expit(keep) * cell + expit(take) * np.tanh(new)
    hidden = expit(show) * np.tanh(cell)
    return (cell, hidden), hidden @ parameters["scores"]


def scores(parameters: dict[str, Any], image: Any) -> Any:
    """Returns the ten scores of an image after each of its rows."""
    start = (np.zeros(HIDDEN), np.zeros(HIDDEN))
    return scan(lambda state, row: read_row(parameters, state, row), start, image.reshape(SIDE, SIDE))[1]


def log_probabilities(parameters: dict[str, Any], image: Any) -> Any:
    """Returns the logarithms of the probabilities of the ten digits after each row."""
    each = scores(parameters, image)
    return each - logsumexp(each, axis=1, keepdims=True)


def loss(parameters: dict[str, Any], images: Any, labels: Any) -> Any:
    """Returns minus the mean log-probability of the right digits after the last row."""
    last = vmap(lambda image: log_probabilities(parameters, image)[-1])(images)
    return -np.mean(np.take_along_axis(last, labels[:, None], 1))


def train_step(parameters: Any, optimizer: Any, images: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Returns parameters and optimizer after a step, and the loss before it."""
    value, gradient = value_and_grad(loss)(parameters, images, labels)
    optimizer, parameters = adam.update(optimizer, parameters, gradient, 4e-3)
    return parameters, optimizer, value


def draw(losses: list[float], sure: Any, images: Any, said: Any, labels: Any, path: Path) -> None:
    """Draws the loss, the probability of the right digit by row, and images with the digits said."""
    with picture(path, figsize=(11, 6)) as figure:
        axes = figure.subplot_mosaic([["loss"] * 4 + ["sure"] * 4, [f"image {i}" for i in range(8)]])
        axes["loss"].plot(losses, color="tab:blue", linewidth=0.6)
        axes["loss"].set(yscale="log", xlabel="step", ylabel="loss of a batch", title="training")
        rows = numpy.arange(1, SIDE + 1)
        low, middle, high = numpy.quantile(sure, [0.25, 0.5, 0.75], axis=0)
        axes["sure"].fill_between(rows, low, high, color="tab:blue", alpha=0.25, label="half of the test images")
        axes["sure"].plot(rows, middle, "o-", color="tab:blue", label="median")
        axes["sure"].set(xlabel="rows read", ylabel="probability of the right digit", title="reading")
        axes["sure"].legend(loc="upper left")
        for i in range(8):
            shown = axes[f"image {i}"]
            shown.imshow(images[i].reshape(SIDE, SIDE), cmap="Greys")
            shown.set(xticks=[], title=f"{labels[i]}")
            shown.set_yticks(range(SIDE), [str(digit) for digit in said[i]])
            shown.yaxis.tick_right()
            for tick, digit in zip(shown.get_yticklabels(), said[i], strict=True):
                tick.set_color("tab:green" if digit == labels[i] else "tab:red")
        for name in ("loss", "sure"):
            axes[name].spines[["top", "right"]].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "recurrent")
    options_of.add_argument("--steps", type=int, default=1500, help="steps of training (default: 1500)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    learn, test = load(options.seed)
    rng = numpy.random.default_rng(options.seed)
    parameters = initial_parameters(options.seed)
    optimizer = adam.start(parameters)
    step = jit(train_step, backend=options.backend)
    losses = []
    with progress_bar(console, "training", options.steps, "loss") as done:
        for _ in range(options.steps):
            chosen = rng.integers(len(learn.labels), size=BATCH)
            parameters, optimizer, value = step(parameters, optimizer, learn.images[chosen], learn.labels[chosen])
            losses.append(float(value))
            done(losses[-1])

    by_row = jit(vmap(log_probabilities, in_axes=(None, 0)), backend=options.backend)
    log_p = numpy.asarray(by_row(parameters, test.images))
    said = numpy.argmax(log_p, axis=2)
    accuracy = numpy.mean(said[:, -1] == test.labels)
    after = ", ".join(f"{numpy.mean(said[:, i] == test.labels):.0%}" for i in range(SIDE))
    console.print(f"right after 1, 2, … rows: {after}")
    console.print(f"accuracy on {len(test.labels)} test images: {accuracy:.1%}")
    sure = numpy.exp(numpy.take_along_axis(log_p, test.labels[:, None, None], 2)[:, :, 0])
    draw(losses, sure, test.images[:8], said[:8], test.labels[:8], options.output)
    console.print(f"picture: {options.output}")
    return 0 if accuracy >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
