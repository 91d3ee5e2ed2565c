"""The derivatives of calls that carry rules: by the rules where there are any, and else of the function itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.autodiff import as_tangent_of, backward_pass, jvp_flat, linear_program, zero_tangent
from lawful.core import (
    ClosedJaxpr,
    Primitive,
    UndefinedPrimal,
    Zero,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    new_trace,
)
from lawful.custom_rules._call.batched_rules import CallRules
from lawful.custom_rules._call.mapped_derivatives import tangent_call, transposed_call
from lawful.custom_rules._call.primitive import Callee, as_function, custom_call, may_be_batched
from lawful.custom_rules._custom_vmap import custom_vmap_call_p
from lawful.ops import add_tangents, with_weakness_of
from lawful.staging import PartialTrace, dce_jaxpr, kept

Flat = Callable[..., list[Any]]
Pairs = tuple[list[Any], list[Any]]


def _with_derivatives(primitive: Primitive) -> Primitive:
    """Gives the primitive of a call the rules of forward mode and of transposition."""

    @primitive.def_jvp
    def jvp(
        primals: Sequence[Any], tangents: Sequence[Any], *, name: str, rules: CallRules,
        fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
    ) -> Pairs:  # fmt: skip
        function = as_function(fun, jaxpr)
        rule = rules.jvp or rules.vjp
        if rule is not None and any([type(t) is not Zero for t in tangents[rules.closed_over :]]):
            outs, tangents_out = ([*map(_copied, xs)] for xs in rule(primals, tangents))
            if jaxpr is not None:
                outs = [*map(with_weakness_of, outs, jaxpr.out_avals)]
            if any([type(t) is not Zero for t in tangents[: rules.closed_over]]):
                others = [
                    t if i < rules.closed_over else zero_tangent(x)
                    for i, (x, t) in enumerate(zip(primals, tangents, strict=True))
                ]
                tangents_out = [*map(add_tangents, tangents_out, jvp_flat(function, primals, others)[1])]
            return outs, tangents_out
        given = {"jaxpr": jaxpr} if fun is None else {"fun": fun}

        def call(operands: Sequence[Any]) -> list[Any]:
            results: list[Any] = primitive.bind(*operands, name=name, rules=rules, **given)
            return results

        def by_function(tangents: Sequence[Any], outs: Sequence[Any] | None) -> Pairs:
            """The derivative of the function itself; where it can be mapped, with that of its batching rule."""
            closed_over = any([type(t) is not Zero for t in tangents[: rules.closed_over]])
            if rules.batch is None or closed_over or not may_be_batched():
                return jvp_flat(function, primals, tangents)
            outs = call(primals) if outs is None else outs
            return [*outs], tangent_call(function, name, rules, primals, tangents, outs)

        if not rules.linear:
            return by_function(tangents, None)
        outs, tangents_out = _jvp_of_linear(call, rules.linear, primals, tangents)
        others = [
            Zero(t.aval if type(t) is Zero else get_aval(t)) if lin else t
            for t, lin in zip(tangents, rules.linear, strict=True)
        ]
        if any([type(t) is not Zero for t in others]):
            tangents_out = [*map(add_tangents, tangents_out, by_function(others, outs)[1])]
        return outs, tangents_out

    @primitive.def_transpose
    def transpose(
        cts: Sequence[Any], *args: Any, name: str, rules: CallRules,
        fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
    ) -> list[Any]:  # fmt: skip
        unknown = [type(x) is UndefinedPrimal for x in args]
        if rules.transpose is not None and not any(
            [u and not lin for u, lin in zip(unknown, rules.linear, strict=True)]
        ):
            return [*map(_copied, rules.transpose(cts, args))]
        function = as_function(fun, jaxpr)
        if rules.batch is not None and may_be_batched():
            return transposed_call(function, name, rules, args, cts)
        return transposed_of(function, args, cts)

    return primitive


def _copied(x: Any) -> Any:
    """Returns what a user's rule gave, which the user may hold and write into, as a value that nobody else has."""
    return x.copy() if type(x) is np.ndarray else x


def _jvp_of_linear(
    call: Callable[[Sequence[Any]], list[Any]], linear: Sequence[bool], primals: Sequence[Any], tangents: Sequence[Any]
) -> Pairs:
    """Returns the results, and what they are at the tangents of the operands that they are linear in."""
    outs = call(primals)
    zeros = [zero_tangent(x) for x in outs]
    if not any([lin and type(t) is not Zero for lin, t in zip(linear, tangents, strict=True)]):
        return outs, zeros
    along = [as_tangent_of(x, t) if lin else x for x, t, lin in zip(primals, tangents, linear, strict=True)]
    return outs, [zero if zero.aval.dtype == float0 else t for zero, t in zip(zeros, call(along), strict=True)]


def transposed_of(function: Flat, args: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the operands that a function is linear in, and None for the others.

    Args:
      function: of all operands.
      args: the operands, of which the linear ones are an ``UndefinedPrimal``.
      cts: the cotangents of its results.
    """

    def of_linear(*values: Any) -> list[Any]:
        rest = iter(values)
        return function(*[next(rest) if type(x) is UndefinedPrimal else x for x in args])

    program, depends, _ = linear_program(of_linear, [x.aval for x in args if type(x) is UndefinedPrimal])
    found = iter(backward_pass(program, kept(cts, depends)))
    return [next(found) if type(x) is UndefinedPrimal else None for x in args]


_with_derivatives(custom_vmap_call_p)
custom_jvp_call_p = _with_derivatives(custom_call("custom_jvp_call"))
custom_vjp_call_p = _with_derivatives(custom_call("custom_vjp_call"))
custom_transpose_call_p = _with_derivatives(custom_call("custom_transpose_call"))
#: A call whose forward mode and whose reverse mode have a rule each.
custom_rule_call_p = _with_derivatives(custom_call("custom_rule_call"))


@custom_rule_call_p.def_linearize
def _linearize(
    nonzeros: Sequence[bool], *primals: Any, name: str, rules: CallRules,
    fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> Any:  # fmt: skip
    """The linear part by the reverse rule."""
    trace = PartialTrace(current.trace, f"the linear part of {name}")
    inputs = [
        trace.new_input(zero.aval) if nonzero else zero
        for nonzero, zero in zip(nonzeros, map(zero_tangent, primals), strict=True)
    ]
    given = {"jaxpr": jaxpr} if fun is None else {"fun": fun}
    with new_trace(trace):
        outs, tangents_out = custom_vjp_call_p.rule("jvp")(
            primals, inputs, name=name, rules=replace(rules, jvp=None), **given
        )
        nonzeros_out = [type(t) is not Zero for t in tangents_out]
        closed = trace.to_jaxpr(kept(inputs, nonzeros), kept(tangents_out, nonzeros_out))
    closed = dce_jaxpr(closed, (True,) * sum(nonzeros_out))
    return outs, nonzeros_out, lambda *tangents: eval_closed_jaxpr(closed, *tangents)
