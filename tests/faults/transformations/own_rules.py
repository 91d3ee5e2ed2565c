"""Faults in functions with custom rules, linear calls and callbacks: rules that are called wrongly."""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.core import Zero, get_aval
from lawful.custom_rules import (
    _closure_convert,
    _custom_rule,
    custom_jvp_call_p,
    custom_rule_call_p,
    custom_vmap_call_p,
    linear_call_p,
)
from lawful.custom_rules._user_rules import derivatives
from lawful.staging import _recorder
from lawful.staging._callbacks import pure_callback as _pure_callback
from tests.faults._fault import Fault, Rule, local_fault, met_by, rule_fault, with_forms


def _zeros(tangents: Any) -> list[Any]:
    return [Zero(t.aval if type(t) is Zero else get_aval(t)) for t in tangents]


def _closed_over_constant(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, rules: Any, **params: Any) -> Any:
        count = rules.closed_over
        return right(primals, [*_zeros(tangents[:count]), *tangents[count:]], rules=rules, **params)

    return jvp


def _residuals_constant(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, num_res: int, **params: Any) -> Any:
        return right(primals, [*_zeros(tangents[:num_res]), *tangents[num_res:]], num_res=num_res, **params)

    return jvp


def _transposed_to_itself(right: Rule) -> Rule:
    def transpose(cts: Any, *args: Any, callee: Any, transposed: Any, num_res: int) -> Any:
        return right(cts, *args, callee=transposed, transposed=callee, num_res=num_res)

    return transpose


def _twice(right: Rule) -> Rule:
    def jvp_by(*args: Any) -> Rule:
        derivative = right(*args)

        def doubled(primals: Any, tangents: Any) -> Any:
            outs, dots = derivative(primals, tangents)
            return outs, [t if type(t) is Zero else ops.add_tangents(t, t) for t in dots]

        return doubled

    return jvp_by


def _rotated(xs: Any) -> list[Any]:
    """Rotates values if all of them have one type."""
    types = {str(x.aval if type(x) is Zero else get_aval(x)) for x in xs}
    return [*xs][::-1] if len(types) == 1 else [*xs]


def _rotated_elements(right: Rule) -> Rule:
    def batch(*args: Any, **params: Any) -> Any:
        outs, dims = right(*args, **params)
        return [x if dim is None else ops.rev(x, (dim,)) for x, dim in zip(outs, dims, strict=True)], dims

    return batch


def _zeros_unknown(right: Rule) -> Rule:
    def evaluated(trace: Any, eqn: Any) -> Any:
        return None if eqn.primitive is ops.broadcast_in_dim_p else right(trace, eqn)

    return evaluated


own_rule_faults: tuple[Fault, ...] = (
    *met_by(
        with_forms("with_jvp_rule", "with_vjp_rule", "with_vmap_rule", "jit", "vmap"),
        rule_fault(
            "what a jvp rule closes over has no derivative", "missing term", custom_jvp_call_p, "jvp",
            _closed_over_constant,
        ),
        local_fault(
            "cotangents of a bwd are exchanged", "operands swapped", derivatives, "_cotangents",
            lambda right: lambda *args: _rotated(right(*args)),
        ),
        rule_fault(
            "results of a batching rule have their elements rotated", "batch dimension", custom_vmap_call_p, "batch",
            _rotated_elements,
        ),
    ),
    *met_by(
        with_forms("with_rules", "grad"),
        rule_fault(
            "what a function with several rules closes over has no derivative", "missing term", custom_rule_call_p,
            "jvp", _closed_over_constant,
        ),
        local_fault("the tangent of a jvp rule counts twice", "wrong factor", _custom_rule, "jvp_by", _twice),
    ),
    *met_by(
        with_forms("with_closure_convert", "with_linear_call", "with_callback", "vmap", "grad"),
        local_fault(
            "closure_convert gives constants rotated", "operands swapped", _closure_convert, "merge_lists",
            lambda right: lambda which, rest, hoisted: right(which, rest, _rotated(hoisted)),
        ),
        rule_fault(
            "a linear call is transposed to itself", "operands swapped", linear_call_p, "transpose",
            _transposed_to_itself,
        ),
        rule_fault(
            "a linear call has no derivative by its residuals", "missing term", linear_call_p, "jvp",
            _residuals_constant,
        ),
        local_fault(
            "Python is given batches where they stand", "batch dimension", _pure_callback, "move_batch_dim",
            lambda right: lambda x, dim, *to: x,
        ),
    ),
    *met_by(
        with_forms("with_slope_rule"),
        local_fault(
            "a loop that a rule differentiates along a known direction is linear in tangents",
            "known taken for unknown", _recorder, "evaluated", _zeros_unknown,
        ),
    ),
)  # fmt: skip
