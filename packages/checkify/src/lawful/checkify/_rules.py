"""Rules of `checkify`: a check, and the calls and control flow that checks can be in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from lawful import control_flow, parallel, staging, tree
from lawful import numpy as lawful_numpy
from lawful.autodiff import checkpoint_p
from lawful.checkify._evaluate import Checked, State, evaluate, first, lifted, nothing, refuse, sites_of
from lawful.checkify._primitive import check_p
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, get_aval, memoize_program
from lawful.ops import with_weakness_of
from lawful.staging import jit_p


@check_p.def_rule_as("checkify")
def _check(args: Sequence[Any], **params: Any) -> Checked:
    pred, *leaves = args
    values = [with_weakness_of(x, get_aval(x).strip_weak_type()) for x in leaves]
    return State(lawful_numpy.where(pred, numpy.int32(-1), numpy.int32(0)), (tuple(values),)), []


@memoize_program
def _compiled(closed: ClosedJaxpr) -> Callable[..., Any]:
    return staging.jit(functools.partial(evaluate, closed))


@jit_p.def_rule_as("checkify")
def _jit(args: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Checked:
    state, outs = _compiled(jaxpr)(*args)
    return state, outs


@checkpoint_p.def_rule_as("checkify")
def _checkpoint(args: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Checked:
    return evaluate(jaxpr, *args)


@control_flow.cond_p.def_rule_as("checkify")
def _cond(args: Sequence[Any], *, branches: Sequence[ClosedJaxpr], **params: Any) -> Checked:
    sites = sites_of([branch.jaxpr for branch in branches])

    def taken(branch: ClosedJaxpr, *args: Any) -> Checked:
        state, outs = evaluate(branch, *args)
        return lifted(state, sites_of([branch.jaxpr]), sites), outs

    index, *operands = args
    checked: Checked = control_flow.switch(index, [functools.partial(taken, branch) for branch in branches], *operands)
    return checked


@control_flow.scan_p.def_rule_as("checkify")
def _scan(args: Sequence[Any], *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **params: Any) -> Checked:
    consts, carry, xs = args[:num_consts], args[num_consts:][:num_carry], args[num_consts + num_carry :]

    def body(carry: tuple[State, Sequence[Any]], x: Sequence[Any]) -> Any:
        state, values = carry
        later, outs = evaluate(jaxpr, *consts, *values, *x)
        return (first(state, later), outs[:num_carry]), outs[num_carry:]

    init = (nothing(sites_of([jaxpr.jaxpr])), [*carry])
    loop = {name: params[name] for name in ("length", "reverse", "unroll")}
    (state, values), ys = control_flow.scan(body, init, [*xs], **loop)
    return state, [*values, *ys]


@control_flow.while_p.def_rule_as("checkify")
def _while(
    args: Sequence[Any],
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    **params: Any,
) -> Checked:
    if sites_of([cond_jaxpr.jaxpr]) or cond_jaxpr.out_avals[0].shape:
        refuse(control_flow.while_p.name)
    first_of_carry = cond_nconsts + body_nconsts
    cond_consts, body_consts = args[:cond_nconsts], args[cond_nconsts:first_of_carry]

    def holds(carry: tuple[State, Sequence[Any]]) -> Any:
        [result] = eval_closed_jaxpr(cond_jaxpr, *cond_consts, *carry[1])
        return result

    def step(carry: tuple[State, Sequence[Any]]) -> Any:
        state, values = carry
        later, outs = evaluate(body_jaxpr, *body_consts, *values)
        return first(state, later), outs

    init = (nothing(sites_of([body_jaxpr.jaxpr])), [*args[first_of_carry:]])
    checked: Checked = control_flow.while_loop(holds, step, init)
    return checked


@parallel.xla_pmap_p.def_rule_as("checkify")
def _pmap(args: Sequence[Any], **params: Any) -> Checked:
    mapped = parallel.pmap(
        functools.partial(evaluate, params["call_jaxpr"]),
        params["axis_name"],
        in_axes=params["in_axes"],
        out_axes=(0, [*params["out_axes"]]),
        devices=params["devices"].flat_devices,
    )
    states, outs = mapped(*args)
    device = lawful_numpy.argmax(states.code >= 0)
    return tree.map(lambda x: x[device], states), outs
