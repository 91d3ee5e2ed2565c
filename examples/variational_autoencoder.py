"""A variational autoencoder (Kingma and Welling 2014) of handwritten digits, whose bound is one on a true probability.

    uv run --group examples python examples/variational_autoencoder.py

A pixel of the UCI digits is how many of 16 points of the scan are ink, so a decoder that says the probability of ink
at each pixel gives a binomial distribution, and images have probabilities, not densities. The encoder gives each image
a normal distribution of eight hidden numbers. Both networks are trained by Adam on the evidence lower bound (ELBO),
whose gradient goes through the draw of the hidden numbers. One step, with its minibatch, is `jit`; each image has a
random key of its own under `vmap`.

It prints the bound for test images, and the tighter one with many draws an image (Burda, Grosse and Salakhutdinov
2016), beside the probability under pixels that know nothing of each other, which is exact. It draws the training,
test images and their reconstructions, the images between pairs of them, new images, and the hidden numbers.
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
from lawful import random
from lawful.autodiff import value_and_grad
from lawful.batching import vmap
from lawful.special import expit, gammaln, logsumexp
from lawful.special.stats import norm
from lawful.staging import get_backend, jit

POINTS = 16
HIDDEN, LATENT = 128, 8
BATCH = 128
REQUIRED_BOUND = -125.0  # nats an image


class Images(NamedTuple):
    """Images as rows of 64 counts from 0 to 16, to learn from and to test on, and the digits of the latter."""

    learn: Any
    test: Any
    test_labels: Any


def load(seed: int) -> Images:
    """Returns the images, a fifth of them to test on."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = numpy.random.default_rng(seed).permutation(len(data.target))
    learn, test = order[len(order) // 5 :], order[: len(order) // 5]
    return Images(data.data[learn], data.data[test], data.target[test])


def initial_parameters(key: Any) -> dict[str, dict[str, Any]]:
    """Returns random weights of a size that keeps activations of order one, and biases of zero."""
    sizes = {"see": (64, HIDDEN), "encode": (HIDDEN, 2 * LATENT), "imagine": (LATENT, HIDDEN), "decode": (HIDDEN, 64)}
    keys = random.split(key, len(sizes))
    return {
        name: {"w": random.normal(key, size) / size[0] ** 0.5, "b": np.zeros(size[1])}
        for key, (name, size) in zip(keys, sizes.items(), strict=True)
    }


def layer(parameters: dict[str, Any], x: Any) -> Any:
    return x @ parameters["w"] + parameters["b"]


def encode(parameters: Any, image: Any) -> tuple[Any, Any]:
    """Returns the mean and the standard deviation of the hidden numbers of an image."""
    seen = np.tanh(layer(parameters["see"], image / 8.0 - 1.0))
    mean, log_deviation = np.split(layer(parameters["encode"], seen), 2)
    return mean, np.exp(log_deviation)


def decode(parameters: Any, hidden: Any) -> Any:
    """Returns the log odds of ink at each pixel."""
    return layer(parameters["decode"], np.tanh(layer(parameters["imagine"], hidden)))


def log_binomial(counts: Any, log_odds: Any) -> Any:
    """Returns the logarithm of the probability of counts out of 16."""
    choose = gammaln(POINTS + 1.0) - gammaln(counts + 1.0) - gammaln(POINTS + 1.0 - counts)
    return choose + counts * log_odds - POINTS * np.logaddexp(0.0, log_odds)


def divergence(mean: Any, deviation: Any) -> Any:
    """Returns the Kullback–Leibler divergence of the encoder's distribution from the prior, the standard normal one."""
    return np.sum(0.5 * (np.square(mean) + np.square(deviation) - 1.0) - np.log(deviation))


def bound(parameters: Any, image: Any, key: Any) -> Any:
    """Returns an estimate of the ELBO of an image, from one draw of its hidden numbers."""
    mean, deviation = encode(parameters, image)
    hidden = mean + deviation * random.normal(key, (LATENT,))
    return np.sum(log_binomial(image, decode(parameters, hidden))) - divergence(mean, deviation)


def tight_bound(parameters: Any, image: Any, key: Any, draws: int = 200) -> Any:
    """Returns the logarithm of the mean of many estimates of the image's probability."""
    mean, deviation = encode(parameters, image)

    def log_weight(key: Any) -> Any:
        hidden = mean + deviation * random.normal(key, (LATENT,))
        ratio = norm.logpdf(hidden) - norm.logpdf(hidden, mean, deviation)
        return np.sum(log_binomial(image, decode(parameters, hidden))) + np.sum(ratio)

    return logsumexp(vmap(log_weight)(random.split(key, draws))) - np.log(draws)


def mean_of(what: Any) -> Any:
    """Returns a bound as the function of parameters, images and one key that is its mean."""
    return lambda parameters, images, key: np.mean(
        vmap(what, in_axes=(None, 0, 0))(parameters, images, random.split(key, len(images)))
    )


def train_step(key: Any, optimizer: adam.Adam, parameters: Any, images: Any) -> tuple[adam.Adam, Any, Any]:
    """Returns optimizer and parameters after one step on a random minibatch, and the ELBO before it."""
    key = random.fold_in(key, np.astype(optimizer.step, int))
    for_batch, for_hidden = random.split(key)
    batch = images[random.randint(for_batch, (BATCH,), 0, len(images))]
    loss = lambda parameters: -mean_of(bound)(parameters, batch, for_hidden)  # noqa: E731
    value, gradient = value_and_grad(loss)(parameters)
    return *adam.update(optimizer, parameters, gradient, 2e-3), -value


class Result(NamedTuple):
    """Trained parameters, the ELBO of each minibatch, and the bounds of the test images."""

    parameters: Any
    training: list[float]
    bound: float
    tight_bound: float
    independent: float


def train(images: Images, steps: int, seed: int, backend: str | None, console: Console) -> Result:
    """Trains both networks and tests them."""
    for_start, for_steps, for_tests = random.split(random.key(seed), 3)
    parameters = initial_parameters(for_start)
    optimizer, step, training = adam.start(parameters), jit(train_step, backend=backend), []
    with progress_bar(console, "training", steps, "ELBO") as bar:
        for _ in range(steps):
            optimizer, parameters, value = step(for_steps, optimizer, parameters, images.learn)
            training.append(float(value))
            bar(training[-1])
    bounds = (jit(mean_of(each), backend=backend)(parameters, images.test, for_tests) for each in (bound, tight_bound))
    # With half a count of each kind for every pixel, none that was never inked is impossible.
    ink = (np.sum(images.learn, axis=0) + 0.5) / (POINTS * len(images.learn) + 1.0)
    independent = np.mean(np.sum(log_binomial(images.test, np.log(ink / (1.0 - ink))), axis=1))
    return Result(parameters, training, *map(float, bounds), float(independent))


def draw(result: Result, images: Images, seed: int, path: Path) -> None:
    """Draws what the module says."""
    see = vmap(lambda hidden: expit(decode(result.parameters, hidden)))
    hidden = vmap(lambda image: encode(result.parameters, image)[0])(images.test)
    shown = numpy.array([numpy.flatnonzero(images.test_labels == digit)[0] for digit in range(10)])
    between = numpy.linspace(hidden[shown[[2, 3, 4]]], hidden[shown[[7, 8, 9]]], 10)
    rows = {
        "test images": images.test[shown] / POINTS,
        "their reconstructions": see(hidden[shown]),
        **{f"between two {i}": see(between[:, i]) for i in range(3)},
        **{f"new {i}": see(random.normal(random.fold_in(random.key(seed), i), (10, LATENT))) for i in range(3)},
    }
    with picture(path, figsize=(13, 8)) as figure:
        left, right = figure.subfigures(1, 2, width_ratios=(1, 1.2))
        curve, plane = left.subplots(2, 1)
        curve.plot(result.training, color="0.7", linewidth=0.6, label="each minibatch")
        curve.axhline(result.bound, color="tab:blue", label=f"test images: {result.bound:.1f}")
        curve.axhline(result.independent, color="tab:red", label=f"independent pixels: {result.independent:.1f}")
        curve.set(xlabel="step", ylabel="ELBO, nats an image", ylim=(-350, -70))
        curve.legend(frameon=False, loc="lower right")
        axes = numpy.linalg.svd(hidden - hidden.mean(axis=0), full_matrices=False)[2][:2]
        for digit in range(10):
            plane.plot(*(axes @ hidden[images.test_labels == digit].T), f"C{digit}", ls="", marker=f"${digit}$")
        plane.set(xticks=[], yticks=[], title="hidden numbers of test images, along two principal axes")
        for (name, shown), cell in zip(rows.items(), right.subplots(len(rows), 1), strict=True):
            apart = numpy.pad(shown.reshape(10, 8, 8), ((0, 0), (0, 0), (1, 1)))
            cell.imshow(numpy.concatenate(apart, axis=1), cmap="gray_r", vmin=0.0, vmax=1.0)
            cell.set_title(name.rstrip(" 012"), loc="left", fontsize=10)
            cell.set_axis_off()


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "variational_autoencoder")
    options_of.add_argument("--steps", type=int, default=4000, help="minibatches to train on (default: 4000)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    images = load(options.seed)
    result = train(images, options.steps, options.seed, options.backend, console)
    draw(result, images, options.seed, options.output)
    console.print(f"picture: {options.output}")
    console.print(f"nats a test image: independent pixels {result.independent:.2f}, ELBO {result.bound:.2f}", end="")
    console.print(f", with 200 draws {result.tight_bound:.2f}")
    if result.bound < REQUIRED_BOUND:
        console.print(f"expected an ELBO of at least {REQUIRED_BOUND}: train longer, with a larger --steps")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
