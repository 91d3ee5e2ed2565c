"""Which values are zero, also of those that are being recorded or batched."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lawful.batching import BatchTrace
from lawful.core import Atom, Literal, NotLinearError, Tracer
from lawful.custom_rules._user_rules.dependence import Analysis, Dependence, sets_of_zeros
from lawful.staging import JaxprTracer

# How many equations, one after another, are looked through.
_DEPTH: Final = 64


def is_zero(x: Any) -> bool:
    """Whether a value is known to be zero; a variable of a program being recorded is if its equations show that it is.

    >>> is_zero(np.zeros(2)), is_zero(2.0)
    (True, False)
    """
    while isinstance(x, Tracer):
        if isinstance(x, JaxprTracer):
            return _is_zero(x._trace, x.variable, {}, _DEPTH)
        tracer: Any = x  # of a batch, which is all of its elements, or of a value under the enclosing trace
        x = tracer.val if isinstance(tracer._trace, BatchTrace) else tracer.parent_value()
    return x is not None and not np.any(np.asarray(x))


def _is_zero(trace: Any, atom: Atom, found: dict[Atom, bool], depth: int) -> bool:
    """Whether recorded equations show that a variable is zero; ``found`` holds what is known of others."""
    if isinstance(atom, Literal):
        return is_zero(atom.val)
    if atom not in found:
        known = trace.constants
        values = [x for var, x in zip(known.variables, known.values, strict=True) if var is atom]
        found[atom] = is_zero(values[0]) if values else _is_result_zero(trace, atom, found, depth)
    return found[atom]


def _is_result_zero(trace: Any, atom: Atom, found: dict[Atom, bool], depth: int) -> bool:
    eqn = next((eqn for eqn in reversed(trace.eqns) if any(var is atom for var in eqn.outvars)), None)
    if eqn is None or not depth:
        return False

    def is_operand_zero(i: int) -> bool:
        return _is_zero(trace, eqn.invars[i], found, depth - 1)

    groups = sets_of_zeros(eqn)
    if groups is None:
        zeros = [Dependence.ZERO if is_operand_zero(i) else Dependence.CONSTANT for i in range(len(eqn.invars))]
        results = Analysis(is_zero, lambda got, _: NotLinearError(got)).results(eqn, tuple(zeros))
        return results[[var is atom for var in eqn.outvars].index(True)] is Dependence.ZERO
    return any(all(map(is_operand_zero, group)) for group in groups)
