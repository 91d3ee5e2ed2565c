"""Autograd as a system that laws can be held against, with what the text of a program for it imports.

>>> import numpy as np
>>> from lawful.laws import Case, law_vjp_transpose
>>> from lawful.laws.systems.autograd import ops, system
>>> law_vjp_transpose(system, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
"""

from lawful.laws.systems.autograd._functions import ops
from lawful.laws.systems.autograd._system import (
    Autograd,
    array,
    cond,
    grad,
    jvp,
    stop_gradient,
    switch,
    system,
    value_and_grad,
    vjp,
)

__all__ = [
    "Autograd",
    "array",
    "cond",
    "grad",
    "jvp",
    "ops",
    "stop_gradient",
    "switch",
    "system",
    "value_and_grad",
    "vjp",
]
