"""A convolutional network (LeCun et al. 1989) that reads handwritten digits, and what it looks at.

    uv run --group examples python examples/convolutional_network.py

Two layers of convolutions, `conv_general_dilated`, each followed by a maximum over windows, `reduce_window`, are
trained by Adam on the UCI digits, 8 x 8 pixels each, and on copies of them shifted by a pixel. The network is written
for one image; `vmap` makes it one for a batch, `grad` by its parameters trains it, and `grad` by the image says which
pixels a decision rests on.

It prints the accuracy on digits that it has not seen. It draws the training, the filters of the first layer, what
they make of a digit, the pixels that decisions rest on, and the mistakes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import adam
import numpy
from command import parser, picture, progress_bar
from rich.console import Console

import lawful.numpy as np
from lawful import ops, random
from lawful.autodiff import grad, value_and_grad
from lawful.batching import vmap
from lawful.control_flow import reduce_window
from lawful.special import log_softmax
from lawful.staging import get_backend, jit

REQUIRED_ACCURACY = 0.97
BATCH = 64
CHANNELS = (16, 32)


class Digits(NamedTuple):
    """Images of shape (1, 8, 8) with values between 0 and 1, and the digit of each."""

    images: Any
    labels: Any


def load(seed: int) -> tuple[Digits, Digits]:
    """Returns the examples to learn from, and a fifth of all to test on."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = numpy.random.default_rng(seed).permutation(len(data.target))
    images, labels = data.images[order, None] / 16.0, data.target[order]
    held_out = len(labels) // 5
    return Digits(images[held_out:], labels[held_out:]), Digits(images[:held_out], labels[:held_out])


