"""Compiling with NumPy, against running eagerly."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System


def small(x: Any) -> Any:
    """Twenty small operations."""
    from lawful import ops

    for _ in range(5):
        x = ops.sin(ops.add(ops.mul(x, 1.5), ops.neg(x)))
    return x


@case("NumPy backend", "20 small operations, against eager", eager=0.8)
def dispatch(system: System) -> Call:
    from lawful.staging import jit

    f = jit(small, backend="numpy") if system.name == "lawful" else small
    x = np.ones(4)
    return lambda: f(x)


ELEMENTS = 1_000_000


def large(x: Any) -> Any:
    """Twenty elementwise operations."""
    y = x
    for _ in range(5):
        u = y * 1.5 + x
        y = u * u - 0.5
    return y


def gradient_by_hand(x: Any) -> Any:
    """Returns the gradient of the sum of `large`, as one writes it in NumPy."""
    y, kept = x, []
    for _ in range(5):
        u = y * 1.5 + x
        kept.append(u)
        y = u * u - 0.5
    total: Any = 0.0
    y_bar = np.ones_like(x)
    for u in reversed(kept):
        u_bar = 2.0 * u * y_bar
        total = total + u_bar
        y_bar = 1.5 * u_bar
    return total + y_bar


def _value(system: System) -> Call:
    from lawful.staging import jit

    f = jit(large, backend="numpy") if system.name == "lawful" else large
    x = np.linspace(-1.0, 1.0, ELEMENTS)
    return lambda: f(x)


def _gradient(system: System) -> Call:
    from lawful.staging import jit

    f = gradient_by_hand
    if system.name == "lawful":
        f = jit(system.grad(lambda x: large(x).sum()), backend="numpy")
    x = np.linspace(-1.0, 1.0, ELEMENTS)
    np.testing.assert_allclose(f(x), gradient_by_hand(x))
    return lambda: f(x)


def _peak(call: Call) -> Call:
    """Returns a call that returns the most bytes that another one had allocated at a time."""

    def measured() -> float:
        call()
        tracemalloc.start()
        call()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return float(most)

    return measured


@case("NumPy backend", "20 elementwise operations on 1,000,000 numbers", eager=0.5)
def value(system: System) -> Call:
    return _value(system)


@case("NumPy backend", "its gradient", eager=0.5)
def gradient(system: System) -> Call:
    return _gradient(system)


@case("NumPy backend", "peak memory of the 20 operations", unit="bytes", eager=0.6)
def memory(system: System) -> Call:
    return _peak(_value(system))


@case("NumPy backend", "peak memory of the gradient", unit="bytes", eager=0.6)
def memory_of_gradient(system: System) -> Call:
    return _peak(_gradient(system))
