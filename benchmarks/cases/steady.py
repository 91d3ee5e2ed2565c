"""Compiled programs in steady state: the time is XLA's."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System
from benchmarks.cases.networks import batch, hessian_vector_product, loss, parameters, per_example_gradients

GROUP = "steady state"


@case(GROUP, "training step of a network", jax=1.0)
def network(system: System) -> Call:
    value_and_grad = system.value_and_grad(loss(system))

    def step(params: Any, x: Any) -> Any:
        value, gradients = value_and_grad(params, x)
        layers = zip(params, gradients, strict=True)
        return value, [tuple([p - 0.1 * g for p, g in zip(*layer, strict=True)]) for layer in layers]

    f, params, x = system.jit(step), parameters(system), batch(system)
    return lambda: system.wait(f(params, x))


def lstm(system: System, length: int = 64, width: int = 32) -> tuple[Any, Any, Any]:
    """Returns a loss of an LSTM by scan, its parameters and a sequence of batches of 16."""
    numpy, rng = system.numpy, np.random.default_rng(0)
    params = {
        "w": system.array(rng.normal(size=(2 * width, 4 * width)) / np.sqrt(2 * width)),
        "b": system.array(np.zeros(4 * width)),
    }
    xs = system.array(rng.normal(size=(length, 16, width)))

    def sigmoid(x: Any) -> Any:
        return 1.0 / (1.0 + numpy.exp(-x))

    def cell(params: Any, carry: Any, x: Any) -> Any:
        h, c = carry
        gates = numpy.dot(numpy.concatenate([x, h], 1), params["w"]) + params["b"]
        i, f, g, o = (gates[:, k * width : (k + 1) * width] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        return (sigmoid(o) * numpy.tanh(c), c), None

    def mean_square(params: Any, xs: Any) -> Any:
        zeros = numpy.zeros((16, width))
        (h, _), _ = system.scan(lambda carry, x: cell(params, carry, x), (zeros, zeros), xs)
        return numpy.mean(h * h)

    return mean_square, params, xs


@case(GROUP, "training step of an LSTM by scan", jax=1.0)
def recurrent(system: System) -> Call:
    f, params, xs = lstm(system)
    step = system.jit(system.grad(f))
    return lambda: system.wait(step(params, xs))


@case(GROUP, "per-example gradients", jax=1.0)
def per_example(system: System) -> Call:
    f, params, x = system.jit(per_example_gradients(system)), parameters(system, layers=3), batch(system)
    return lambda: system.wait(f(params, x))


@case(GROUP, "Hessian-vector product", jax=1.0)
def hessian_vector(system: System) -> Call:
    f, params, x = system.jit(hessian_vector_product(system)), parameters(system), batch(system)
    return lambda: system.wait(f(params, x, params))


@case(GROUP, "gradient of a Gaussian mixture", jax=1.0)
def mixture(system: System) -> Call:
    """The objective of GradBench's ``gmm``: 1,000 points of 10 dimensions, 25 components."""
    numpy, rng = system.numpy, np.random.default_rng(0)
    count, dims, parts = 1_000, 10, 25
    points = system.array(rng.normal(size=(count, dims)))
    params = {
        "alphas": system.array(rng.normal(size=parts)),
        "means": system.array(rng.normal(size=(parts, dims))),
        "q": system.array(rng.normal(size=(parts, dims))),
        "l": system.array(rng.normal(size=(parts, dims, dims)) * np.tri(dims, k=-1)),
    }

    def log_sum_exp(x: Any) -> Any:
        largest = numpy.max(x, axis=-1, keepdims=True)
        return numpy.log(numpy.sum(numpy.exp(x - largest), axis=-1)) + largest[..., 0]

    def objective(params: Any, points: Any) -> Any:
        q = params["q"]
        factors = numpy.exp(q)[:, :, None] * np.eye(dims) + params["l"]
        centred = points[:, None, :] - params["means"][None]
        squared = numpy.sum(numpy.einsum("kij,nkj->nki", factors, centred) ** 2, axis=2)
        main = params["alphas"] + numpy.sum(q, axis=1) - 0.5 * squared
        return numpy.sum(log_sum_exp(main)) - count * log_sum_exp(params["alphas"])

    gradient = system.jit(system.grad(objective))
    return lambda: system.wait(gradient(params, points))


@case(GROUP, "solution of a differential equation, and its derivative", jax=1.0)
def differential_equation(system: System) -> Call:
    """Van der Pol's oscillator by 200 steps of Runge and Kutta, differentiated by its parameter."""
    numpy = system.numpy

    def slope(y: Any, mu: Any) -> Any:
        return numpy.stack([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]])

    def step(y: Any, mu: Any, h: float = 0.05) -> Any:
        a = slope(y, mu)
        b = slope(y + 0.5 * h * a, mu)
        c = slope(y + 0.5 * h * b, mu)
        d = slope(y + h * c, mu)
        return y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)

    def end(mu: Any, start: Any) -> Any:
        return numpy.sum(system.scan(lambda y, _: (step(y, mu), None), start, None, 200)[0])

    f, start = system.jit(system.value_and_grad(end)), system.array(np.array([2.0, 0.0]))
    return lambda: system.wait(f(1.5, start))
