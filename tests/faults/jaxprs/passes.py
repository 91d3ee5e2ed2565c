"""Faults in passes over jaxprs, and in their type check and evaluation."""

from __future__ import annotations

from typing import Any

from lawful.core import ClosedJaxpr, Literal
from lawful.core._jaxpr import eval as _eval
from lawful.core._jaxpr.typecheck import _Program
from lawful.staging._passes import cse as _cse
from lawful.staging._passes import dce as _dce
from lawful.staging._passes import partial_eval as _partial_eval
from tests.faults._fault import Rule, function_fault, instead, local_fault, method_fault


def _used_first_only(right: Rule) -> Rule:
    """Drops equations with several results if the first result is unused."""

    def dce(closed: ClosedJaxpr, used_outputs: Any, **options: Any) -> Any:
        used = {atom for eqn in closed.eqns for atom in eqn.invars}
        used.update(atom for atom, is_used in zip(closed.jaxpr.outvars, used_outputs, strict=True) if is_used)
        eqns = [eqn for eqn in closed.eqns if not eqn.outvars or eqn.outvars[0] in used]
        return right(ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts), used_outputs, **options)

    return dce


def _wrong_constants(right: Rule) -> Rule:
    def dce(closed: ClosedJaxpr, used_outputs: Any, **options: Any) -> Any:
        smaller = right(closed, used_outputs, **options)
        return ClosedJaxpr(smaller.jaxpr, closed.consts[: len(smaller.consts)])

    return dce


def _first_outputs(right: Rule) -> Rule:
    def dce(closed: ClosedJaxpr, used_outputs: Any, **options: Any) -> Any:
        count = sum(used_outputs)
        return right(closed, [i < count for i in range(len(used_outputs))], **options)

    return dce


def _without_params(right: Rule) -> Rule:
    return lambda eqn: right(eqn.replace(params={}))


def _unordered(right: Rule) -> Rule:
    def key(eqn: Any) -> Any:
        found = right(eqn)
        return found and (found[0], frozenset(found[1]), found[2])

    return key


def _reversed_constants(right: Rule) -> Rule:
    def opened(closed: ClosedJaxpr) -> Any:
        jaxpr, consts = right(closed)
        return jaxpr, list(reversed(consts))

    return opened


def _shapes_only(right: Rule) -> Rule:
    def check(self: Any, eqn: Any) -> None:
        found = [var.aval for var in eqn.outvars]
        operands = [atom.aval for atom in eqn.invars]
        results = eqn.primitive.rule("abstract_eval")(*operands, **eqn.params)
        expected = list(results) if eqn.primitive.multiple_results else [results]
        if [aval.shape for aval in expected] != [aval.shape for aval in found]:
            right(self, eqn)

    return check


pass_faults = (
    function_fault(
        "dce drops equations whose first result is dead", "live equation dropped", _dce, "dce_jaxpr", _used_first_only
    ),
    function_fault(
        "dce keeps the first constants instead of those used", "closure constant", _dce, "dce_jaxpr", _wrong_constants
    ),
    function_fault(
        "dce keeps the first outputs instead of those used", "wrong operand", _dce, "dce_jaxpr", _first_outputs
    ),
    local_fault("cse ignores parameters", "parameters ignored", _cse, "_key", _without_params),
    local_fault(
        "cse takes equal parameters for the same",
        "parameters ignored",
        _cse,
        "exact_key",
        lambda right: lambda value: value,
    ),
    local_fault("cse takes every operation for commutative", "operands swapped", _cse, "_key", _unordered),
    local_fault(
        "cse takes literals of one type for equal",
        "different values merged",
        _cse,
        "_atom_key",
        lambda right: lambda atom: atom.aval if type(atom) is Literal else atom,
    ),
    local_fault(
        "cse merges literals of different dtypes",
        "dtype lost",
        _cse,
        "_atom_key",
        lambda right: lambda atom: complex(atom.val) if type(atom) is Literal else atom,
    ),
    function_fault(
        "partial evaluation exchanges known and unknown results",
        "known and unknown swapped",
        _dce,
        "merge_lists",
        lambda right: lambda choice, no, yes: right(choice, *((yes, no) if len(yes) == len(no) else (no, yes))),
    ),
    function_fault(
        "known and unknown results are merged in the wrong order",
        "known and unknown swapped",
        _dce,
        "merge_lists",
        lambda right: lambda choice, no, yes: right(choice, no[::-1], yes),
    ),
    function_fault(
        "constants become inputs in reversed order",
        "reversed order",
        _partial_eval,
        "consts_as_inputs",
        _reversed_constants,
    ),
    method_fault("the type check accepts any dtype", "check that accepts", _Program, "check_results", _shapes_only),
    method_fault(
        "the type check accepts unbound variables",
        "check that accepts",
        _Program,
        "check_atoms",
        instead(lambda self, atoms, eqn=None: None),
    ),
    local_fault(
        "evaluation frees a variable before its last use",
        "off by one",
        _eval,
        "last_uses",
        lambda right: lambda jaxpr: [*right(jaxpr)[1:], []] if jaxpr.eqns else [],
    ),
)
