"""Faults in the accelerators: cached derivative rules, replay, the tape, deduplicated jaxprs, recorded calls."""

from __future__ import annotations

from typing import Any

from lawful.autodiff._fast import dual, jvp, linearize, tape, traced_rules
from lawful.core import Literal, Primitive, ShapedArray, get_aval
from lawful.core._fast import IndexedJaxpr, deduplication
from lawful.core._jaxpr import memoization
from lawful.ops._fast import promotion
from lawful.staging import JaxprTracer
from lawful.staging._fast import calls
from tests.faults._fault import Rule, function_fault, local_fault, method_fault


def _found_first(right: Rule) -> Rule:
    """Uses only the primitive and the types as the cache key."""
    known: dict[Any, Any] = {}

    def found(primitive: Any, avals: Any, tangents: Any, params: Any) -> Any:
        key = (primitive, avals, len(tangents) - tangents.count(None), traced_rules.exact_params_key(params))
        if key not in known:
            known[key] = right(primitive, avals, tangents, params)
        return known[key]

    return found


def _without_parameters(right: Rule) -> Rule:
    """Uses only the names of the parameters in the cache key."""
    return lambda params: tuple(params)


def _all_pure(right: Rule) -> Rule:
    def init(self: Any, *args: Any, **options: Any) -> None:
        right(self, *args, **{**options, "pure_rules": True})

    return init


def _first_pulled_back(right: Rule) -> Rule:
    first: dict[Any, Any] = {}

    def transposed(self: Any, cts: Any) -> Any:
        if id(self) not in first:
            first[id(self)] = self, right(self, cts)
        return first[id(self)][1]

    return transposed


def _with_residuals_in_turn(right: Rule) -> Rule:
    def add(self: Any, rule: Any, residuals: Any, inputs: Any, args: Any, source: Any) -> Any:
        avals = rule.closed.in_avals[: len(residuals)]
        return right(self, rule, residuals[::-1] if avals == avals[::-1] else residuals, inputs, args, source)

    return add


def _first_result_twice(right: Rule) -> Rule:
    def replay(trace: Any, program: IndexedJaxpr, args: Any, source: Any) -> Any:
        found = right(trace, program, args, source)
        avals = program.out_avals
        return [found[0] if aval == avals[0] else x for x, aval in zip(found, avals, strict=True)]

    return replay


def _of_any_trace(right: Rule) -> Rule:
    """Takes tracers of enclosing traces for variables of the program that is recorded."""

    def key(trace: Any, call: Any, args: Any) -> Any:
        if not any([type(x) is JaxprTracer for x in args]) or any([type(x) not in (JaxprTracer, float) for x in args]):
            return None
        return type(trace), call, *[float if type(x) is float else x.aval for x in args]

    return key


def _without_second_type(right: Rule) -> Rule:
    def key(trace: Any, call: Any, args: Any) -> Any:
        found = right(trace, call, args)
        return found[:3] if found and len(found) > 3 and found[3] is not float else found

    return key


def _strong_types(right: Rule) -> Rule:
    def key(trace: Any, call: Any, args: Any) -> Any:
        found = right(trace, call, args)
        return found and tuple([x.update(weak_type=False) if type(x) is ShapedArray else x for x in found])

    return key


def _first_number(right: Rule) -> Rule:
    """Takes the number of the first call of these types."""
    known: dict[Any, Any] = {}
    return lambda x, aval: known.setdefault(aval, right(x, aval))


cached_rule_faults = (
    local_fault(
        "a cached rule of low-precision arrays and a number is that of float64",
        "wrong dtype",
        promotion,
        "is_inexact",
        lambda right: lambda dtype: dtype.kind in "fc",
        sources=("every dtype",),
    ),
    local_fault(
        "a body that is traced again may have other numbers",
        "stale cache",
        deduplication,
        "_literal",
        lambda right: lambda literal: literal.aval,
    ),
    local_fault(
        "a body that is traced again may have other parameters",
        "stale cache",
        deduplication,
        "_params",
        _without_parameters,
    ),
    local_fault(
        "a linearized rule is cached whichever argument has a tangent",
        "stale cache",
        linearize,
        "linearized_rule",
        _found_first,
    ),
    local_fault(
        "a jvp rule is cached whichever argument has a tangent", "stale cache", jvp, "traced_jvp", _found_first
    ),
    local_fault(
        "a rule is cached whatever its parameters are",
        "stale cache",
        traced_rules,
        "exact_params_key",
        _without_parameters,
    ),
    local_fault(
        "a rule is cached for parameters that are equal",
        "stale cache",
        traced_rules,
        "exact_params_key",
        lambda right: lambda params: tuple(params.items()),
    ),
    method_fault("the rules of all primitives are taken for pure", "stale cache", Primitive, "__init__", _all_pure),
    local_fault(
        "a transformed jaxpr made by impure rules is cached",
        "stale cache",
        memoization,
        "impure_rules",
        lambda right: lambda: 0,
    ),
    method_fault(
        "a transposed rule is cached whichever cotangents are zero",
        "stale cache",
        traced_rules.LinearizedRule,
        "transposed",
        _first_pulled_back,
    ),
    method_fault("residuals of a node are rotated", "operands swapped", tape.Tape, "add", _with_residuals_in_turn),
    function_fault(
        "a program that is replayed gives its first result for all",
        "wrong operand",
        dual,
        "replay_in_parent",
        _first_result_twice,
    ),
    method_fault(
        "a tape keeps the user's arrays themselves",
        "shared memory",
        tape.Tape,
        "may_change",
        lambda right: lambda self, x: False,
    ),
    local_fault("a recorded call has the number of an earlier one", "stale cache", calls, "_literal", _first_number),
    local_fault(
        "the number of a recorded call has the type of a float",
        "wrong dtype",
        calls,
        "_literal",
        lambda right: lambda x, aval: Literal(x, get_aval(x)),
        sources=("every dtype",),
    ),
    local_fault(
        "recorded calls are told apart by their first operand", "stale cache", calls, "_key", _without_second_type
    ),
    local_fault("recorded calls of weak and strong operands are one", "weak type lost", calls, "_key", _strong_types),
    local_fault("a recorded call takes variables of any program", "closure constant", calls, "_key", _of_any_trace),
)
