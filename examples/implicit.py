"""How strongly to penalize each feature: gradients through a fixed point, by conjugate gradients.

    uv run --group examples python examples/implicit.py

A logistic regression on the breast cancer data (Wolberg and others, UCI, scikit-learn's copy) with a penalty for each
of its 30 features. The weights are a fixed point: the gradient of the penalized loss is zero there. `custom_root`
differentiates through it by the implicit function theorem, not through the iterations of the solver, which is Newton's
method in a `while_loop`. Each linear system, of Newton's method and of the derivative, is solved by conjugate
gradients, which need products with the Hessian only: `linearize` of `grad` gives them.

The gradient of the loss on held-out examples by all 30 penalties then costs about one more linear system. It is
checked against finite differences, and used to choose the penalties. It prints losses before and after, and draws the
loss on held-out examples and the penalties.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import adam
import numpy
from command import parser, picture, progress_bar
from rich.console import Console

import lawful.numpy as np
from lawful.autodiff import grad, linearize, value_and_grad
from lawful.control_flow import custom_linear_solve, custom_root, while_loop
from lawful.staging import get_backend, jit


class Data(NamedTuple):
    """Features of mean 0 and variance 1, a row for each example, and whether a tumor is benign, as 1 or -1."""

    features: Any
    signs: Any


def load(seed: int) -> tuple[Data, Data, Data, list[str]]:
    """Returns few examples to learn from, others to choose the penalties by, the rest to test on, and the names."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    features = (data.data - data.data.mean(0)) / data.data.std(0)
    signs = 2.0 * data.target - 1.0
    order = numpy.random.default_rng(seed).permutation(len(signs))
    parts = [Data(features[part], signs[part]) for part in numpy.split(order, [100, 300])]
    return parts[0], parts[1], parts[2], list(data.feature_names)


def loss(weights: Any, data: Data) -> Any:
    """Returns minus the mean log-likelihood."""
    return np.mean(np.logaddexp(0.0, -data.signs * (data.features @ weights)))


def conjugate_gradients(product: Callable[[Any], Any], b: Any) -> Any:
    """Returns the solution of a symmetric positive system, by Hestenes and Stiefel (1952)."""

    def is_far(state: Any) -> Any:
        _, _, _, size, steps = state
        return np.logical_and(size > 1e-24 * np.sum(np.square(b)), steps < 10 * len(b))

    def step(state: Any) -> Any:
        x, rest, direction, size, steps = state
        image = product(direction)
        length = size / (direction @ image)
        x, rest = x + length * direction, rest - length * image
        now = rest @ rest
        return x, rest, rest + (now / size) * direction, now, steps + 1

    return while_loop(is_far, step, (np.zeros_like(b), b, b, b @ b, 0))[0]


def solve_symmetric(product: Callable[[Any], Any], b: Any) -> Any:
    """Returns the solution of a symmetric positive system, with the derivatives of a solution."""
    return custom_linear_solve(product, b, conjugate_gradients, symmetric=True)


def newton(slope: Callable[[Any], Any], start: Any) -> Any:
    """Returns where a gradient is zero: each step is halved until the gradient gets shorter."""

    def length(value: Any) -> Any:
        return np.sqrt(np.sum(np.square(value)))

    def is_far(state: Any) -> Any:
        _, value, steps = state
        return np.logical_and(length(value) > 1e-13, steps < 100)

    def step(state: Any) -> Any:
        weights, value, steps = state
        change = solve_symmetric(linearize(slope, weights)[1], value)

        def is_too_long(far: Any) -> Any:
            return np.logical_and(length(slope(weights - far * change)) > (1.0 - 0.1 * far) * length(value), far > 1e-6)

        far = while_loop(is_too_long, lambda far: 0.5 * far, 1.0)
        weights = weights - far * change
        return weights, slope(weights), steps + 1

    return while_loop(is_far, step, (start, slope(start), 0))[0]


