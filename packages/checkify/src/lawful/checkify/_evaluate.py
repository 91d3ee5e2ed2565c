"""The interpreter of `checkify`: evaluates a jaxpr, and keeps the first error in it.

An equation without jaxprs is bound as it is, and what it takes and gives is looked at. One with jaxprs in which there
is something to look for is evaluated by the rule of its primitive in the slot ``"checkify"``:
``rule(errors, args, **params)`` returns the state of the sites of these jaxprs, in their order, and the outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy

from lawful import numpy as lawful_numpy
from lawful import tree
from lawful.checkify._bounds import STARTS, first_outside
from lawful.checkify._error import ErrorCategory
from lawful.checkify._primitive import check_p
from lawful.checkify._sites import Errors, Site, Sites, own_sites, sites_of
from lawful.core import ArgumentValueError, ClosedJaxpr, JaxprEqn, Literal, Var, is_inexact, jaxprs_in_params, zeros
from lawful.ops import with_weakness_of


class State(NamedTuple):
    """The first error of a program: the position of its site, or -1, and for each site the values for its message."""

    code: Any
    payloads: tuple[tuple[Any, ...], ...]


Checked = tuple[State, list[Any]]


def nothing(sites: Sites) -> State:
    """Returns the state without an error."""
    return State(numpy.int32(-1), tuple([tuple(map(zeros, site.payload_avals)) for site in sites]))


def first(state: State, later: State) -> State:
    """Returns the state of the error that came first."""
    found: State = tree.map(lambda x, y: lawful_numpy.where(state.code >= 0, x, y), state, later)
    return found


def lifted(state: State, of: Sites, sites: Sites) -> State:
    """Returns the state of some sites as one of more sites."""
    found = _Found(sites)
    found.add(state, of)
    return found.state()


class _Found:
    """The errors that the equations of a program found so far; `state` chooses the first."""

    def __init__(self, sites: Sites) -> None:
        self._positions = {site.key: position for position, site in enumerate(sites)}
        self._codes: list[Any] = []
        self._payloads: list[Any] = [None] * len(sites)
        self._sites = sites

    def add(self, state: State, of: Sites) -> None:
        """Adds the state of an equation with the sites ``of``."""
        if not of:
            return
        positions = [self._positions[site.key] for site in of]
        for position, values in zip(positions, state.payloads, strict=True):
            earlier = self._payloads[position]
            if earlier:  # a jaxpr that is called again
                failed = _first_of(self._codes) >= 0
                values = tuple([lawful_numpy.where(failed, x, y) for x, y in zip(earlier, values, strict=True)])
            self._payloads[position] = values
        self._codes.append(_at(positions, state.code))

    def state(self) -> State:
        """Returns the state of all sites."""
        empty = nothing(self._sites)
        payloads = [x if y is None else y for x, y in zip(empty.payloads, self._payloads, strict=True)]
        return State(_first_of([empty.code, *self._codes]), tuple(payloads))


def _at(positions: list[int], code: Any) -> Any:
    """Returns the position of an error, of which ``code`` says which of the positions it is, or -1."""
    if len(positions) == 1:  # the common case, of few operations
        return lawful_numpy.where(code >= 0, numpy.int32(positions[0]), numpy.int32(-1))
    return lawful_numpy.take(numpy.array([-1, *positions], numpy.int32), code + 1)


def _first_of(codes: list[Any]) -> Any:
    """Returns the first code of an error, or -1."""
    return functools.reduce(lambda later, code: lawful_numpy.where(code >= 0, code, later), reversed(codes))


def evaluate(closed: ClosedJaxpr, errors: Errors, *args: Any) -> Checked:
    """Returns the state of the sites of a jaxpr, and its outputs."""
    jaxpr = closed.jaxpr
    found = _Found(sites_of([jaxpr], errors))
    env: dict[Var, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        values = [atom.val if type(atom) is Literal else env[atom] for atom in eqn.invars]
        of = own_sites(eqn, errors)
        if of and (eqn.primitive is check_p or check_p not in eqn.effects):
            state, outs = _looked_at(eqn, of, values)
        elif eqn.primitive is check_p:  # not looked for
            continue
        else:
            of = sites_of(jaxprs_in_params(eqn.params), errors)
            if not of and check_p not in eqn.effects:
                state, outs = nothing(of), _bind(eqn, values)
            else:
                rule = eqn.primitive.rule_or_none("checkify")
                if rule is None:
                    refuse(eqn.primitive.name)
                state, outs = rule(errors, values, **eqn.params)
        found.add(state, of)
        env.update(zip(eqn.outvars, outs, strict=True))
    return found.state(), [atom.val if type(atom) is Literal else env[atom] for atom in jaxpr.outvars]


def _bind(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
    found = eqn.primitive.bind(*values, **eqn.params)
    return list(found) if eqn.primitive.multiple_results else [found]


def _looked_at(eqn: JaxprEqn, of: Sites, values: list[Any]) -> Checked:
    """Evaluates an equation that is itself a site, or several."""
    outs = [] if eqn.primitive is check_p else _bind(eqn, values)
    code: Any = numpy.int32(-1)
    payloads = []
    for position, site in reversed([*enumerate(of)]):
        holds, payload = _examined(site, values, outs)
        code = lawful_numpy.where(holds, code, numpy.int32(position))
        payloads.append(tuple(map(with_weakness_of, payload, site.payload_avals)))
    return State(code, tuple(reversed(payloads))), outs


def _examined(site: Site, values: list[Any], outs: list[Any]) -> tuple[Any, Sequence[Any]]:
    """Returns whether there is no error at a site, and the values for the message of one."""
    if site.category is ErrorCategory.FAILED_CHECK:
        return values[0], values[1:]
    if site.category is ErrorCategory.OUT_OF_BOUNDS:
        starts = STARTS[site.eqn.primitive.name](*values, **site.eqn.params)
        return first_outside(starts, site.eqn.invars[0].aval.shape)
    if site.category is ErrorCategory.DIVISION_BY_ZERO:
        return lawful_numpy.all(values[1] != 0), ()
    floats = [out for var, out in zip(site.eqn.outvars, outs, strict=True) if is_inexact(var.aval.dtype)]
    found = [lawful_numpy.any(lawful_numpy.isnan(x)) for x in floats]
    return lawful_numpy.logical_not(functools.reduce(lawful_numpy.logical_or, found)), ()


def refuse(name: str) -> NoReturn:
    """Raises the error for something to look for inside a primitive that has no rule for it."""
    raise ArgumentValueError(
        "checkify: expected checks in functions of jit, pmap, shard_map, checkpoint, custom_jvp, custom_vjp, cond, "
        f"switch, scan and loops, got one in {name}; call checkify inside it, or check outside of it"
    )
