"""The overhead of a call of a compiled function."""

from __future__ import annotations

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System

GROUP = "compiled call"


@case(GROUP, "one array", jax=1.0)
def one_array(system: System) -> Call:
    f = system.jit(lambda x: x + 1.0)
    x = system.array(np.float64(1.0))
    return lambda: f(x)


@case(GROUP, "10 in, 10 out", jax=1.05)
def ten_arrays(system: System) -> Call:
    f = system.jit(lambda *xs: [x + 1.0 for x in xs])
    xs = [system.array(np.float64(i)) for i in range(10)]
    return lambda: f(*xs)


@case(GROUP, "12-leaf dict in and out", jax=1.05)
def dict_of_arrays(system: System) -> Call:
    f = system.jit(
        lambda tree: {layer: {name: x + 1.0 for name, x in params.items()} for layer, params in tree.items()}
    )
    tree = {f"layer{i}": {name: system.array(np.ones(2)) for name in ("w", "b", "s")} for i in range(4)}
    return lambda: f(tree)


@case(GROUP, "100 in, 1 out", jax=1.05)
def hundred_arrays(system: System) -> Call:
    f = system.jit(lambda *xs: sum(xs[1:], xs[0]))
    xs = [system.array(np.float64(i)) for i in range(100)]
    return lambda: f(*xs)


@case(GROUP, "NumPy argument", jax=1.0)
def numpy_argument(system: System) -> Call:
    f = system.jit(lambda x: x + 1.0)
    x = np.ones(16)
    return lambda: f(x)


@case(GROUP, "Python scalar argument", jax=1.0)
def python_scalar(system: System) -> Call:
    f = system.jit(lambda x: x + 1.0)
    return lambda: f(2.0)