def fit(log_penalties: Any, data: Data) -> Any:
    """Returns the weights with the least penalized loss, a differentiable function of the penalties."""

    def penalized(weights: Any) -> Any:
        return loss(weights, data) + 0.5 * np.sum(np.exp(log_penalties) * np.square(weights))

    return custom_root(grad(penalized), np.zeros(data.features.shape[1]), newton, solve_symmetric)


def held_out_loss(log_penalties: Any, learn: Data, held_out: Data) -> Any:
    """Returns the loss on other examples than those that the weights are fitted to."""
    return loss(fit(log_penalties, learn), held_out)


def by_differences(function: Callable[[Any], Any], x: Any, step: float = 1e-4) -> Any:
    """Returns the gradient of a function of a vector by central differences of fourth order."""

    def along(axis: Any) -> float:
        far, near = (function(x + 2 * step * axis) - function(x - 2 * step * axis), function(x + step * axis))
        return float((8.0 * (near - function(x - step * axis)) - far) / (12.0 * step))

    return numpy.array([along(axis) for axis in numpy.eye(len(x))])


def accuracy(weights: Any, data: Data) -> float:
    """Returns the share of examples that are on the right side."""
    return float(numpy.mean(numpy.sign(data.features @ numpy.asarray(weights)) == data.signs))


def draw(losses: list[float], log_penalties: Any, names: list[str], path: Path) -> None:
    """Draws the loss on held-out examples by step, and the penalties that were chosen."""
    with picture(path, figsize=(11, 5)) as figure:
        fell, chosen = figure.subplots(1, 2)
        fell.plot(losses, color="tab:blue")
        fell.set(xlabel="step", ylabel="loss on held-out examples", title="choosing 30 penalties by their gradient")
        order = numpy.argsort(log_penalties)
        chosen.barh(numpy.array(names)[order], numpy.exp(log_penalties)[order], color="tab:blue")
        chosen.set(xscale="log", xlabel="penalty", title="what a feature is trusted with")
        chosen.tick_params(axis="y", labelsize=7)
        for axes in (fell, chosen):
            axes.spines[["top", "right"]].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "implicit")
    options_of.add_argument("--steps", type=int, default=150, help="steps on the penalties (default: 150)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    learn, held_out, test, names = load(options.seed)

    def objective(log_penalties: Any) -> Any:
        return held_out_loss(log_penalties, learn, held_out)

    log_penalties = numpy.full(learn.features.shape[1], numpy.log(1e-2))
    both = jit(value_and_grad(objective), backend=options.backend)
    value, gradient = map(numpy.asarray, both(log_penalties))
    differences = by_differences(jit(objective, backend=options.backend), log_penalties)
    off = numpy.max(numpy.abs(gradient - differences)) / numpy.max(numpy.abs(differences))
    console.print(f"gradient by 30 penalties: {off:.1e} from finite differences, relative to the largest")

    weights = jit(fit, backend=options.backend)
    before = accuracy(weights(log_penalties, learn), test)
    optimizer, losses = adam.start(log_penalties), []
    with progress_bar(console, "choosing", options.steps, "loss") as done:
        for _ in range(options.steps):
            value, gradient = both(log_penalties)
            losses.append(float(value))
            optimizer, log_penalties = adam.update(optimizer, log_penalties, gradient, 0.1)
            done(losses[-1])
    losses.append(float(both(log_penalties)[0]))
    after = accuracy(weights(log_penalties, learn), test)
    console.print(f"loss on held-out examples: {losses[0]:.4f} with equal penalties, {losses[-1]:.4f} with chosen ones")
    console.print(f"accuracy on {len(test.signs)} test examples: {before:.1%}, then {after:.1%}")
    draw(losses, numpy.asarray(log_penalties), names, options.output)
    console.print(f"picture: {options.output}")
    return 0 if off < 1e-6 and losses[-1] < losses[0] else 1


if __name__ == "__main__":
    sys.exit(main())
