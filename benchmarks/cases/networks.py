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


def per_example_gradients(system: System) -> Any:
    """Returns the function from a network's parameters and a batch to the gradients of each example."""
    f = loss(system)
    return system.vmap(system.grad(lambda params, x: f(params, x[None])), (None, 0))


def hessian_vector_product(system: System) -> Any:
    """Returns the function from a network's parameters, a batch and a tangent to the tangent of the gradient."""
    f = loss(system)
    return lambda params, x, v: system.jvp(system.grad(lambda params: f(params, x)), (params,), (v,))[1]


def plain(system: System) -> System:
    """Returns a system whose eager functions take NumPy arrays, if it has one; then there is nothing to wait for."""
    from dataclasses import replace

    return system if system.name in ("jax", "torch") else replace(system, array=lambda x: x, wait=lambda x: x)


@case("eager", "grad of a network of 10 layers", jax=0.05, autograd=1.0, torch=None)
def grad(system: System) -> Call:
    system = plain(system)
    gradient, params, x = system.grad(loss(system)), parameters(system), batch(system)
    return lambda: system.wait(gradient(params, x))


@case("eager", "linearize the network once, apply it 100 times", jax=0.5, torch=None)
def linearize(system: System) -> Call:
    system = plain(system)
    f, params, x = loss(system), parameters(system), batch(system)

    def run() -> Any:
        _, push = system.linearize(lambda params: f(params, x), params)
        for _ in range(100):
            out = push(params)
        return system.wait(out)

    return run


@case("eager", "per-example gradients of a network of 3 layers", jax=None, torch=None)
def per_example(system: System) -> Call:
    system = plain(system)
    f, params, x = per_example_gradients(system), parameters(system, layers=3), batch(system)
    return lambda: system.wait(f(params, x))


@case("eager", "Hessian-vector product of the network", jax=None, torch=None)
def hessian_vector(system: System) -> Call:
    system = plain(system)
    f, params, x = hessian_vector_product(system), parameters(system), batch(system)
    return lambda: system.wait(f(params, x, params))
