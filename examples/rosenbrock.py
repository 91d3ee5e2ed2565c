"""Newton's method and BFGS in Rosenbrock's valley, each as fast as its theory says.

    uv run --group examples python examples/rosenbrock.py

The minimizers are written from their formulas. Values, gradients and Hessians are `value_and_grad` and `hessian` of
the function, compiled by `jit`; the loops are Python's, and look at the values.

It prints how many gradients each takes in several dimensions, beside SciPy's BFGS. Then it checks two theorems at the
known minimum (1, …, 1). Newton's method squares the error e at each step, and the factor is known: the next error is
H⁻¹ T(e, e) / 2, with the third derivatives T, which are `jacfwd(hessian(f))`. BFGS is faster than linear: the ratio of
one error to the one before falls to nothing, here in two dimensions. It draws the paths and the errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from command import parser, picture, progress_bar
from rich.console import Console
from rich.table import Table

import lawful.numpy as np
from lawful.autodiff import hessian, jacfwd, value_and_grad
from lawful.batching import vmap
from lawful.staging import get_backend, jit

TOLERANCE = 1e-8


def rosenbrock(x: Any) -> Any:
    """Returns the height at x above the lowest point of the valley."""
    return np.sum(100.0 * np.square(x[1:] - np.square(x[:-1])) + np.square(1.0 - x[:-1]))


class Problem(NamedTuple):
    """A function with its value and gradient, and its Hessian."""

    value_and_gradient: Callable[[Any], Any]
    hessian: Callable[[Any], Any]


class Newton:
    """Steps to the minimum of the second-order expansion, with the sign of negative curvatures turned."""

    def __init__(self, hessian: Callable[[Any], Any]) -> None:
        self.hessian = hessian

    def direction(self, x: Any, gradient: Any) -> Any:
        """Returns the step to try first."""
        curvatures, axes = np.linalg.eigh(self.hessian(x))
        return -axes @ (axes.T @ gradient / np.abs(curvatures))

    def learn(self, step: Any, change: Any) -> None:
        """Takes no note of the change of the gradient along a step: it asks for the Hessian."""


class BFGS:
    """Keeps an estimate of the inverse of the Hessian (Broyden, Fletcher, Goldfarb, Shanno 1970)."""

    inverse: Any = None

    def direction(self, x: Any, gradient: Any) -> Any:
        return -gradient if self.inverse is None else -self.inverse @ gradient

    def learn(self, step: Any, change: Any) -> None:
        along = step @ change
        if self.inverse is None:
            self.inverse = along / (change @ change) * np.eye(len(step))
        left = np.eye(len(step)) - np.outer(step, change) / along
        self.inverse = left @ self.inverse @ left.T + np.outer(step, step) / along


class Descent(NamedTuple):
    """The points of a minimizer, one a row, the gradient's length at the last, and how many gradients it took."""

    points: Any
    slope: float
    gradients: int

    @property
    def errors(self) -> Any:
        """The distances from the minimum."""
        return numpy.linalg.norm(self.points - 1.0, axis=1)


def minimize(
    method: Newton | BFGS, value_and_gradient: Callable[[Any], Any], start: Any, most: int = 10_000
) -> Descent:
    """Follows a method, with steps as long as the conditions of Wolfe (1969) ask, until the gradient is nothing."""
    x, points, gradients = start, [start], 1
    value, gradient = value_and_gradient(x)
    while np.linalg.norm(gradient) > TOLERANCE and gradients < most:
        direction = method.direction(x, gradient)
        slope = gradient @ direction
        length, low, high = 1.0, 0.0, numpy.inf
        while True:
            step = length * direction
            new_value, new_gradient = value_and_gradient(x + step)
            gradients += 1
            # Near the minimum the value is rounded to less than it changes by.
            if new_value > value + 1e-4 * length * slope + 1e-15 * abs(value):
                high = length
            elif new_gradient @ direction < 0.9 * slope:
                low = length
            else:
                break
            length = (low + high) / 2.0 if high < numpy.inf else 2.0 * low
        method.learn(step, new_gradient - gradient)
        x, value, gradient = x + step, new_value, new_gradient
        points.append(x)
    return Descent(numpy.array(points), float(np.linalg.norm(gradient)), gradients)


def newton_steps(problem: Problem, size: int, seed: int) -> tuple[Any, Any, Any]:
    """Returns errors before a step of Newton's method, of many sizes in one direction, after it, and as the theorem
    says; each a row.
    """
    lowest = numpy.ones(size)
    direction = numpy.random.default_rng(seed).normal(size=size)
    before = numpy.logspace(-6.0, -3.0, 13)[:, None] * direction / numpy.linalg.norm(direction)
    third = jacfwd(hessian(rosenbrock))(lowest)
    said = 0.5 * np.linalg.solve(problem.hessian(lowest), np.einsum("ijk,nj,nk->in", third, before, before)).T
    newton = Newton(problem.hessian)
    after = [e + newton.direction(lowest + e, problem.value_and_gradient(lowest + e)[1]) for e in before]
    return before, numpy.array(after), said


