"""Effects: programs that do more than return results, so that a pass must not drop, merge or repeat them."""

from __future__ import annotations

from typing import Any

from lawful.core._jaxpr.arguments import require_closed
from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn
from lawful.core._jaxpr.memoization import memoize
from lawful.core._jaxpr.nesting import distinct_jaxprs, holds_jaxprs, nested_jaxprs, sub_jaxprs
from lawful.core._primitive.primitive import Primitive

#: Up to this many equations a search is faster than a cache lookup. The programs of rules are that short.
_FEW = 32


def has_effects(closed: ClosedJaxpr) -> bool:
    """Whether an equation of a jaxpr, or of one inside it, applies an effectful primitive.

    >>> from lawful.core import parse_jaxpr, Primitive
    >>> beep_p = Primitive("beep", multiple_results=True, effectful=True)
    >>> has_effects(parse_jaxpr("{ lambda ; a:f64[]. let = beep a in (a,) }"))
    True
    """
    require_closed("has_effects", closed)
    eqns = closed.jaxpr.eqns
    if len(eqns) <= _FEW and not any([eqn.params and holds_jaxprs(eqn.params) for eqn in eqns]):
        return any([eqn.primitive.effectful for eqn in eqns])
    return _has_effects_within(closed)


@memoize
def _has_effects_within(closed: ClosedJaxpr) -> bool:
    return _any_effectful(closed.jaxpr)


def applies_effects(primitive: Primitive, params: dict[str, Any]) -> bool:
    """Whether a primitive, applied with some parameters, is effectful or is given a jaxpr that has effects.

    >>> applies_effects(Primitive("beep", effectful=True), {}), applies_effects(Primitive("double"), {})
    (True, False)
    """
    return primitive.effectful or any(
        has_effects(jaxpr) if isinstance(jaxpr, ClosedJaxpr) else _any_effectful(jaxpr)
        for jaxpr in sub_jaxprs(params.values())
    )


def _any_effectful(jaxpr: Jaxpr) -> bool:
    return any(eqn.primitive.effectful for inner in distinct_jaxprs((jaxpr,))[0] for eqn in inner.eqns)


def _effects_of_jaxpr(jaxpr: Jaxpr) -> frozenset[Primitive]:
    """Returns the effectful primitives that a jaxpr applies, also in jaxprs inside it."""
    applied = (eqn.primitive for inner in distinct_jaxprs((jaxpr,))[0] for eqn in inner.eqns)
    return frozenset(primitive for primitive in applied if primitive.effectful)


def _effects_of_eqn(eqn: JaxprEqn) -> frozenset[Primitive]:
    own = frozenset([eqn.primitive] if eqn.primitive.effectful else [])
    return own.union(*map(_effects_of_jaxpr, nested_jaxprs(eqn)))


Jaxpr.effects = property(_effects_of_jaxpr)  # type: ignore[assignment]
JaxprEqn.effects = property(_effects_of_eqn)  # type: ignore[assignment]
