"""Derivatives inside loops inside derivatives: the programs "saddle" and "particle" of GradBench.

    uv run --group examples python examples/nested.py

Both minimize, by gradient descent, a function that itself contains a derivative and a loop. "saddle" looks for
min max (x² - y²), so that the outer gradient is taken through an inner gradient descent. "particle" looks for the
charge that makes a particle, which falls in the field of two charges, land in the origin; the field is the gradient of
a potential, taken at each step of the fall. The outer and the inner gradient are each taken in forward (f) or in
reverse mode (r). Every loop is a `while_loop` whose number of turns depends on its data.

It prints the four results of each program, how far they are from the published ones, and how long each took.

Source: Siskind and Pearlmutter, "Using polyvariant union-free flow analysis to compile a higher-order
functional-programming language with a first-class derivative operator to efficient Fortran-like code", Purdue, 2008;
GradBench, evals "saddle" and "particle", for the descent and its constants.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy
from rich.console import Console
from rich.table import Table

import lawful.numpy as np
from lawful.autodiff import jacfwd, jacrev
from lawful.control_flow import cond, while_loop
from lawful.staging import get_backend, jit

MODES = {"f": jacfwd, "r": jacrev}
#: Results of the programs in all four pairs of modes: each of four coordinates of the saddle.
PUBLISHED = {"saddle": 8.246324826140356e-06, "particle": 0.20719187464861196}

Function = Callable[[Any], Any]


def length(x: Any) -> Any:
    """Returns the length of a vector, with derivative zero where that is zero."""
    square = np.sum(np.square(x))
    return np.where(square > 0.0, np.sqrt(np.where(square > 0.0, square, 1.0)), 0.0)


def lowest(f: Function, start: Any, gradient: Callable[[Function], Function]) -> Any:
    """Returns where a function of a vector is lowest, by gradient descent.

    A step that does not lower the function is halved; after ten steps that do the next one is doubled.
    """
    slope = gradient(f)

    def goes_on(state: Any) -> Any:
        _, _, g, _, _, done = state
        return np.logical_and(np.logical_not(done), length(g) > 1e-5)

    def double(state: Any) -> Any:
        x, fx, g, eta, _, done = state
        return x, fx, g, 2.0 * eta, 0, done

    def take(state: Any) -> Any:
        x, fx, g, eta, steps, _ = state
        there = x - eta * g
        value = f(there)
        return cond(
            length(there - x) <= 1e-5,
            lambda: (x, fx, g, eta, steps, True),
            lambda: cond(
                value < fx,
                lambda: (there, value, slope(there), eta, steps + 1, False),
                lambda: (x, fx, g, 0.5 * eta, np.zeros_like(steps), False),
            ),
        )

    first = (start, f(start), slope(start), 1e-5, 0, False)
    return while_loop(goes_on, lambda state: cond(state[4] == 10, double, take, state), first)[0]


def saddle(outer: Callable[..., Any], inner: Callable[..., Any]) -> Any:
    """Returns the saddle point of ``x² - y²``, with ``x`` and ``y`` in the plane, as far as the descent gets."""
    start = np.array([1.0, 1.0])

    def f(x: Any, y: Any) -> Any:
        return np.sum(np.square(x)) - np.sum(np.square(y))

    def highest(x: Any) -> Any:
        return f(x, lowest(lambda y: -f(x, y), start, inner))

    x = lowest(highest, start, outer)
    y = lowest(lambda y: -f(x, y), start, inner)
    return np.concatenate([x, y])


def landing(charge: Any, inner: Callable[..., Any]) -> Any:
    """Returns the square of where a particle meets the ground, by Euler's method."""
    charges = np.stack([np.stack([np.asarray(10.0), 10.0 - charge]), np.array([10.0, 0.0])])
    dt = 1e-1

    def potential(x: Any) -> Any:
        return np.sum(1.0 / np.sqrt(np.sum(np.square(charges - x), axis=1)))

    def is_above(state: Any) -> Any:
        position, velocity = state
        return position[1] + dt * velocity[1] > 0.0

    def fall(state: Any) -> Any:
        position, velocity = state
        return position + dt * velocity, velocity - dt * inner(potential)(position)

    position, velocity = while_loop(is_above, fall, (np.array([0.0, 8.0]), np.array([0.75, 0.0])))
    return np.square(position[0] - position[1] / velocity[1] * velocity[0])


def particle(outer: Callable[..., Any], inner: Callable[..., Any]) -> Any:
    """Returns the charge with which the particle meets the ground in the origin."""
    return lowest(lambda w: landing(w[0], inner), np.array([0.0]), outer)[0]


PROGRAMS = {"saddle": saddle, "particle": particle}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*", help=f"of {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--modes", nargs="+", default=["ff", "fr", "rf", "rr"], help="outer and inner (default: all)")
    parser.add_argument("--backend", help="xla or numpy (default: XLA where it is installed)")
    options = parser.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    table = Table("program", "modes", "result", "off by", "compilation", "run")
    right = True
    for name in options.program or PROGRAMS:
        for outer, inner in options.modes:
            with console.status(f"{name}, {outer}{inner}"):
                program = PROGRAMS[name]
                start = time.perf_counter()
                compiled = jit(lambda p=program, o=outer, i=inner: p(MODES[o], MODES[i]), backend=options.backend)
                compiled = compiled.lower().compile()
                ready = time.perf_counter()
                result = numpy.asarray(compiled())
                ran = time.perf_counter()
            times = [f"{seconds:.2f} s" for seconds in (ready - start, ran - ready)]
            off = numpy.max(numpy.abs(result - PUBLISHED[name])) / PUBLISHED[name]
            table.add_row(name, f"{outer}, {inner}", f"{numpy.ravel(result)[0]:.12g}", f"{off:.0e}", *times)
            right &= bool(off <= 1e-9)
    console.print(table)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
