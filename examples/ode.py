"""An adaptive solver of differential equations in a `while_loop`, differentiated in both modes.

    uv run --group examples python examples/ode.py

Tsitouras' method of order 5 takes steps as long as its own estimate of the error allows, so that the number of steps
depends on the data: a `while_loop`. Forward mode runs it with tangents. Reverse mode runs it backwards, from a few
states that are kept while it runs again, in memory that does not depend on the number of steps.

The equation is that of a damped oscillator, x'' + 2 γ x' + ω² x = 0, which has an answer in formulas, and so have its
derivatives by the start and by γ and ω. It prints how the error of the solution and of each derivative follows the
tolerance. Then it finds γ and ω from noisy measurements, by the Gauss-Newton method on derivatives of the solver, and
draws the measurements, the solution with its steps, and the errors.

Source: Tsitouras, "Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption", Comput.
Math. Appl. 62 (2011).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from command import parser, picture, progress_bar
from rich.console import Console
from rich.table import Table

import lawful.numpy as np
from lawful.autodiff import jacfwd, jacrev, stop_gradient
from lawful.batching import vmap
from lawful.control_flow import while_loop
from lawful.staging import get_backend, jit

START = (1.0, 0.0)
PARAMETERS = (0.15, 2.0)

# Weights of the earlier slopes in each stage; the last row is the solution of order 5.
STAGES = (
    (0.161,),
    (-0.008480655492356989, 0.335480655492357),
    (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
    (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
    (5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383),
    (0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774),
)
# The difference between the solutions of order 5 and 4.
ERROR = (
    0.00178001105222577714, 0.0008164344596567469, -0.007880878010261995, 0.1447110071732629, -0.5823571654525552,
    0.45808210592918697, -1.0 / 66.0,
)  # fmt: skip


def step(slope: Callable[[Any], Any], y: Any, first: Any, h: Any) -> tuple[Any, Any, Any]:
    """Returns the solution after a step, its slope there, and the estimate of its error.

    Args:
      slope: of an autonomous equation, a function of the solution.
      y: the solution now.
      first: its slope, which the step before has computed.
      h: the length of the step.
    """
    slopes = [first]
    for row in STAGES:
        after = y + h * sum(a * k for a, k in zip(row, slopes, strict=True))
        slopes.append(slope(after))
    return after, slopes[-1], h * sum(e * k for e, k in zip(ERROR, slopes, strict=True))


def solve(slope: Callable[[Any], Any], start: Any, end: Any, tolerance: float, **loop: Any) -> tuple[Any, Any]:
    """Returns the solution at a time, and how many steps were tried.

    Args:
      slope: of an autonomous equation, a function of the solution. It may close over parameters to differentiate by.
      start: the solution at time 0.
      end: the time at which it is asked for.
      tolerance: of the error of a step, relative to the solution or absolute, whichever is larger.
      loop: ``max_iters`` or ``checkpoints`` of `while_loop`.
    """

    def is_before_the_end(state: Any) -> Any:
        t, *_ = state
        return t < end

    def try_a_step(state: Any) -> Any:
        t, y, first, h, steps = state
        # The choice of steps is no part of the derivative: it changes the solution by no more than the tolerance.
        h = stop_gradient(np.minimum(h, end - t))
        after, last, error = step(slope, y, first, h)
        size = stop_gradient(np.sqrt(np.mean(np.square(error / (1.0 + np.abs(y))))) / tolerance)
        good = size <= 1.0
        longer = np.clip(0.9 * np.maximum(size, 1e-10) ** -0.2, 0.2, 5.0)
        t, y, first = (np.where(good, new, old) for new, old in ((t + h, t), (after, y), (last, first)))
        return t, y, first, h * longer, steps + 1

    first_step = 1e-3
    state = while_loop(is_before_the_end, try_a_step, (0.0, start, slope(start), first_step, 0), **loop)
    return state[1], state[4]


def oscillator(parameters: Any) -> Callable[[Any], Any]:
    """Returns the slope of position and velocity."""
    damping, frequency = parameters

    def slope(y: Any) -> Any:
        position, velocity = y
        return np.stack([velocity, -2.0 * damping * velocity - np.square(frequency) * position])

    return slope


def position(start: Any, parameters: Any, end: Any, tolerance: float, **loop: Any) -> Any:
    """Returns the position at a time, by the solver."""
    return solve(oscillator(parameters), start, end, tolerance, **loop)[0][0]


def position_in_formulas(start: Any, parameters: Any, end: Any) -> Any:
    """Returns the position at a time, exactly."""
    damping, frequency = parameters
    slower = np.sqrt(np.square(frequency) - np.square(damping))
    sine = (start[1] + damping * start[0]) / slower
    return np.exp(-damping * end) * (start[0] * np.cos(slower * end) + sine * np.sin(slower * end))


def derivatives(end: float, tolerance: float, backend: str | None) -> dict[str, float]:
    """Returns the errors at a time: of the position, and of its derivatives in both modes, the largest."""
    start, parameters = numpy.array(START), numpy.array(PARAMETERS)

    def at(start: Any, parameters: Any) -> Any:
        return position(start, parameters, end, tolerance)

    def exact(start: Any, parameters: Any) -> Any:
        return position_in_formulas(start, parameters, end)

    errors = {"position": abs(float(jit(at, backend=backend)(start, parameters)) - exact(start, parameters))}
    for mode, transform in (("forward", jacfwd), ("reverse", jacrev)):
        found = jit(transform(at, (0, 1)), backend=backend)(start, parameters)
        expected = jacfwd(exact, (0, 1))(start, parameters)
        errors[mode] = max(float(np.max(np.abs(x - y))) for x, y in zip(found, expected, strict=True))
    return errors


def fit(times: Any, measured: Any, guess: Any, backend: str | None, watch: Callable[[float], None]) -> Any:
    """Returns the parameters that fit measurements best: the Gauss-Newton method, a row for each of its steps."""

    def residuals(parameters: Any) -> Any:
        at = vmap(lambda end: position(numpy.array(START), parameters, end, 1e-8))
        return at(times) - measured

    both = jit(lambda parameters: (residuals(parameters), jacfwd(residuals)(parameters)), backend=backend)
    path = [numpy.asarray(guess)]
    for _ in range(8):
        wrong, jacobian = map(numpy.asarray, both(path[-1]))
        path.append(path[-1] - numpy.linalg.lstsq(jacobian, wrong)[0])
        watch(float(numpy.linalg.norm(wrong)))
    return numpy.array(path)


def draw(times: Any, measured: Any, found: Any, errors: dict[float, dict[str, float]], path: Path) -> None:
    """Draws measurements with the fitted solution, and errors by tolerance."""
    with picture(path, figsize=(11, 4.4)) as figure:
        fitted, by_tolerance = figure.subplots(1, 2, width_ratios=(3, 2))
        fine = numpy.linspace(0.0, float(times[-1]), 400)
        fitted.plot(times, measured, ".", color="0.6", label="measured")
        fitted.plot(fine, position_in_formulas(START, PARAMETERS, fine), color="0.3", linewidth=0.8, label="exact")
        solution = vmap(lambda end: position(numpy.array(START), found, end, 1e-8))(fine)
        fitted.plot(fine, solution, "--", color="tab:blue", label=f"fitted: γ = {found[0]:.4f}, ω = {found[1]:.4f}")
        fitted.set(xlabel="time", ylabel="position", title="a damped oscillator")
        fitted.legend(loc="upper right")
        for name, mark in (("position", "o-"), ("forward", "s-"), ("reverse", "x--")):
            label = name if name == "position" else f"derivatives, {name} mode"
            by_tolerance.loglog(list(errors), [each[name] for each in errors.values()], mark, label=label)
        by_tolerance.set(xlabel="tolerance of a step", ylabel="error", title="the largest error at the end")
        by_tolerance.legend(loc="upper left")
        for axes in (fitted, by_tolerance):
            axes.spines[["top", "right"]].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "ode")
    options_of.add_argument("--end", type=float, default=12.0, help="the time to solve until (default: 12)")
    options_of.add_argument("--measurements", type=int, default=120, help="how many to fit (default: 120)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    tolerances = [1e-4, 1e-6, 1e-8, 1e-10]
    errors: dict[float, dict[str, float]] = {}
    with progress_bar(console, "solving", len(tolerances), "tolerance") as done:
        for tolerance in tolerances:
            errors[tolerance] = derivatives(options.end, tolerance, options.backend)
            done(tolerance)
    table = Table("tolerance", "position", "forward mode", "reverse mode", title="errors at the end")
    for tolerance, each in errors.items():
        table.add_row(f"{tolerance:.0e}", *[f"{x:.1e}" for x in each.values()])
    console.print(table)

    times = numpy.linspace(0.1, options.end, options.measurements)
    noise = 0.05 * numpy.random.default_rng(options.seed).standard_normal(options.measurements)
    measured = position_in_formulas(START, PARAMETERS, times) + noise
    with progress_bar(console, "fitting", 8, "distance") as done:
        found = fit(times, measured, (0.3, 1.9), options.backend, done)[-1]
    console.print(f"γ = {found[0]:.4f} and ω = {found[1]:.4f}, of measurements made with {PARAMETERS}")
    draw(times, measured, found, errors, options.output)
    console.print(f"picture: {options.output}")
    small = errors[tolerances[-1]]
    near = numpy.max(numpy.abs(found - numpy.array(PARAMETERS))) < 0.02
    return 0 if max(small.values()) < 1e-7 and near else 1


if __name__ == "__main__":
    sys.exit(main())
