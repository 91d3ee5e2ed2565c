"""Which values are zero, also of those that are being recorded or batched."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lawful.batching import BatchTrace
from lawful.core import Atom, Literal, Tracer
from lawful.staging import JaxprTracer

# How many equations, one after another, are looked through.
_DEPTH: Final = 64


def may_be_zero(x: Any) -> bool:
    """Whether a value is zero or unknown; a variable of a program being recorded is if its equations show that it is.

    Args:
      x: a value, a tracer, or None for an unknown value.

    >>> may_be_zero(np.zeros(2)), may_be_zero(2.0), may_be_zero(None)
    (True, False, True)
    """
    while isinstance(x, Tracer):
        if isinstance(x, JaxprTracer):
            return _is_zero(x._trace, x.variable, {}, _DEPTH)
        tracer: Any = x  # of a batch, which is all of its elements, or of a value under the enclosing trace
        x = tracer.val if isinstance(tracer._trace, BatchTrace) else tracer.parent_value()
    return x is None or not np.any(np.asarray(x))


def _is_zero(trace: Any, atom: Atom, found: dict[Atom, bool], depth: int) -> bool:
    """Whether recorded equations show that a variable is zero; ``found`` holds what is known of others."""
    if isinstance(atom, Literal):
        return may_be_zero(atom.val)
    if atom not in found:
        known = trace.constants
        values = [x for var, x in zip(known.variables, known.values, strict=True) if var is atom]
        found[atom] = may_be_zero(values[0]) if values else _is_result_zero(trace, atom, found, depth)
    return found[atom]


def _is_result_zero(trace: Any, atom: Atom, found: dict[Atom, bool], depth: int) -> bool:
    eqn = next((eqn for eqn in reversed(trace.eqns) if any(var is atom for var in eqn.outvars)), None)
    if eqn is None or eqn.primitive.declaration is None or not depth:
        return False
    # A primitive gives zero if all operands are zero of a set in which it is jointly linear.
    groups = [[x for i, x in enumerate(eqn.invars) if i in group] for group in eqn.primitive.declaration.linear]
    return any(group and all(_is_zero(trace, x, found, depth - 1) for x in group) for group in groups)
