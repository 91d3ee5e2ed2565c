"""Swinging up a pendulum with the least effort: iLQR, on Jacobians and Hessians of a simulation.

    uv run --group examples python examples/pendulum.py

A pendulum hangs down, and a torque that is too weak to lift it has to swing it up. The iterative linear-quadratic
regulator improves a plan: it runs the plan forward through the simulation (a `scan`), expands dynamics and cost around
the run to second order (`vmap` of `jacfwd` and `hessian`, one for each moment at once), solves the expanded problem
backwards in time (a `scan` in reverse), and follows the solution as far as it lowers the cost (a `while_loop`).

What it must satisfy is checked: on a linear problem with a quadratic cost one step is enough, and gives what the
Riccati equation does; and at the plan that it finds for the pendulum, the gradient of the cost by all torques is zero.
It draws the plan, the swing, and how the cost fell.

Source: Li and Todorov, "Iterative linear quadratic regulator design for nonlinear biological movement systems", ICINCO
2004; Tassa, Erez and Todorov, IROS 2012, for the regularization.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from command import parser, picture, progress_bar
from rich.console import Console

import lawful.numpy as np
from lawful.autodiff import grad, hessian, jacfwd, jacrev
from lawful.batching import vmap
from lawful.control_flow import scan, while_loop
from lawful.staging import get_backend, jit

DT, GRAVITY, FRICTION = 0.05, 9.81, 0.1
UPRIGHT = numpy.array([numpy.pi, 0.0])


class Problem(NamedTuple):
    """A system to be steered: the next state, the cost of a moment, and the cost of the last state."""

    dynamics: Callable[[Any, Any], Any]
    cost: Callable[[Any, Any], Any]
    last_cost: Callable[[Any], Any]


def swing(state: Any, torque: Any) -> Any:
    """Returns angle and speed of the pendulum one moment later, by the midpoint rule."""

    def slope(state: Any) -> Any:
        angle, speed = state
        return np.stack([speed, torque[0] - FRICTION * speed - GRAVITY * np.sin(angle)])

    return state + DT * slope(state + 0.5 * DT * slope(state))


PENDULUM = Problem(
    swing,
    lambda state, torque: 0.5 * DT * (np.sum(np.square(torque)) + 0.1 * np.sum(np.square(state - UPRIGHT))),
    lambda state: 200.0 * np.sum(np.square(state - UPRIGHT)),
)


def run(problem: Problem, start: Any, controls: Any) -> Any:
    """Returns the states before each moment, and the last state."""
    last, before = scan(lambda x, u: (problem.dynamics(x, u), x), start, controls)
    return np.concatenate([before, last[None]])


def total_cost(problem: Problem, start: Any, controls: Any) -> Any:
    """Returns the cost of a plan."""
    states = run(problem, start, controls)
    return np.sum(vmap(problem.cost)(states[:-1], controls)) + problem.last_cost(states[-1])


def gains(problem: Problem, states: Any, controls: Any, caution: Any) -> tuple[Any, Any]:
    """Returns, for each moment, by how much to change the control, and how that answers a change of the state."""
    x, u = states[:-1], controls
    by_x, by_u = (vmap(jacfwd(problem.dynamics, i))(x, u) for i in (0, 1))
    cost_x, cost_u = (vmap(grad(problem.cost, i))(x, u) for i in (0, 1))
    cost_xx, cost_uu = (vmap(hessian(problem.cost, i))(x, u) for i in (0, 1))
    cost_ux = vmap(jacfwd(grad(problem.cost, 1), 0))(x, u)

    def backwards(value: Any, moment: Any) -> Any:
        slope, curvature = value
        a, b, q_x, q_u, q_xx, q_uu, q_ux = moment
        q_x, q_u = q_x + a.T @ slope, q_u + b.T @ slope
        q_xx, q_ux = q_xx + a.T @ curvature @ a, q_ux + b.T @ curvature @ a
        q_uu = q_uu + b.T @ curvature @ b
        steep = q_uu + caution * np.eye(len(u[0]))
        change, answer = -np.linalg.solve(steep, q_u), -np.linalg.solve(steep, q_ux)
        slope = q_x + answer.T @ (q_u + q_uu @ change) + q_ux.T @ change
        curvature = q_xx + answer.T @ (q_uu @ answer + q_ux) + q_ux.T @ answer
        return (slope, 0.5 * (curvature + curvature.T)), (change, answer)

    last = grad(problem.last_cost)(states[-1]), hessian(problem.last_cost)(states[-1])
    moments = (by_x, by_u, cost_x, cost_u, cost_xx, cost_uu, cost_ux)
    return scan(backwards, last, moments, reverse=True)[1]


def improve(problem: Problem, start: Any, controls: Any, caution: Any) -> tuple[Any, Any, Any]:
    """Returns a better plan, its cost, and how far it went along the change: 0 if nowhere better was found."""
    states = run(problem, start, controls)
    before = total_cost(problem, start, controls)
    changes, answers = gains(problem, states, controls, caution)

    def follow(far: Any) -> Any:
        def turn(x: Any, moment: Any) -> Any:
            planned, u, change, answer = moment
            u = u + far * change + answer @ (x - planned)
            return problem.dynamics(x, u), u

        return scan(turn, start, (states[:-1], controls, changes, answers))[1]

    def is_worse(search: Any) -> Any:
        far, cost = search
        return np.logical_and(far > 1e-4, np.logical_not(cost < before))

    def nearer(search: Any) -> Any:
        far = 0.5 * search[0]
        return far, total_cost(problem, start, follow(far))

    first = (np.ones(()), total_cost(problem, start, follow(1.0)))
    far, cost = while_loop(is_worse, nearer, first)
    better = cost < before
    return np.where(better, follow(far), controls), np.where(better, cost, before), np.where(better, far, 0.0)


class Plan(NamedTuple):
    """The controls, one a row, and the costs on the way to them."""

    controls: Any
    costs: list[float]


def plan(
    problem: Problem, start: Any, controls: Any, backend: str | None, most: int = 200,
    watch: Callable[[float], None] = lambda cost: None,
) -> Plan:  # fmt: skip
    """Returns the plan that steps of iLQR end at, from a first one."""
    step = jit(lambda controls, caution: improve(problem, start, controls, caution), backend=backend)
    costs, caution = [float(total_cost(problem, start, controls))], 0.0
    for _ in range(most):
        controls, cost, far = step(controls, caution)
        caution = max(4.0 * caution, 1e-3) if float(far) < 1.0 else (caution / 4.0 if caution > 1e-6 else 0.0)
        costs.append(float(cost))
        watch(costs[-1])
        if caution > 1e8 or (float(far) == 1.0 and costs[-2] - costs[-1] < 1e-13 * abs(costs[-1])):
            break
    return Plan(numpy.asarray(controls), costs)


def slope_of(problem: Problem, start: Any, controls: Any) -> float:
    """Returns the largest derivative of the cost by a control."""
    return float(np.max(np.abs(jacrev(lambda u: total_cost(problem, start, u))(controls))))


def draw(found: Plan, states: Any, path: Path) -> None:
    """Draws the angle and the torque over time, and the cost over steps."""
    with picture(path, figsize=(11, 4)) as figure:
        time, fell = figure.subplots(1, 2, width_ratios=(3, 2))
        seconds = DT * numpy.arange(len(states))
        time.plot(seconds, numpy.degrees(states[:, 0]), color="tab:blue", label="angle in degrees, 180 is upright")
        time.axhline(180.0, color="0.7", linewidth=0.8, linestyle=":")
        time.set(xlabel="seconds", ylabel="angle", title="the swing")
        torque = time.twinx()
        torque.step(seconds[:-1], found.controls[:, 0], where="post", color="tab:orange", label="torque")
        torque.axhline(0.0, color="tab:orange", linewidth=0.5)
        torque.set(ylabel="torque")
        lines = [*time.get_lines()[:1], torque.get_lines()[0]]
        time.legend(lines, [line.get_label() for line in lines], loc="upper left")
        fell.semilogy(found.costs, ".-", color="tab:blue")
        fell.set(xlabel="step of iLQR", ylabel="cost", title="the plan gets better")
        fell.spines[["top", "right"]].set_visible(False)


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "pendulum")
    options_of.add_argument("--moments", type=int, default=100, help=f"of {DT} seconds (default: 100)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    start = numpy.zeros(2)
    push = 0.1 * numpy.random.default_rng(options.seed).standard_normal((options.moments, 1))
    with progress_bar(console, "planning", None, "cost") as done:
        found = plan(PENDULUM, start, push, options.backend, watch=done)
    states = numpy.asarray(run(PENDULUM, start, found.controls))
    slope = slope_of(PENDULUM, start, found.controls)
    torque = numpy.max(numpy.abs(found.controls))
    console.print(f"{len(found.costs) - 1} steps, cost {found.costs[0]:.4g} to {found.costs[-1]:.6g}")
    console.print(f"at the end {numpy.degrees(states[-1, 0]):.2f} degrees, speed {states[-1, 1]:.3f}")
    console.print(f"largest torque {torque:.2f}; to hold it level takes {GRAVITY}")
    console.print(f"largest derivative of the cost by a torque: {slope:.1e}")
    draw(found, states, options.output)
    console.print(f"picture: {options.output}")
    upright = numpy.max(numpy.abs(states[-1] - UPRIGHT)) < 0.1
    return 0 if upright and slope < 1e-4 and torque < GRAVITY else 1


if __name__ == "__main__":
    sys.exit(main())
