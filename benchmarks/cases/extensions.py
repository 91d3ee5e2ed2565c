"""Eager derivatives that programs for Autograd consist of: users' primitives, special functions, small Jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System
from benchmarks.cases.networks import plain

PRIMITIVES = 10
NUMBERS = 1_000
ROWS = 5


@case("eager", f"grad of {PRIMITIVES} calls of a user's primitive", autograd=0.9)
def primitives(system: System) -> Call:
    """A chain of calls of a function with a rule of reverse mode, of a number."""
    square = system.primitive(lambda x: x * x)
    system.defvjp(square, lambda ans, x: lambda g: g * 2.0 * x)

    def f(x: Any) -> Any:
        for _ in range(PRIMITIVES):
            x = square(x)
        return x

    gradient = system.grad(f)
    return lambda: gradient(0.9)


@case("eager", f"grad of gammaln of {NUMBERS:,} numbers", autograd=0.9)
def log_gamma(system: System) -> Call:
    gammaln, numpy = system.gammaln, system.numpy
    x = plain(system).array(np.linspace(0.3, 5.0, NUMBERS))
    gradient = system.grad(lambda x: numpy.sum(gammaln(x)))
    return lambda: gradient(x)


@case("eager", f"Jacobian of {ROWS} rows", autograd=0.9)
def few_rows(system: System) -> Call:
    numpy = system.numpy
    x = plain(system).array(np.linspace(0.1, 0.9, ROWS))
    jacobian = system.jacobian(lambda x: numpy.sin(x) * x[0])
    return lambda: jacobian(x)


@case("eager", f"grad of a choice among {NUMBERS:,} numbers", autograd=None)
def choice(system: System) -> Call:
    numpy = system.numpy
    x = plain(system).array(np.linspace(-1.0, 1.0, NUMBERS))
    gradient = system.grad(lambda x: numpy.sum(numpy.where(x > 0.0, numpy.clip(x, 0.1, 0.9), 0.5 * x)))
    return lambda: gradient(x)
