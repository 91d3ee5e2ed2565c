"""Exercise 3: a pass. ``cancel_negations`` replaces ``neg (neg x)`` by ``x``."""

from __future__ import annotations

from lawful import ops
from lawful.core import Atom, ClosedJaxpr, JaxprEqn, Var, map_jaxprs
from lawful.staging import dce_jaxpr


def cancel_negations(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr that negates nothing twice. Jaxprs inside equations are treated alike.

    Laws: it means the same; doing it twice is doing it once.
    """
    jaxpr = closed.jaxpr
    stands_for: dict[Var, Atom] = {}
    negated: dict[Var, Atom] = {}
    eqns: list[JaxprEqn] = []

    def replaced(atom: Atom) -> Atom:
        return stands_for.get(atom, atom) if isinstance(atom, Var) else atom

    for eqn in jaxpr.eqns:
        invars = [replaced(atom) for atom in eqn.invars]
        eqn = eqn.replace(invars=invars, params=map_jaxprs(cancel_negations, eqn.params))
        if eqn.primitive is ops.neg_p:
            (x,), (out,) = eqn.invars, eqn.outvars
            if isinstance(x, Var) and x in negated:
                stands_for[out] = negated[x]
            else:
                negated[out] = x
        eqns.append(eqn)
    outvars = [replaced(atom) for atom in jaxpr.outvars]
    return dce_jaxpr(ClosedJaxpr(jaxpr.replace(eqns=eqns, outvars=outvars), closed.consts), (True,) * len(outvars))
