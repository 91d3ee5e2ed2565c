"""A chain of 2,000 equations, ``sin(x * 2.)``, through each stage; nothing is cached between calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._case import Call, Timed, case
from benchmarks._systems import System

EQUATIONS = 2_000


def chain(system: System, equations: int = EQUATIONS) -> Any:
    """Returns the chain as a new function, which no cache contains."""
    sin = system.numpy.sin

    def f(x: Any) -> Any:
        for _ in range(equations // 2):
            x = sin(x * 2.0)
        return x

    return f


@case("tracing", "make_jaxpr", jax=0.30)
def make_jaxpr(system: System) -> Timed:
    return Timed(lambda: system.make_jaxpr(chain(system))(1.0), system.clear)


@case("tracing", "make_jaxpr(grad(f))", jax=0.08)
def make_jaxpr_of_grad(system: System) -> Timed:
    return Timed(lambda: system.make_jaxpr(system.grad(chain(system)))(1.0), system.clear)


@case("tracing", "make_jaxpr(grad(grad(f)))", jax=0.08)
def make_jaxpr_of_second(system: System) -> Timed:
    return Timed(lambda: system.make_jaxpr(system.grad(system.grad(chain(system))))(1.0), system.clear)


@case("lowering", "to StableHLO", jax=0.35)
def lower(system: System) -> Timed:
    traced: list[Any] = []

    def trace() -> None:
        system.clear()
        traced[:] = [system.jit(chain(system)).trace(1.0)]

    return Timed(lambda: traced[0].lower(), trace)


@case("eager", "grad, 2,000 equations", jax=0.05, autograd=0.9, torch=None)
def grad(system: System) -> Call:
    return lambda: system.grad(chain(system))(1.0)


@case("eager", "grad of x**2 + x", jax=0.05, autograd=0.9, torch=None)
def grad_of_scalar(system: System) -> Call:
    gradient = system.grad(lambda x: x**2 + x)
    return lambda: gradient(3.0)


@case("eager", "grad(grad(f)), 2,000 equations", autograd=0.5, torch=None)
def second(system: System) -> Call:
    return lambda: system.grad(system.grad(chain(system)))(1.0)


@case("eager", "jvp, 2,000 equations", jax=0.05, torch=None)
def jvp(system: System) -> Call:
    one = np.float64(1.0)
    return lambda: system.jvp(chain(system), (one,), (one,))
