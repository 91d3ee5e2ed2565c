"""Compilation of an unrolled loop, ``sin(x * 2.)``: traced, lowered and compiled; lawful rerolls it."""

from __future__ import annotations

from typing import Any

from benchmarks._case import Timed, case
from benchmarks._systems import System
from benchmarks.cases.chains import chain


def compiling(system: System, equations: int, *, gradient: bool) -> Timed:
    """Returns the call that traces, lowers and compiles the chain, or its gradient; nothing is cached."""

    def call() -> Any:
        function = chain(system, equations)
        return system.jit_of_unrolled(system.grad(function) if gradient else function).lower(1.0).compile()

    return Timed(call, system.clear)


@case("compile of an unrolled loop", "896 equations", jax=0.1)
def short(system: System) -> Timed:
    return compiling(system, 896, gradient=False)


@case("compile of an unrolled loop", "gradient of 896 equations", jax=0.1)
def gradient_of_short(system: System) -> Timed:
    return compiling(system, 896, gradient=True)


@case("compile of an unrolled loop", "5,000 equations", jax=0.1)
def long(system: System) -> Timed:
    return compiling(system, 5_000, gradient=False)


@case("compile of an unrolled loop", "gradient of 5,000 equations", jax=0.1)
def gradient_of_long(system: System) -> Timed:
    return compiling(system, 5_000, gradient=True)
