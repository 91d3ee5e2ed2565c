"""A classifier of handwritten digits, from scratch: the real UCI digits, 8 x 8 pixels each.

    uv run --group examples python examples/digits.py

A network with one hidden layer is trained by Adam on minibatches. The gradient is `grad` of the loss, the step is
compiled by `jit`, and the norm of every single example's gradient comes from `vmap(grad(...))`: the examples that
pull hardest on the trained network are those that it finds hardest, or that are badly written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import lawful.numpy as np
from lawful import tree
from lawful.autodiff import grad, value_and_grad
from lawful.batching import vmap
from lawful.staging import get_backend, jit

REQUIRED_ACCURACY = 0.96
BATCH = 64
HIDDEN = 64


class Digits(NamedTuple):
    """Images as rows of 64 pixels between 0 and 1, and the digit of each."""

    images: Any
    labels: Any


def load(seed: int) -> tuple[Digits, Digits]:
    """Returns the examples to learn from, and a fifth of all to test on."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = numpy.random.default_rng(seed).permutation(len(data.target))
    images, labels = data.data[order] / 16.0, data.target[order]
    held_out = len(labels) // 5
    return Digits(images[held_out:], labels[held_out:]), Digits(images[:held_out], labels[:held_out])


def initial_parameters(seed: int) -> dict[str, Any]:
    """Returns random weights of a size that keeps activations of order one, and biases of zero."""
    rng = numpy.random.default_rng(seed)
    return {
        "hidden": {"w": rng.normal(size=(64, HIDDEN)) / 8.0, "b": numpy.zeros(HIDDEN)},
        "out": {"w": rng.normal(size=(HIDDEN, 10)) / HIDDEN**0.5, "b": numpy.zeros(10)},
    }


def scores(parameters: dict[str, Any], image: Any) -> Any:
    """Returns the ten scores of one image, or of a batch of them."""
    hidden = np.tanh(image @ parameters["hidden"]["w"] + parameters["hidden"]["b"])
    return hidden @ parameters["out"]["w"] + parameters["out"]["b"]


def cross_entropy(parameters: dict[str, Any], image: Any, label: Any) -> Any:
    """Returns minus the log-probability that the network gives to the right digit of one image."""
    s = scores(parameters, image)
    s = s - np.max(s)
    return np.log(np.sum(np.exp(s))) - np.sum(np.where(np.arange(10) == label, s, 0.0))


def loss(parameters: dict[str, Any], images: Any, labels: Any) -> Any:
    """Returns the mean cross-entropy of a batch, with a penalty on large weights."""
    penalty = tree.reduce(lambda total, w: total + np.sum(np.square(w)), parameters, 0.0)
    return np.mean(vmap(cross_entropy, in_axes=(None, 0, 0))(parameters, images, labels)) + 1e-4 * penalty


class Adam(NamedTuple):
    """The state of the optimizer of Kingma and Ba (2015): running means of gradients and of their squares."""

    step: Any
    mean: Any
    square: Any


def train_step(parameters: Any, adam: Adam, images: Any, labels: Any) -> tuple[Any, Adam, Any]:
    """Returns parameters and optimizer after one step on a batch, and the loss before it."""
    value, gradient = value_and_grad(loss)(parameters, images, labels)
    step = adam.step + 1.0
    mean = tree.map(lambda m, g: 0.9 * m + 0.1 * g, adam.mean, gradient)
    square = tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, adam.square, gradient)
    rate = 3e-3 * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
    parameters = tree.map(lambda p, m, v: p - rate * m / (np.sqrt(v) + 1e-8), parameters, mean, square)
    return parameters, Adam(step, mean, square), value


def gradient_norm(parameters: dict[str, Any], image: Any, label: Any) -> Any:
    """Returns the length of the gradient of one example's loss: how hard it pulls on the network."""
    gradient = grad(cross_entropy)(parameters, image, label)
    return np.sqrt(tree.reduce(lambda total, g: total + np.sum(np.square(g)), gradient, 0.0))


class Result(NamedTuple):
    """A trained network, the loss at each step, and what it makes of the test images."""

    parameters: Any
    losses: list[float]
    predictions: Any
    accuracy: float
    norms: Any


