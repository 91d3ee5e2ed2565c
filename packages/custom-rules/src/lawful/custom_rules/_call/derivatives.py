"""Forward mode and transposition of calls: by the call's rules if it has them, otherwise by its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.autodiff import as_tangent_of, backward_pass, jvp_flat, linear_program, zero_tangent
from lawful.core import (
    AxisNames,
    ClosedJaxpr,
    InvalidArgumentError,
    Primitive,
    UndefinedPrimal,
    Zero,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    new_trace,
)
from lawful.custom_rules._call.batch import may_be_batched
from lawful.custom_rules._call.callee import Callee, as_function
from lawful.custom_rules._call.mapped_derivatives import tangent_call, transposed_call
from lawful.custom_rules._call.partly_known import partly_known_call
from lawful.custom_rules._call.primitive import custom_call, custom_vmap_call_p
from lawful.custom_rules._call.rules import CallRules, Flat
from lawful.ops import add_tangents, with_weakness_of
from lawful.staging import PartialTrace, dce_jaxpr, kept

Pairs = tuple[list[Any], list[Any]]


def _with_derivatives(primitive: Primitive) -> Primitive:
    """Defines the jvp and transpose rules of a primitive of calls, and returns it."""

    @primitive.def_jvp
    def jvp(
        primals: Sequence[Any], tangents: Sequence[Any], *, name: str, rules: CallRules,
        fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
    ) -> Pairs:  # fmt: skip
        function = as_function(fun, jaxpr)
        if (rules.jvp or rules.vjp) and any([type(t) is not Zero for t in tangents[rules.closed_over :]]):
            outs, tangents_out = _jvp_by_rule(function, rules, primals, tangents)
            if current.trace.checked_axes:
                _require_axes(name, jaxpr, primals, tangents, outs, tangents_out)
            if jaxpr is not None:
                outs = [*map(with_weakness_of, outs, jaxpr.out_avals)]
            return outs, tangents_out
        given = {"jaxpr": jaxpr} if fun is None else {"fun": fun}

        def call(operands: Sequence[Any]) -> list[Any]:
            results: list[Any] = primitive.bind(*operands, name=name, rules=rules, **given)
            return results

        if rules.linear:
            return _jvp_of_linear(call, function, name, rules, primals, tangents)
        return _jvp_by_function(call, function, name, rules, primals, tangents)

    by_function = primitive.rule("partial_eval")

    @primitive.def_partial_eval
    def partial_eval(record: Callable[..., Any], unknown: Sequence[bool], *args: Any, **params: Any) -> list[Any]:
        rules: CallRules = params["rules"]
        if rules.linear or not (rules.jvp or rules.vjp):
            results: list[Any] = by_function(record, unknown, *args, **params)
            return results
        if type(current.trace) is PartialTrace and current.trace.repeated:
            results = record(*args, **params)
            return results
        return partly_known_call(primitive, record, unknown, args, **params)

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
        return _transpose_of_function(function, args, cts)

    return primitive


def _copied(x: Any) -> Any:
    """Returns a copy of an array that a user's rule returned: the user may hold it and later write into it."""
    return x.copy() if type(x) is np.ndarray else x


def _jvp_by_rule(function: Flat, rules: CallRules, primals: Sequence[Any], tangents: Sequence[Any]) -> Pairs:
    """Applies the derivative rule; the derivative by closed-over values is that of the function."""
    rule, count = rules.jvp or rules.vjp, rules.closed_over
    assert rule is not None
    # The rule is the user's: it may compute with arrays that it closes over.
    with current.trace.arguments(None) if isinstance(current.trace, PartialTrace) else nullcontext():
        outs, tangents_out = ([*map(_copied, xs)] for xs in rule(primals, tangents))
    if any([type(t) is not Zero for t in tangents[:count]]):
        by_closure = [*tangents[:count], *map(zero_tangent, primals[count:])]
        tangents_out = [*map(add_tangents, tangents_out, jvp_flat(function, primals, by_closure)[1])]
    return outs, tangents_out


