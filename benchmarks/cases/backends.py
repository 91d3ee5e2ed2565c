"""Compiling with NumPy, against running eagerly."""

from __future__ import annotations

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