def train(steps: int, seed: int, backend: str | None, console: Console) -> tuple[Result, Digits, Digits]:
    """Trains a network and tests it."""
    learn, test = load(seed)
    rng = numpy.random.default_rng(seed)
    parameters = initial_parameters(seed)
    zeros = tree.map(numpy.zeros_like, parameters)
    adam = Adam(numpy.float64(0.0), zeros, zeros)
    step = jit(train_step, backend=backend)
    losses: list[float] = []
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("loss {task.fields[loss]:.4f}"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("training", total=steps, loss=float("nan"))
        for _ in range(steps):
            chosen = rng.integers(len(learn.labels), size=BATCH)
            parameters, adam, value = step(parameters, adam, learn.images[chosen], learn.labels[chosen])
            losses.append(float(value))
            progress.update(task, advance=1, loss=losses[-1])
    predictions = numpy.argmax(numpy.asarray(jit(scores, backend=backend)(parameters, test.images)), axis=1)
    norms = jit(vmap(gradient_norm, in_axes=(None, 0, 0)), backend=backend)(parameters, learn.images, learn.labels)
    accuracy = float(numpy.mean(predictions == test.labels))
    return Result(parameters, losses, predictions, accuracy, numpy.asarray(norms)), learn, test


def draw(result: Result, learn: Digits, test: Digits, path: Path) -> None:
    """Draws the loss, some test digits with what the network says, and the examples that pull hardest."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 7), layout="constrained")
    top, middle, bottom = figure.subfigures(3, 1, height_ratios=(1.5, 1.0, 0.6))

    axes = top.subplots()
    axes.plot(result.losses, color="0.8", linewidth=0.8, label="each minibatch")
    width = max(1, len(result.losses) // 30)
    smooth = numpy.convolve(result.losses, numpy.ones(width) / width, mode="valid")
    axes.plot(numpy.arange(len(smooth)) + width / 2, smooth, color="tab:blue", label=f"mean of {width}")
    axes.set(yscale="log", xlabel="step", ylabel="loss", title=f"test accuracy {result.accuracy:.1%}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")

    wrong = numpy.flatnonzero(result.predictions != test.labels)[:8]
    right = numpy.flatnonzero(result.predictions == test.labels)[: 24 - len(wrong)]
    middle.suptitle("test digits as classified; in red where the label says otherwise")
    for cell, i in zip(middle.subplots(2, 12).flat, numpy.concatenate([right, wrong]), strict=False):
        said, label = result.predictions[i], test.labels[i]
        show(cell, test.images[i], f"{said}" if said == label else f"{said}, not {label}", said != label)

    bottom.suptitle("training digits with the longest gradients, their label and the length")
    hardest = numpy.argsort(-result.norms)[:12]
    for cell, i in zip(bottom.subplots(1, 12), hardest, strict=True):
        show(cell, learn.images[i], f"{learn.labels[i]}: {result.norms[i]:.1f}", False)

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def show(axes: Any, image: Any, title: str, is_wrong: bool) -> None:
    """Shows one digit."""
    axes.imshow(image.reshape(8, 8), cmap="gray_r", interpolation="nearest")
    axes.set_title(title, fontsize=9, color="tab:red" if is_wrong else "black")
    axes.set_axis_off()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500, help="minibatches to train on (default: 1500)")
    parser.add_argument("--seed", type=int, default=0, help="of the split, the weights and the batches (default: 0)")
    parser.add_argument("--backend", help="xla or numpy (default: XLA where it is installed)")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parent / "output" / "digits.png", help="the picture"
    )
    options = parser.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    result, learn, test = train(options.steps, options.seed, options.backend, console)
    draw(result, learn, test, options.output)
    hardest = int(numpy.argmax(result.norms))
    console.print(
        f"gradient norms of single examples: median {numpy.median(result.norms):.2g}, "
        f"largest {result.norms[hardest]:.2g} (a {learn.labels[hardest]})"
    )
    console.print(f"picture: {options.output}")
    console.print(f"test accuracy: {result.accuracy:.1%} of {len(test.labels)} digits")
    if result.accuracy < REQUIRED_ACCURACY:
        console.print(f"expected at least {REQUIRED_ACCURACY:.0%}: train longer, with a larger --steps")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
