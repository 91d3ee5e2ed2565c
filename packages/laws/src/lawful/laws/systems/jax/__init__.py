"""JAX as a system that laws can be held against, with what the text of a program for it imports.

Importing this turns on ``jax_enable_x64`` for the process: the laws are of numbers of 64 bits, and JAX's context
manager for them would neither reach other threads nor a program that has been pasted.

>>> import numpy as np
>>> from lawful.laws import Case, law_vjp_transpose
>>> from lawful.laws.systems.jax import ops, system
>>> law_vjp_transpose(system, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
"""

from lawful.laws.systems.jax._functions import ops
from lawful.laws.systems.jax._own_rules import with_jvp_rule
from lawful.laws.systems.jax._system import (
    Jax,
    array,
    associative_scan,
    checkpoint,
    cond,
    fori_loop,
    grad,
    jit,
    jvp,
    linearize,
    map,
    scan,
    stop_gradient,
    switch,
    system,
    value_and_grad,
    vjp,
    vmap,
)

__all__ = [
    "Jax",
    "array",
    "associative_scan",
    "checkpoint",
    "cond",
    "fori_loop",
    "grad",
    "jit",
    "jvp",
    "linearize",
    "map",
    "ops",
    "scan",
    "stop_gradient",
    "switch",
    "system",
    "value_and_grad",
    "vjp",
    "vmap",
    "with_jvp_rule",
]
