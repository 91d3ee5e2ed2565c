"""Faults in Taylor mode."""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.control_flow import while_p
from lawful.taylor import _elementwise_rules, _general_rule, _structured_rules
from tests.faults._fault import Rule, function_fault, instead, local_fault, rule_fault, with_forms
from tests.faults.primitives.weak_operands import are_weak


def _sign_of_zero(args: Any) -> Any:
    x = args[0]
    return [ops.abs(x[0]), *[None if c is None else ops.mul(c, ops.sign(x[0])) for c in x[1:]]]


def _without_last(right: Rule) -> Rule:
    def jet(args: Any, **params: Any) -> Any:
        series = right(args, **params)
        return [*series[:-1], None] if len(series) > 2 else series

    return jet


def _where_it_began(args: Any, *, cond_nconsts: int, body_nconsts: int, **params: Any) -> Any:
    return [[x[0], *[None] * (len(x) - 1)] for x in args[cond_nconsts + body_nconsts :]]


def _through_a_sum(right: Rule) -> Rule:
    def derivatives(function: Any, curve: Any, order: int) -> Any:
        # A zero parameter of the curve is added to its start: -0.0 + 0.0 is 0.0.
        return right(function, [[ops.add(x[0], ops.full_like(x[0], 0)), *x[1:]] for x in curve], order)

    return derivatives


def _without_weak_series(right: Rule) -> Rule:
    def jet(args: Any, **params: Any) -> Any:
        series = right(args, **params)
        return [series[0], *[None] * (len(series) - 1)] if are_weak([x[0] for x in args]) else series

    return jet


taylor_faults = (
    rule_fault("jet takes abs to be flat at zero", "edge of the domain", ops.abs_p, "jet", instead(_sign_of_zero)),
    rule_fault("jet of tanh lacks its last term", "missing term", ops.tanh_p, "jet", _without_last),
    rule_fault("jet of exp is constant for a Python number", "missing term", ops.exp_p, "jet", _without_weak_series),
    rule_fault("jet of div lacks its last term", "missing term", ops.div_p, "jet", _without_last),
    function_fault(
        "jet loses the sign of a zero where a curve begins",
        "sign of zero",
        _general_rule,
        "derivatives",
        _through_a_sum,
        ("with_zero_of_sign", "atan2", "pow"),
    ),
    local_fault(
        "jet weighs orders of the chain rule alike",
        "wrong factor",
        _elementwise_rules,
        "chained",
        instead(lambda derivative, inner, k: _elementwise_rules.product(derivative, [*inner[1:], None])[k - 1]),
        ("exp, smooth", "log, smooth", "smooth"),
    ),
    rule_fault(
        "jet of a while loop is where it began",
        "wrong operation",
        while_p,
        "jet",
        instead(_where_it_began),
        sources=with_forms("while_loop"),
    ),
    local_fault(
        "jet of compiled functions drops all but the first order",
        "missing term",
        _structured_rules,
        "program",
        lambda right: lambda closed, series: [[*x[:2], *[None] * (len(x) - 2)] for x in right(closed, series)],
        with_forms("jit"),
    ),
)
