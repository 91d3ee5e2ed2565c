"""Eager gradients of programs of NumPy's functions: a loop over rows of an array, and a loss of many small steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System
from benchmarks.cases.networks import plain

ROWS = 1_000
ITERATIONS = 100


@case("eager", f"grad of a loop over {ROWS:,} rows", autograd=None, torch=None)
def rows(system: System) -> Call:
    """A recurrence that reads an array row by row. JAX is left out: it compiles each row, for half a minute."""
    tanh = system.numpy.tanh
    x = plain(system).array(np.linspace(0.0, 1.0, ROWS * 4).reshape(ROWS, 4))

    def f(x: Any) -> Any:
        state = x[0]
        for i in range(1, ROWS):
            state = tanh(state + x[i])
        return system.numpy.sum(state)

    gradient = system.grad(f)
    return lambda: gradient(x)


@case("eager", f"grad of a scan of {ITERATIONS} iterations in a function", jax=None)
def loop(system: System) -> Call:
    """A loop whose body is redefined, and so traced, at each call."""
    numpy, scan = system.numpy, system.scan
    rng = np.random.default_rng(0)
    array = plain(system).array
    weights, xs = array(rng.normal(size=(8, 8)) / 4.0), array(rng.normal(size=(ITERATIONS, 8)))
    start = array(np.zeros(8))

    def f(weights: Any) -> Any:
        def body(state: Any, x: Any) -> Any:
            state = numpy.tanh(numpy.dot(weights, state) + x)
            return state, state

        return numpy.sum(scan(body, start, xs)[1] ** 2)

    gradient = system.grad(f)
    return lambda: system.wait(gradient(weights))


@case("eager", "grad of a weighted cross-entropy", jax=None, autograd=None, torch=None)
def cross_entropy(system: System) -> Call:
    """Reductions over axes, broadcasting, a slice, a choice and a matrix product."""
    numpy = system.numpy
    rng = np.random.default_rng(0)
    array = plain(system).array
    weights, x, wanted = (array(rng.normal(size=shape)) for shape in ((16, 8), (32, 16), (32, 8)))

    def f(weights: Any) -> Any:
        scores = numpy.dot(x, weights)
        scores = scores - numpy.max(scores, axis=1, keepdims=True)
        normalizer = numpy.log(numpy.sum(numpy.exp(scores), axis=1, keepdims=True))
        losses = numpy.where(wanted > 0.0, normalizer - scores, 0.0)
        return numpy.mean(losses) + 0.1 * numpy.sum(weights[1:] ** 2)

    gradient = system.grad(f)
    return lambda: gradient(weights)
