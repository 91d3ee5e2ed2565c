"""The backward pass by cached rules: over the nodes of a tape, or over the equations of a jaxpr."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import get_ident
from typing import Any

from numpy import ndarray

from lawful.autodiff._fast.tape import Node, PulledEqn, Tangent, Tape, equations
from lawful.autodiff._fast.traced_rules import traced_transpose
from lawful.autodiff._transpose import transpose_equation
from lawful.core import (
    Atom,
    ClosedJaxpr,
    JaxprEqn,
    ShapedArray,
    Var,
    Zero,
    avals_of,
    current,
    get_aval,
    source_override,
)
from lawful.core._fast import Replay, replay, replay_steps, replays
from lawful.ops._fast import add_values as add_tangents


def backward_pass(closed: ClosedJaxpr, cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the inputs of a linear jaxpr as `lawful.autodiff.backward_pass` does."""
    jaxpr = closed.jaxpr
    residuals = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    return pull_back(reversed(jaxpr.eqns), jaxpr.invars, jaxpr.outvars, residuals, cts)


def pull_back(
    entries: Iterable[Any],
    invars: Sequence[Atom],
    outvars: Sequence[Tangent],
    residuals: dict[Var, Any],
    cts: Sequence[Any],
    *,
    owner: Tape | None = None,
) -> list[Any]:
    """Runs a linear program backwards.

    Args:
      entries: equations and nodes, all linear, from the last to the first.
      invars: the variables whose cotangents are wanted.
      outvars: those whose cotangents are given; a known tangent has no use for its own.
      residuals: the values of the variables that are constants.
      cts: the cotangents; zeros are symbolic, or None.
      owner: the tape of the current trace, if it may keep residuals as they are: the user has none of them.

    Returns:
      The cotangents of ``invars``; zeros are symbolic.
    """
    assert len(outvars) == len(cts), "one cotangent for each output"
    ct_of: dict[Any, Any] = {}
    for atom, ct in zip(outvars, cts):  # noqa: B905 - a keyword doubles the time of a short zip
        if ct is not None and type(atom) is Var and type(ct) is not Zero:
            ct_of[atom] = add_tangents(ct_of[atom], ct) if atom in ct_of else ct
    atoms: Sequence[Tangent]
    pulled: Sequence[Any]
    trace = current.trace
    records = trace.parent is not None
    apply: Replay = replays.get(type(trace), replay_steps)
    overrides, thread = source_override.by_thread, get_ident()
    before = overrides.get(thread)
    try:
        for entry in entries:
            if type(entry) is Node and len(entry.outputs) == 1:  # the common case
                ct = ct_of.pop(entry.outputs[0], None)
                if ct is None:
                    continue
                if owner is not None:
                    owner.private = entry.residuals
                common = entry.rule.common
                if (
                    common is not None
                    and (cls := type(ct)) is common[0]
                    and (cls is not ndarray or (ct.shape == common[1] and ct.dtype is common[2]))
                ):
                    if records:  # evaluation does not look for the line
                        overrides[thread] = entry.source
                    atoms, pulled = entry.inputs, apply(trace, common[3], [*entry.residuals, ct])
                elif records and (single := entry.rule.single) is not None and get_aval(ct) is single[0]:
                    overrides[thread] = entry.source
                    atoms, pulled = entry.inputs, apply(trace, single[1], [*entry.residuals, ct])
                else:
                    overrides[thread] = entry.source
                    atoms, pulled = entry.inputs, _pulled_node(entry, avals_of((ct,)), (ct,))
            elif isinstance(entry, PulledEqn):
                ct = ct_of.pop(entry.outvars[0], None)
                if ct is None:
                    continue
                overrides[thread] = entry.source
                atoms, pulled = entry.invars, entry.pull(ct)
            else:
                is_node = type(entry) is Node
                given = [ct_of.pop(var, None) for var in (entry.outputs if is_node else entry.outvars)]
                if all([ct is None for ct in given]):
                    continue
                overrides[thread] = entry.source
                if is_node:
                    types = tuple([None if ct is None else get_aval(ct) for ct in given])
                    atoms, pulled = entry.inputs, _pulled_node(entry, types, given)
                else:
                    atoms, pulled = _pulled_equation(entry, given, residuals)
            for atom, ct in zip(atoms, pulled):  # noqa: B905 - as above
                if ct is not None and type(atom) is Var:
                    ct_of[atom] = add_tangents(ct_of[atom], ct) if atom in ct_of else ct
    finally:
        if owner is not None:
            owner.private = ()
        if before is not None:
            overrides[thread] = before
        elif overrides:
            overrides.pop(thread, None)
    return [ct_of[var] if var in ct_of else Zero(var.aval) for var in invars]


def _without_zeros(cts: Sequence[Any]) -> list[Any]:
    """Returns cotangents with None for symbolic zeros."""
    return [None if type(ct) is Zero else ct for ct in cts]


def _pulled_node(node: Node, avals: tuple[ShapedArray | None, ...], cts: Sequence[Any]) -> Sequence[Any]:
    """Returns the cotangents of the inputs of a node from those of its outputs and their types; None for a zero."""
    rule = node.rule.transposed(avals)
    if rule is None:  # a transpose rule looks at values
        residuals = [Var(get_aval(x)) for x in node.residuals]
        values = dict(zip(residuals, node.residuals, strict=True))
        cts = pull_back(reversed(equations(node, residuals)), node.inputs, node.outputs, values, cts)
        return _without_zeros(cts)
    if None in avals:
        cts = [ct for ct in cts if ct is not None]
    found = replay(current.trace, rule.program, [*node.residuals, *cts])
    return found if rule.all_nonzero else [None if number is None else found[number] for number in rule.numbers]


def _pulled_equation(
    eqn: JaxprEqn, cts: Sequence[Any], residuals: dict[Var, Any]
) -> tuple[Sequence[Atom], Sequence[Any]]:
    """Returns the operands that an equation is linear in, and their cotangents; None for a zero.

    Args:
      eqn: the equation.
      cts: the cotangents of its results; None for a zero.
      residuals: the values of the variables that are constants.
    """
    linear_atoms = []
    linear = []
    others: list[Any] = []
    for atom in eqn.invars:
        if type(atom) is Var:
            known = atom in residuals
            linear.append(not known)
            if known:
                others.append(residuals[atom])
            else:
                linear_atoms.append(atom)
        else:
            linear.append(False)
            others.append(atom.val)
    if not linear_atoms:
        return (), ()  # a constant of the linear program, such as zeros
    given = [ct for ct in cts if ct is not None]
    rule = traced_transpose(
        eqn.primitive,
        tuple([atom.aval for atom in eqn.invars]),
        tuple(linear),
        tuple([var.aval if ct is None else get_aval(ct) for var, ct in zip(eqn.outvars, cts, strict=True)]),
        tuple([ct is not None for ct in cts]),
        eqn.params,
    )
    if rule is not None:
        found = replay(current.trace, rule.program, others + given)
        return linear_atoms, [None if number is None else found[number] for number in rule.numbers]
    out_cts = [Zero(var.aval) if ct is None else ct for var, ct in zip(eqn.outvars, cts, strict=True)]
    return eqn.invars, _without_zeros(transpose_equation(eqn, out_cts, residuals))
