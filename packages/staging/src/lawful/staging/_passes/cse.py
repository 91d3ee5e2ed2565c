"""Common subexpressions: equations that compute the same value are computed once."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from lawful.core import Atom, ClosedJaxpr, JaxprEqn, Literal, Var, applies_effects, exact_key, map_jaxprs, memoize


@memoize
def cse_jaxpr(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr in which no two equations apply the same primitive to the same values.

    Equations with effects stay. The pass also runs on sub-jaxprs.

    Laws: it means the same; doing it twice is doing it once.

    >>> from lawful.staging import make_jaxpr
    >>> len(make_jaxpr(lambda x: (x * x) + (x * x))(3.0).eqns)
    3
    >>> len(cse_jaxpr(make_jaxpr(lambda x: (x * x) + (x * x))(3.0)).eqns)
    2
    """
    jaxpr = closed.jaxpr
    stands_for: dict[Var, Atom] = {}
    known: dict[Hashable, JaxprEqn] = {}
    eqns: list[JaxprEqn] = []

    def replaced(atom: Atom) -> Atom:
        return stands_for.get(atom, atom) if type(atom) is Var else atom

    for eqn in jaxpr.eqns:
        invars = [replaced(atom) for atom in eqn.invars]
        eqn = eqn.replace(invars=invars, params=map_jaxprs(cse_jaxpr, eqn.params))
        key = _key(eqn)
        first = None if key is None else known.setdefault(key, eqn)
        if first is None or first is eqn or applies_effects(eqn.primitive, eqn.params):
            eqns.append(eqn)
        else:
            stands_for.update(zip(eqn.outvars, first.outvars, strict=True))
    outvars = [replaced(atom) for atom in jaxpr.outvars]
    if len(eqns) == len(jaxpr.eqns) and all(
        new.params.items() == old.params.items() for new, old in zip(eqns, jaxpr.eqns, strict=True)
    ):
        return closed
    return ClosedJaxpr(jaxpr.replace(eqns=eqns, outvars=outvars), closed.consts)


def _key(eqn: JaxprEqn) -> Hashable:
    """Returns a key that only equal equations share; None if the parameters are not hashable."""
    params = tuple([(name, exact_key(eqn.params[name])) for name in sorted(eqn.params)])
    key = (eqn.primitive, tuple(map(_atom_key, eqn.invars)), params)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _atom_key(atom: Atom) -> Hashable:
    # Bytes, because 0.0 is not -0.0, and NaN is itself.
    return (atom.aval, np.asarray(atom.val).tobytes()) if type(atom) is Literal else atom
