"""Rules of `checkify`: the calls and control flow that errors can be in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from lawful import control_flow, custom_rules, parallel, staging, tree
from lawful import numpy as lawful_numpy
from lawful.autodiff import checkpoint_p, stop_gradient
from lawful.checkify._evaluate import Checked, State, evaluate, first, lifted, nothing, refuse
from lawful.checkify._sites import Errors, sites_of
from lawful.core import (
    ClosedJaxpr,
    Primitive,
    eval_closed_jaxpr,
    has_effects,
    jaxprs_in_params,
    map_jaxprs,
    memoize_program,
)
from lawful.staging import jit_p


@memoize_program
def _compiled(closed: ClosedJaxpr, errors: Errors, backend: Any) -> Callable[..., Any]:
    return staging.jit(functools.partial(evaluate, closed, errors), backend=backend)


@jit_p.def_rule_as("checkify")
def _jit(errors: Errors, args: Sequence[Any], *, jaxpr: ClosedJaxpr, backend: Any = None, **params: Any) -> Checked:
    state, outs = _compiled(jaxpr, errors, backend)(*args)
    return state, outs


@checkpoint_p.def_rule_as("checkify")
def _checkpoint(errors: Errors, args: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Checked:
    return evaluate(jaxpr, errors, *args)


@control_flow.cond_p.def_rule_as("checkify")
def _cond(errors: Errors, args: Sequence[Any], *, branches: Sequence[ClosedJaxpr], **params: Any) -> Checked:
    sites = sites_of([branch.jaxpr for branch in branches], errors)

    def taken(branch: ClosedJaxpr, *args: Any) -> Checked:
        state, outs = evaluate(branch, errors, *args)
        return lifted(state, sites_of([branch.jaxpr], errors), sites), outs

    index, *operands = args
    checked: Checked = control_flow.switch(index, [functools.partial(taken, branch) for branch in branches], *operands)
    return checked


@control_flow.scan_p.def_rule_as("checkify")
def _scan(
    errors: Errors, args: Sequence[Any], *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **params: Any
) -> Checked:
    consts, carry, xs = args[:num_consts], args[num_consts:][:num_carry], args[num_consts + num_carry :]

    def body(carry: tuple[State, Sequence[Any]], x: Sequence[Any]) -> Any:
        state, values = carry
        later, outs = evaluate(jaxpr, errors, *consts, *values, *x)
        return (first(state, later), outs[:num_carry]), outs[num_carry:]

    init = (nothing(sites_of([jaxpr.jaxpr], errors)), [*carry])
    loop = {name: params[name] for name in ("length", "reverse", "unroll")}
    (state, values), ys = control_flow.scan(body, init, [*xs], **loop)
    return state, [*values, *ys]


@control_flow.batched_cond_p.def_rule_as("checkify")
def _batched_cond(errors: Errors, args: Sequence[Any], *, jaxpr: ClosedJaxpr, guarded: ClosedJaxpr) -> Checked:
    """Looks at the program that computes each branch at the values of elements that take it."""
    state, outs = evaluate(guarded, errors, *args)
    return lifted(state, sites_of([guarded.jaxpr], errors), sites_of([jaxpr.jaxpr, guarded.jaxpr], errors)), outs


@control_flow.while_p.def_rule_as("checkify")
def _while(
    errors: Errors,
    args: Sequence[Any],
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    const_pred_dims: Sequence[tuple[int, ...]],
    max_iters: int | None,
    checkpoints: int,
    **params: Any,
) -> Checked:
    of_cond, of_body = sites_of([cond_jaxpr.jaxpr], errors), sites_of([body_jaxpr.jaxpr], errors)
    sites = sites_of([cond_jaxpr.jaxpr, body_jaxpr.jaxpr], errors)
    first_of_carry = cond_nconsts + body_nconsts
    cond_consts, body_consts = args[:cond_nconsts], args[cond_nconsts:first_of_carry]
    predicate = staging.without_effects(cond_jaxpr)
    mapped = tuple(range(cond_jaxpr.out_avals[0].ndim))
    pred_dims = [*(const_pred_dims or [()] * body_nconsts), *[mapped] * (len(args) - first_of_carry)]

    def running(values: Sequence[Any]) -> Any:
        [result] = eval_closed_jaxpr(predicate, *cond_consts, *values)
        return result

    def holds(carry: tuple[State, Sequence[Any]]) -> Any:
        return lawful_numpy.any(running(carry[1])) if mapped else running(carry[1])

    def with_predicate(state: State, values: Sequence[Any]) -> State:
        """Adds what is found in the predicate, which `holds` evaluates without looking."""
        if not of_cond:
            return state
        found, _ = evaluate(cond_jaxpr, errors, *stop_gradient((*cond_consts, *values)))
        return first(state, lifted(found, of_cond, sites))

    def body(values: Sequence[Any]) -> Checked:
        if not mapped:
            return evaluate(body_jaxpr, errors, *body_consts, *values)
        going = running(values)
        # Stopped batch elements get the operands of a running one, so that they cannot fail.
        operands = control_flow.replace_idle(going.astype(numpy.int64), [*body_consts, *values], pred_dims)
        found, after = evaluate(body_jaxpr, errors, *operands)
        return found, control_flow.select_running(going, after, values)

    def step(carry: tuple[State, Sequence[Any]]) -> Any:
        state, values = carry
        later, outs = body(values)
        return first(with_predicate(state, values), lifted(later, of_body, sites)), outs

    state, values = control_flow.while_loop(
        holds, step, (nothing(sites), [*args[first_of_carry:]]), max_iters=max_iters, checkpoints=checkpoints
    )
    return with_predicate(state, values), values


@parallel.xla_pmap_p.def_rule_as("checkify")
def _pmap(errors: Errors, args: Sequence[Any], **params: Any) -> Checked:
    mapped = parallel.pmap(
        functools.partial(evaluate, params["call_jaxpr"], errors),
        params["axis_name"],
        in_axes=params["in_axes"],
        out_axes=(0, [*params["out_axes"]]),
        devices=params["devices"].flat_devices,
    )
    states, outs = mapped(*args)
    return _of_devices(states), outs


@parallel.shard_map_p.def_rule_as("checkify")
def _shard_map(errors: Errors, args: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Checked:
    def part(*args: Any) -> Checked:
        state, outs = evaluate(jaxpr, errors, *args)
        return tree.map(lambda x: lawful_numpy.expand_dims(x, 0), state), outs

    in_specs, out_specs = [
        [parallel.PartitionSpec(*spec) for spec in params[name]] for name in ("in_specs", "out_specs")
    ]
    mapped = parallel.shard_map(
        part,
        mesh=params["mesh"],
        in_specs=tuple(in_specs),
        out_specs=(parallel.PartitionSpec(params["axis_names"]), out_specs),
        axis_names=params["axis_names"],
        check_vma=params["check_vma"],
    )
    states, outs = mapped(*args)
    return _of_devices(states), outs


def _of_devices(states: State) -> State:
    """Returns the state of the first device with an error."""
    device = lawful_numpy.argmax(states.code >= 0)
    found: State = tree.map(lambda x: x[device], states)
    return found


def _custom_call(primitive: Primitive) -> None:
    """Defines the rule of calls of functions with rules of their own, which stay: they are those of the outputs."""

    @primitive.def_rule_as("checkify")
    def rule(errors: Errors, args: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Checked:
        unchecked = staging.without_effects(jaxpr)
        if has_effects(unchecked):  # that would happen twice
            refuse(f"{primitive.name} beside other effects")
        state, _ = evaluate(jaxpr, errors, *stop_gradient(args))  # the rules replace derivatives of the function
        return state, primitive.bind(*args, jaxpr=unchecked, **params)


@custom_rules.linear_call_p.def_rule_as("checkify")
def _linear_call(errors: Errors, args: Sequence[Any], **params: Any) -> Checked:
    unchecked = map_jaxprs(staging.without_effects, params)
    if has_effects(unchecked["callee"]) or has_effects(unchecked["transposed"]):
        refuse(f"{custom_rules.linear_call_p.name} beside other effects")
    callee = params["callee"]
    state, _ = evaluate(callee, errors, *stop_gradient(args))
    found = lifted(state, sites_of([callee.jaxpr], errors), sites_of(jaxprs_in_params(params), errors))
    return found, custom_rules.linear_call_p.bind(*args, **unchecked)


for _primitive in (
    custom_rules.custom_jvp_call_p,
    custom_rules.custom_rule_call_p,
    custom_rules.custom_transpose_call_p,
    custom_rules.custom_vjp_call_p,
    custom_rules.custom_vmap_call_p,
):
    _custom_call(_primitive)
