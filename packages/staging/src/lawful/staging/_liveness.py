"""The live part of one equation, by the rule for dead code of its primitive."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from lawful.core import Atom, JaxprEqn, applies_effects


def live_equation(eqn: JaxprEqn, live: AbstractSet[Atom]) -> JaxprEqn | None:
    """Returns the live part of an equation; None if no result is live and it has no effects.

    A rule may also return None, where effects belong to the computation of results that are not live.

    >>> from lawful.staging import make_jaxpr
    >>> (eqn,) = make_jaxpr(lambda x: x * x)(3.0).eqns
    >>> live_equation(eqn, {*eqn.outvars}) is eqn, live_equation(eqn, set())
    (True, None)
    """
    if live.isdisjoint(eqn.outvars) and not applies_effects(eqn.primitive, eqn.params):
        return None
    rule = eqn.primitive.rule_or_none("dce")
    if rule is None:
        return eqn
    needed: JaxprEqn | None = rule([var in live for var in eqn.outvars], eqn)
    return needed