def _require_axes(
    name: str, jaxpr: ClosedJaxpr | None, primals: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any],
    tangents_out: Sequence[Any],
) -> None:  # fmt: skip
    """Checks over which axes of a mesh the results of a rule vary.

    Args:
      name: the name of the function.
      jaxpr: the function, or None.
      primals: the operands.
      tangents: their tangents, which may vary over further axes.
      outs: the results.
      tangents_out: their tangents.

    Raises:
      InvalidArgumentError: a result varies over axes that the function's result does not vary over, or a tangent over
        axes that neither its result nor the tangents of the operands account for.
    """
    avals = [get_aval(x) for x in outs] if jaxpr is None else jaxpr.out_avals
    within = current.trace.divergent_axes
    further = within.union(
        *[get_aval(t).vma - get_aval(x).vma for x, t in zip(primals, tangents, strict=True) if type(t) is not Zero]
    )
    for x, t, aval in zip(outs, tangents_out, avals, strict=True):
        if axes := get_aval(x).vma - aval.vma - within:
            raise InvalidArgumentError(
                f"{name}: expected a rule that gives a result that is the same along {_listed(axes)}, as the function "
                f"does, got {get_aval(x)}; apply the same collectives in the rule as in the function"
            )
        if type(t) is not Zero and (axes := get_aval(t).vma - aval.vma - further):
            raise InvalidArgumentError(
                f"{name}: expected a tangent that is the same along {_listed(axes)}, as the result is, from the rule, "
                f"got {get_aval(t)}; apply psum to it, or pmean if it is the same, or apply pvary to the result of "
                "function and rule"
            )


def _listed(axes: AxisNames) -> str:
    return ", ".join(sorted(map(repr, axes)))


def _jvp_by_function(
    call: Callable[[Sequence[Any]], list[Any]], function: Flat, name: str, rules: CallRules, primals: Sequence[Any],
    tangents: Sequence[Any], outs: Sequence[Any] | None = None,
) -> Pairs:  # fmt: skip
    """Differentiates the function; where the derivative may be mapped, it gets a batching rule.

    Args:
      call: binds the call.
      function: the function of the call.
      name: its name.
      rules: its rules.
      primals: the operands.
      tangents: their tangents.
      outs: the results, if they are known.
    """
    by_closure = any([type(t) is not Zero for t in tangents[: rules.closed_over]])
    if rules.batch is None or by_closure or not may_be_batched():
        return jvp_flat(function, primals, tangents)
    outs = call(primals) if outs is None else outs
    return [*outs], tangent_call(function, name, rules, primals, tangents, outs)


def _jvp_of_linear(
    call: Callable[[Sequence[Any]], list[Any]], function: Flat, name: str, rules: CallRules, primals: Sequence[Any],
    tangents: Sequence[Any],
) -> Pairs:  # fmt: skip
    """Differentiates a call that is linear in some operands, by calling it with their tangents.

    The arguments are those of `_jvp_by_function`, which gives the derivative by the other operands.
    """
    outs = call(primals)
    tangents_out: list[Any] = [zero_tangent(x) for x in outs]
    if any([lin and type(t) is not Zero for lin, t in zip(rules.linear, tangents, strict=True)]):
        along = [as_tangent_of(x, t) if lin else x for x, t, lin in zip(primals, tangents, rules.linear, strict=True)]
        tangents_out = [
            zero if zero.aval.dtype == float0 else t for zero, t in zip(tangents_out, call(along), strict=True)
        ]
    others = [
        Zero(t.aval if type(t) is Zero else get_aval(t)) if lin else t
        for t, lin in zip(tangents, rules.linear, strict=True)
    ]
    if any([type(t) is not Zero for t in others]):
        by_others = _jvp_by_function(call, function, name, rules, primals, others, outs)[1]
        tangents_out = [*map(add_tangents, tangents_out, by_others)]
    return outs, tangents_out


def _transpose_of_function(function: Flat, args: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the operands that a function is linear in, and None for the others.

    Args:
      function: the function of all operands.
      args: the operands, with an ``UndefinedPrimal`` for each linear one.
      cts: the cotangents of the results.
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
#: A call with one rule for forward mode and one for reverse mode.
custom_rule_call_p = _with_derivatives(custom_call("custom_rule_call"))


@custom_rule_call_p.def_linearize
def _linearize(
    nonzeros: Sequence[bool], *primals: Any, name: str, rules: CallRules,
    fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> Any:  # fmt: skip
    """Linearizes a call by its rule of reverse mode, whose linear part can be transposed."""
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
