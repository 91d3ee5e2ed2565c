"""Equations of a program of unknown values whose results are known nevertheless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lawful.core import JaxprEqn, Literal, applies_effects, set_current
from lawful.ops import broadcast_in_dim_p
from lawful.staging._liveness import live_equation

if TYPE_CHECKING:
    from lawful.staging._recorder import PartialTrace


def evaluated(trace: PartialTrace, eqn: JaxprEqn) -> Any:
    """Evaluates the last equation of a trace, and removes it, if its results depend on no tracer; else returns None.

    There are two such equations. A linear call takes tangents: where a custom rule gives zeros, its results depend on
    none of them, and its rule for dead code removes these operands. And a loop that a rule differentiates along a known
    direction takes arrays of zeros, which are recorded so that they are no residuals.
    """
    if eqn.primitive is broadcast_in_dim_p and isinstance(eqn.invars[0], Literal):
        trace.filled[eqn.outvars[0]] = eqn, eqn.invars[0].val
        return None
    takes_zeros = not trace.filled.keys().isdisjoint(eqn.invars)
    if not (takes_zeros or "dce" in eqn.primitive.rules) or applies_effects(eqn.primitive, eqn.params):
        return None
    needed = live_equation(eqn, {*eqn.outvars})
    if needed is None or needed.primitive is not eqn.primitive:
        return None
    if not takes_zeros and len(needed.invars) == len(eqn.invars):
        return None
    known = dict(zip(trace.constants.variables, trace.constants.values, strict=True))
    if not all([type(atom) is Literal or atom in known or atom in trace.filled for atom in needed.invars]):
        return None
    trace.eqns.pop()
    parent = trace.parent
    assert parent is not None
    with set_current(parent):
        for var in trace.filled.keys() & {*needed.invars}:
            fill, value = trace.filled[var]
            known[var] = parent.process_primitive(fill.primitive, [value], fill.params)
        values = [atom.val if isinstance(atom, Literal) else known[atom] for atom in needed.invars]
        return parent.process_primitive(needed.primitive, values, needed.params)
