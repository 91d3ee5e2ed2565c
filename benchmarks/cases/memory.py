"""The residuals of a linearized scan."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import Call, case
from benchmarks._systems import System

ITERATIONS, WIDTH = 4_096, 256


def residuals(system: System, **options: Any) -> float:
    """Returns the bytes of the residuals of a recurrence, except for its own arguments."""
    numpy = system.numpy
    weight = system.array(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)) / 16)
    xs = system.array(np.zeros((ITERATIONS, WIDTH)))

    def recurrence(h: Any) -> Any:
        return system.scan(lambda h, x: (numpy.tanh(numpy.dot(weight, h) + x), None), h, xs, **options)[0]

    found = system.residuals(recurrence, system.array(np.ones(WIDTH)))
    return float(sum(residual.nbytes for residual in found if not any(residual is x for x in (weight, xs))))


@case("reverse-mode memory", "scan of 4,096 iterations of 256, kept by default", unit="bytes", jax=1.0)
def by_default(system: System) -> Call:
    return partial(residuals, system)


@case("reverse-mode memory", "the same with checkpoints=16", unit="bytes", jax=0.02)
def with_checkpoints(system: System) -> Call:
    return partial(residuals, system, checkpoints=16) if system.name == "lawful" else partial(residuals, system)
