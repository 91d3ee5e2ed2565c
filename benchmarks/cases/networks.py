"""A network of 10 layers on batches of 64 × 32, with no compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System

Params = list[tuple[Any, Any]]


def parameters(system: System, layers: int = 10, width: int = 32) -> Params:
    """Returns weights and biases, as the system's arrays."""
    rng = np.random.default_rng(0)
    shapes = [((width, width), (width,))] * layers
    return [
        (system.array(rng.normal(size=w) / np.sqrt(width)), system.array(rng.normal(size=b) * 0.1)) for w, b in shapes
    ]


def batch(system: System, width: int = 32) -> Any:
    """Returns a batch of 64 examples."""
    return system.array(np.random.default_rng(1).normal(size=(64, width)))


def loss(system: System) -> Any:
    """Returns the mean square of a network's outputs, as a function of its parameters and a batch."""
    numpy = system.numpy

    def mean_square(params: Params, x: Any) -> Any:
        for weight, bias in params:
            x = numpy.tanh(numpy.dot(x, weight) + bias)
        return numpy.mean(x * x)

    return mean_square


def plain(system: System) -> System:
    """Returns a system whose eager functions take NumPy's arrays, where it has such."""
    from dataclasses import replace

    return system if system.name == "jax" else replace(system, array=lambda x: x)


@case("eager", "grad of a network of 10 layers", jax=0.05, autograd=1.0)
def grad(system: System) -> Call:
    system = plain(system)
    gradient, params, x = system.grad(loss(system)), parameters(system), batch(system)
    return lambda: system.wait(gradient(params, x))


@case("eager", "linearize the network once, apply it 100 times", jax=0.5)
def linearize(system: System) -> Call:
    system = plain(system)
    f, params, x = loss(system), parameters(system), batch(system)

    def run() -> Any:
        _, push = system.linearize(lambda params: f(params, x), params)
        for _ in range(100):
            out = push(params)
        return system.wait(out)

    return run