def initial_parameters(key: Any) -> dict[str, dict[str, Any]]:
    """Returns random weights of a size that keeps activations of order one, and biases of zero."""
    first, second = CHANNELS
    shapes = {"first": (first, 1, 3, 3), "second": (second, first, 3, 3), "scores": (10, second * 4)}
    keys = random.split(key, len(shapes))
    return {
        name: {"w": random.normal(key, shape) * (2.0 / numpy.prod(shape[1:])) ** 0.5, "b": np.zeros(shape[0])}
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def convolve(layer: dict[str, Any], image: Any) -> Any:
    """Returns the rectified convolution of an image of shape (channels, height, width), of the same size."""
    out = ops.conv_general_dilated(image[None], layer["w"], (1, 1), "SAME")[0]
    return np.maximum(out + layer["b"][:, None, None], 0.0)


def pool(image: Any) -> Any:
    """Returns the maximum of every square of four pixels."""
    return reduce_window(image, -np.inf, ops.max, (1, 2, 2), (1, 2, 2), "VALID")


def scores(parameters: dict[str, Any], image: Any) -> Any:
    """Returns the scores of the ten digits for one image: log-probabilities, but for a common constant."""
    features = pool(convolve(parameters["second"], pool(convolve(parameters["first"], image))))
    return parameters["scores"]["w"] @ np.ravel(features) + parameters["scores"]["b"]


def loss(parameters: dict[str, Any], image: Any, label: Any) -> Any:
    """Returns minus the log-probability of the right digit of one image."""
    return -log_softmax(scores(parameters, image))[label]


def shifted(key: Any, image: Any) -> Any:
    """Returns an image moved by up to one pixel in each direction."""
    up, left = random.randint(key, (2,), 0, 3)
    return ops.dynamic_slice(np.pad(image, ((0, 0), (1, 1), (1, 1))), (0, up, left), image.shape)


def train_step(key: Any, optimizer: adam.Adam, parameters: Any, digits: Digits) -> tuple[adam.Adam, Any, Any]:
    """Returns optimizer and parameters after one step on a random minibatch, and the loss before it."""
    for_batch, for_shifts = random.split(random.fold_in(key, np.astype(optimizer.step, int)))
    chosen = random.randint(for_batch, (BATCH,), 0, len(digits.labels))
    images = vmap(shifted)(random.split(for_shifts, BATCH), digits.images[chosen])

    def batch_loss(parameters: Any) -> Any:
        return np.mean(vmap(loss, in_axes=(None, 0, 0))(parameters, images, digits.labels[chosen]))

    value, gradient = value_and_grad(batch_loss)(parameters)
    return *adam.update(optimizer, parameters, gradient, 6e-3), value


def importance(parameters: Any, image: Any, label: Any) -> Any:
    """Returns how much the score of a digit rests on the ink of each pixel."""
    return image * grad(lambda image: scores(parameters, image)[label])(image)


class Result(NamedTuple):
    """Trained parameters, the loss of each minibatch, and what the network makes of the test images."""

    parameters: Any
    losses: list[float]
    predictions: Any
    accuracy: float


def train(learn: Digits, test: Digits, steps: int, seed: int, backend: str | None, console: Console) -> Result:
    """Trains a network and tests it."""
    for_start, for_steps = random.split(random.key(seed))
    parameters = initial_parameters(for_start)
    optimizer, step, losses = adam.start(parameters), jit(train_step, backend=backend), []
    with progress_bar(console, "training", steps, "loss") as bar:
        for _ in range(steps):
            optimizer, parameters, value = step(for_steps, optimizer, parameters, learn)
            losses.append(float(value))
            bar(losses[-1])
    said = jit(vmap(scores, in_axes=(None, 0)), backend=backend)(parameters, test.images)
    predictions = numpy.argmax(said, axis=1)
    return Result(parameters, losses, predictions, float(numpy.mean(predictions == test.labels)))


def draw(result: Result, test: Digits, path: Path) -> None:
    """Draws what the module says."""
    shown = numpy.array([numpy.flatnonzero(test.labels == digit)[0] for digit in range(10)])
    wrong = numpy.flatnonzero(result.predictions != test.labels)[:10]
    rests = vmap(importance, in_axes=(None, 0, 0))(result.parameters, test.images[shown], test.labels[shown])
    filters = result.parameters["first"]["w"][:, 0]
    seen = convolve(result.parameters["first"], test.images[shown[3]])
    signed, ink = {"cmap": "RdBu_r"}, {"cmap": "gray_r", "vmin": 0.0, "vmax": 1.0}
    with picture(path, figsize=(13, 6)) as figure:
        left, right = figure.subfigures(1, 2, width_ratios=(1, 1.5))
        axes = left.subplots()
        axes.semilogy(result.losses, color="0.8", linewidth=0.8, label="each minibatch")
        smooth = numpy.convolve(result.losses, numpy.ones(25) / 25, mode="valid")
        axes.semilogy(numpy.arange(len(smooth)) + 12, smooth, color="tab:blue", label="mean of 25")
        axes.set(xlabel="step", ylabel="loss", title=f"accuracy on unseen digits: {result.accuracy:.1%}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="upper right")
        mistaken = numpy.pad(test.images[wrong, 0], ((0, 10 - len(wrong)), (0, 0), (0, 0)))
        mistakes = ", ".join(f"{result.predictions[i]} (is {test.labels[i]})" for i in wrong)
        rows = (
            ("filters of the first layer", filters, signed),
            ("what they make of a 3", seen, {"cmap": "gray_r"}),
            ("unseen digits", test.images[shown, 0], ink),
            ("pixels that speak for the digit, in red, and against it", rests[:, 0], signed),
            (f"mistakes: {mistakes}", mistaken, ink),
        )
        for cell, (title, images, style) in zip(right.subplots(len(rows), 1), rows, strict=True):
            cell.set_title(title, loc="left", fontsize=10)
            cell.set_axis_off()
            apart = numpy.pad(images, ((0, 0), (0, 0), (0, 1)), constant_values=numpy.nan)
            largest = {"vmin": -abs(images).max(), "vmax": abs(images).max()} if style is signed else {}
            cell.imshow(numpy.concatenate(apart, axis=1), **style, **largest)


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "convolutional_network")
    options_of.add_argument("--steps", type=int, default=3000, help="minibatches to train on (default: 3000)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    learn, test = load(options.seed)
    result = train(learn, test, options.steps, options.seed, options.backend, console)
    draw(result, test, options.output)
    console.print(f"picture: {options.output}")
    console.print(f"accuracy: {result.accuracy:.1%} of {len(test.labels)} unseen digits")
    if result.accuracy < REQUIRED_ACCURACY:
        console.print(f"expected at least {REQUIRED_ACCURACY:.0%}: train longer, with a larger --steps")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
