"""The interpreter of `checkify`: evaluates a jaxpr, and keeps the first check of it that failed.

An equation without checks is bound as it is. One with checks is evaluated by the rule of its primitive in the slot
``"checkify"``: ``rule(args, **params)`` returns the state of the checks in it, in their order, and the outputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

import numpy

from lawful import numpy as lawful_numpy
from lawful import tree
from lawful.checkify._primitive import check_p
from lawful.core import (
    ArgumentValueError,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    distinct_jaxprs,
    jaxprs_in_params,
    zeros,
)


class State(NamedTuple):
    """The first failed check of a program: its position, or -1, and for each check the values for its message."""

    code: Any
    payloads: tuple[tuple[Any, ...], ...]


Sites = tuple[JaxprEqn, ...]
Checked = tuple[State, list[Any]]


def sites_of(jaxprs: Iterable[Jaxpr]) -> Sites:
    """Returns the checks of some jaxprs, also of those within them."""
    return tuple([eqn for jaxpr in distinct_jaxprs(jaxprs)[0] for eqn in jaxpr.eqns if eqn.primitive is check_p])


def nothing(sites: Sites) -> State:
    """Returns the state in which no check has failed."""
    payloads = [tuple([zeros(x.aval.strip_weak_type()) for x in site.invars[1:]]) for site in sites]
    return State(numpy.int32(-1), tuple(payloads))


def first(state: State, later: State) -> State:
    """Returns the state of what failed first."""
    found: State = tree.map(lambda x, y: lawful_numpy.where(state.code >= 0, x, y), state, later)
    return found


def lifted(state: State, of: Sites, sites: Sites) -> State:
    """Returns the state of some checks as one of more checks."""
    positions = {id(site): i for i, site in enumerate(sites)}
    payloads = [*nothing(sites).payloads]
    code = state.code
    if of:
        code = lawful_numpy.take(numpy.array([-1, *[positions[id(x)] for x in of]], numpy.int32), state.code + 1)
    for site, values in zip(of, state.payloads, strict=True):
        payloads[positions[id(site)]] = values
    return State(code, tuple(payloads))


def evaluate(closed: ClosedJaxpr, *args: Any) -> Checked:
    """Returns the state of the checks of a jaxpr, and its outputs."""
    jaxpr = closed.jaxpr
    sites = sites_of([jaxpr])
    state = nothing(sites)
    env: dict[Var, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        values = [atom.val if type(atom) is Literal else env[atom] for atom in eqn.invars]
        if check_p in eqn.effects:
            rule = eqn.primitive.rule_or_none("checkify")
            if rule is None:
                refuse(eqn.primitive.name)
            inner, outs = rule(values, **eqn.params)
            of = (eqn,) if eqn.primitive is check_p else sites_of(jaxprs_in_params(eqn.params))
            state = first(state, lifted(inner, of, sites))
        else:
            found = eqn.primitive.bind(*values, **eqn.params)
            outs = found if eqn.primitive.multiple_results else [found]
        env.update(zip(eqn.outvars, outs, strict=True))
    return state, [atom.val if type(atom) is Literal else env[atom] for atom in jaxpr.outvars]


def refuse(name: str) -> NoReturn:
    """Raises the error for a check inside a primitive that has no rule for it."""
    raise ArgumentValueError(
        "checkify: expected checks in functions of jit, pmap, checkpoint, cond, switch, scan and loops, got one in "
        f"{name}; call checkify inside it, or check outside of it"
    )
