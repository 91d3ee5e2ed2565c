"""Deduplication of jaxprs: a jaxpr that was traced recently replaces later ones with the same equations.

The body of a loop, a branch or a checkpointed function is traced in each call of the function around it, and is nearly
always the same program. Its derivatives and its compiled form are kept with the jaxpr, and cost many times as much as
tracing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from lawful.core._fast.rule_cache import definitions
from lawful.core._jaxpr.jaxpr import Atom, ClosedJaxpr, Literal, Var
from lawful.core._jaxpr.parameter_keys import UnknownParamError, known_param
from lawful.core._trace.trace import current
from lawful.core._types.dtypes import float0
from lawful.tree.base import Cache, exact_key

#: A longer program is rarely traced again.
_MOST_EQUATIONS: Final = 1_000
#: A jaxpr with more cached results is replaced, because their keys may hold the user's objects.
_MOST_RESULTS: Final = 64

#: A structure and its jaxpr, by the hash of the structure.
_jaxprs: Final[Cache[int, tuple[Hashable, ClosedJaxpr]]] = Cache("deduplicated jaxprs", 256)
#: Hashes of structures that were traced once.
_seen_once: Final[Cache[int, bool]] = Cache("jaxprs traced once", 8_192)


def deduplicate(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns an equal jaxpr that was given before, if there is one; else the jaxpr itself.

    Two are equal if they have the same name, and each equation the same primitive, parameters, operands, types and
    line of the user's. A jaxpr is never found again if it has constants, if its parameters hold functions or other
    objects of the user's, or if it was traced under other named axes, or before a rule was defined. Axes that types
    record are other ones than those of `vmap`: what is derived from the jaxpr has other types.

    Where values are computed at once, a program may never come again, as one with another number in each call: it is
    kept the second time. A program that is recorded is the same whatever ran before.

    >>> from lawful.core import Jaxpr
    >>> programs = [ClosedJaxpr(Jaxpr((), (), (), ())) for _ in range(3)]
    >>> first, second, third = [deduplicate(closed) for closed in programs]
    >>> third is second
    True
    """
    key = _structure(closed)
    if key is None:
        return closed
    trace = current.trace
    key = (trace.axis_env, trace.checked_axes, trace.divergent_axes, definitions(), key)
    try:
        number = hash(key)
    except TypeError:  # a parameter of the user's is not hashable
        return closed
    closed.is_plain = True
    kept: tuple[Hashable, ClosedJaxpr] | None = _jaxprs.lookup(number)
    if kept is not None and kept[0] == key and len(kept[1].memo or ()) <= _MOST_RESULTS:
        return kept[1]
    if _seen_once.lookup(number, False) or not trace.evaluates_constants:
        _jaxprs.insert(number, (key, closed))
    else:
        _seen_once.insert(number, True)
    return closed


def _structure(closed: ClosedJaxpr) -> Hashable:
    """Returns a key that only equal programs share; None if equality cannot be told."""
    jaxpr = closed.jaxpr
    if closed.consts or len(jaxpr.eqns) > _MOST_EQUATIONS:
        return None
    number: dict[Var, int] = {var: i for i, var in enumerate(jaxpr.invars)}

    def known(atom: Atom) -> Hashable:
        return number[atom] if isinstance(atom, Var) else _literal(atom)

    equations: list[Hashable] = []
    try:
        for eqn in jaxpr.eqns:
            operands = tuple([known(atom) for atom in eqn.invars])
            results = tuple([var.aval for var in eqn.outvars])
            equations.append((eqn.primitive, _params(eqn.params), operands, results, eqn.source))
            for var in eqn.outvars:
                number[var] = len(number)
    except UnknownParamError:
        return None
    inputs = tuple([var.aval for var in jaxpr.invars])
    return jaxpr.name, inputs, tuple(equations), tuple([known(atom) for atom in jaxpr.outvars])


def _literal(literal: Literal) -> Hashable:
    if literal.aval.dtype == float0:  # its only value is not hashable
        return literal.aval
    return literal.aval, exact_key(literal.val)


def _params(params: dict[str, Any]) -> Hashable:
    return tuple([(name, known_param(value)) for name, value in params.items()]) if params else ()
