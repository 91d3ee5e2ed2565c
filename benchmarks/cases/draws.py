"""Compilation of random draws with a chain of split keys, as in a training loop."""

from __future__ import annotations

from typing import Any

from benchmarks._case import Timed, case
from benchmarks._systems import System

FEW, MANY = 2, 20


def compiling(system: System, draws: int, shape: tuple[int, ...]) -> Timed:
    """Returns the call that traces, lowers and compiles the sum of some draws; nothing is cached."""
    split, uniform, key = system.split, system.uniform, system.key(0)

    def call() -> Any:
        def f(key: Any) -> Any:
            total = 0.0
            for _ in range(draws):
                key, own = split(key)
                total = total + uniform(own, shape)
            return total

        return system.jit(f).lower(key).compile()

    return Timed(call, system.clear)


@case("compile of random draws", f"{FEW} draws of 8 numbers", jax=1.0)
def few(system: System) -> Timed:
    return compiling(system, FEW, (8,))


@case("compile of random draws", f"{MANY} draws of a number", jax=1.0)
def many_of_one(system: System) -> Timed:
    return compiling(system, MANY, ())


@case("compile of random draws", f"{MANY} draws of 8 numbers", jax=1.0)
def many(system: System) -> Timed:
    return compiling(system, MANY, (8,))


@case("compile of random draws", f"{MANY} draws of 100,000 numbers", jax=1.0)
def many_large(system: System) -> Timed:
    return compiling(system, MANY, (100_000,))