def descend(problem: Problem, size: int) -> dict[str, Descent]:
    """Returns what each method does from one start, under its name."""
    # Above two dimensions there is another minimum, at (-1, 1, …, 1), which some methods find from (-1.2, 1, …).
    start = numpy.array([-1.2, 1.0]) if size == 2 else numpy.zeros(size)
    methods = (Newton(problem.hessian), BFGS())
    return {type(m).__name__: minimize(m, problem.value_and_gradient, start) for m in methods}


def descend_by_scipy(problem: Problem, start: Any) -> Any:
    """Returns the result of SciPy's BFGS."""
    from scipy.optimize import minimize

    return minimize(problem.value_and_gradient, start, jac=True, method="BFGS", options={"gtol": TOLERANCE})


def draw(small: dict[str, Descent], large: dict[str, Descent], newton: tuple[Any, Any, Any], path: Path) -> None:
    """Draws the paths in the plane, the errors in more dimensions, and Newton's steps beside the theorem."""
    with picture(path, figsize=(14, 4.6)) as figure:
        valley, errors, theorem = figure.subplots(1, 3)
        x, y = numpy.meshgrid(numpy.linspace(-1.6, 1.5, 200), numpy.linspace(-0.7, 1.6, 200))
        heights = vmap(vmap(rosenbrock, in_axes=1), in_axes=1)(numpy.stack([x, y]))
        valley.contourf(x, y, numpy.log10(heights + 1e-2), 20, cmap="Greys", alpha=0.5)
        for name, descent in small.items():
            valley.plot(*descent.points.T, marker=".", linewidth=1.0, label=name)
        valley.plot(1.0, 1.0, "*", color="gold", markeredgecolor="black", markersize=14)
        valley.set(
            xlim=(-1.6, 1.5), ylim=(-0.7, 1.6), title="from (−1.2, 1) to the minimum", xlabel="$x_1$", ylabel="$x_2$"
        )
        valley.legend(loc="lower left")
        for name, descent in large.items():
            errors.semilogy(descent.errors, label=name)
        size = large["BFGS"].points.shape[1]
        errors.set(title=f"{size} dimensions", xlabel="step", ylabel="distance from the minimum")
        errors.legend(loc="lower left")
        before, after, said = (numpy.linalg.norm(e, axis=1) for e in newton)
        theorem.loglog(before, said, color="0.6", label=r"theorem: $|H^{-1} T(e, e)| / 2$")
        theorem.loglog(before, after, "o", color="tab:blue", label="a step of Newton's method")
        theorem.set(title="Newton's method squares the error", xlabel="error before", ylabel="error after")
        theorem.legend(loc="upper left")
        for axes in (errors, theorem):
            axes.spines[["top", "right"]].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "rosenbrock")
    options_of.add_argument("--sizes", type=int, nargs="+", default=[2, 10, 100], help="dimensions, the first 2")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    problem = Problem(*(jit(f(rosenbrock), backend=options.backend) for f in (value_and_grad, hessian)))
    table = Table("dimensions", "method", "steps", "gradients", "distance from the minimum")
    found, good = {}, True
    with progress_bar(console, "minimizing", len(options.sizes), "dimensions") as step:
        for size in options.sizes:
            found[size] = descend(problem, size)
            for name, descent in found[size].items():
                counts = map(str, (size, name, len(descent.points) - 1, descent.gradients))
                table.add_row(*counts, f"{descent.errors[-1]:.1e}")
            bfgs = found[size]["BFGS"]
            scipy = descend_by_scipy(problem, bfgs.points[0])
            distance = numpy.linalg.norm(scipy.x - 1.0)
            table.add_row(str(size), "SciPy's BFGS", str(scipy.nit), str(scipy.nfev), f"{distance:.1e}")
            good &= all(d.errors[-1] < 1e-6 for d in found[size].values()) and bfgs.gradients <= 2 * scipy.nfev
            step(size)
    console.print(table)
    newton = newton_steps(problem, options.sizes[-1], options.seed)
    draw(found[2], found[options.sizes[-1]], newton, options.output)
    console.print(f"picture: {options.output}")
    _, after, said = newton
    off = numpy.linalg.norm(after[0] - said[0]) / numpy.linalg.norm(said[0])
    errors = found[2]["BFGS"].errors
    ratios = errors[-3:] / errors[-4:-1]
    console.print("BFGS in two dimensions, each error over the one before: " + ", ".join(f"{r:.1e}" for r in ratios))
    return 0 if good and off < 0.02 and max(ratios) < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
