"""How many programs within each other lawful and JAX transform at Python's recursion limit of 1,000.

    uv run --group bench python -m benchmarks.nesting lawful
    uv run --group bench python -m benchmarks.nesting jax

A row is the largest of some depths at which a transformation succeeds, and why the next one fails.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

DEPTHS: Final = (10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 125, 150)
#: No deeper program is tried after one that takes longer.
SECONDS: Final = 12.0
#: For each system the modules of cond and scan, jit and make_jaxpr, checkpoint and grad, vmap, and sin.
MODULES: Final = {
    "lawful": ("lawful.control_flow", "lawful.staging", "lawful.autodiff", "lawful.batching", "lawful.ops"),
    "jax": ("jax.lax", "jax", "jax", "jax", "jax.numpy"),
}


def constructs(system: str) -> dict[str, Callable[[Any], Any]]:
    """Returns, by name, functions that put a program into a further one."""
    control, staging, autodiff, _, _ = map(importlib.import_module, MODULES[system])
    return {
        "jit": lambda f: staging.jit(lambda x: f(x) * 1.5),
        "checkpoint": lambda f: autodiff.checkpoint(lambda x: f(x) * 1.5),
        "scan": lambda f: lambda x: control.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
        "cond": lambda f: lambda x: control.cond(x > 0.0, f, lambda y: y * 2.0, x),
    }


def transformations(system: str) -> dict[str, Callable[[Any], Any]]:
    _, staging, autodiff, batching, _ = map(importlib.import_module, MODULES[system])
    return {
        "make_jaxpr": lambda f: staging.make_jaxpr(f)(1.0),
        "grad": lambda f: staging.make_jaxpr(autodiff.grad(f))(1.0),
        "vmap": lambda f: staging.make_jaxpr(batching.vmap(f))(np.ones(3)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", choices=MODULES)
    system = parser.parse_args().system
    sin = importlib.import_module(MODULES[system][-1]).sin
    for name, transformation in transformations(system).items():
        for construct, nest in constructs(system).items():
            reached, reason = 0, ""
            for depth in DEPTHS:
                program = sin
                for _ in range(depth):
                    program = nest(program)
                start = time.process_time()
                try:
                    transformation(program)
                except RecursionError as error:  # lawful's NestingError is one
                    reason = type(error).__name__
                    break
                reached = depth
                if (taken := time.process_time() - start) > SECONDS:
                    reason = f"{taken:.0f} s"
                    break
            print(f"{name:12}{construct:12}{reached:5}  {reason}", flush=True)


if __name__ == "__main__":
    main()
