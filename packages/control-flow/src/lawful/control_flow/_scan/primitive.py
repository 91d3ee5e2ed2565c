"""``scan_p``: the primitive of a loop over slices with a carry: typing, evaluation, lowering, dead code.

Its operands are the constants of the body, the carry, and the arrays that are sliced along their first dimension.
The body takes constants, carry and slices, and returns the next carry and the slices of the results. A rule derives a
new body and binds ``scan_p`` again, so that the size of a program does not depend on the trip count.

If its parameter ``checkpoints`` is a number, derivatives store the operands and rerun the iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.control_flow._loops.bodies import Counts, Mask, fixpoint, rearranged, split_list, stack_aval
from lawful.control_flow._scan.cut import cut_scan
from lawful.control_flow._scan.lowering import lower_scan
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    Run,
    ShapedArray,
    eval_closed_jaxpr,
    memoize,
)
from lawful.ops import concatenate, expand_dims, full, getitem, with_weakness_of
from lawful.staging import dce_jaxpr, hoist_groups, kept, numpy_function, operands_of_call, used_inputs

scan_p = Primitive("scan", multiple_results=True, pure_rules=True)


def counts_of(jaxpr: ClosedJaxpr, num_consts: int, num_carry: int) -> Counts:
    """Returns the groups of the inputs of a body."""
    return Counts(num_consts, num_carry, len(jaxpr.in_avals) - num_consts - num_carry)


def bind_scan(
    args: Sequence[Any], jaxpr: ClosedJaxpr, counts: Counts, bind: Callable[..., list[Any]] = scan_p.bind, **loop: Any
) -> list[Any]:
    """Binds the primitive with a derived body.

    A part of the carry that the body returns unchanged becomes a constant, so that it is never a stacked residual.

    Args:
      args: the operands.
      jaxpr: the body.
      counts: the groups of its inputs.
      bind: called instead of ``scan_p.bind``.
      loop: the other parameters.
    """
    invars, outvars = jaxpr.jaxpr.invars, jaxpr.jaxpr.outvars
    consts, carry, xs = split_list(range(len(args)), counts[:2])
    moved = [i for i in range(counts.carry) if outvars[i] is invars[carry[i]]]
    stays = [i for i in range(counts.carry) if i not in moved]
    order = (*consts, *[carry[i] for i in moved], *[carry[i] for i in stays], *xs)
    if moved:
        jaxpr = rearranged(jaxpr, order, (*stays, *range(counts.carry, len(outvars))))
    operands = [args[i] for i in order]
    num_consts = counts.consts + len(moved)
    # Tangents and residuals may differ in weakness from the types that the body was derived for.
    before_xs = counts.consts + counts.carry
    xs_avals = [stack_aval(aval, loop["length"]) for aval in jaxpr.in_avals[before_xs:]]
    operands = [*map(with_weakness_of, operands, [*jaxpr.in_avals[:before_xs], *xs_avals])]
    found = iter(bind(*operands, jaxpr=jaxpr, num_consts=num_consts, num_carry=len(stays), **loop))
    return [args[carry[i]] if i in moved else next(found) for i in range(counts.carry)] + list(found)


@scan_p.def_abstract_eval
def _abstract_eval(
    *avals: ShapedArray,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    length: int,
    reverse: bool,
    unroll: int,
    checkpoints: int | None,
) -> list[ShapedArray]:
    counts = counts_of(jaxpr, num_consts, num_carry)
    consts, carry, xs = split_list(jaxpr.in_avals, counts[:2])
    expected = [*consts, *carry, *[stack_aval(aval, length) for aval in xs]]
    if list(avals) != expected:
        raise ArgumentTypeError(
            f"scan_p: expected operands of types {', '.join(map(str, expected))}, got {', '.join(map(str, avals))}; "
            "give constants, carry, and stacks of slices"
        )
    if jaxpr.out_avals[:num_carry] != carry:
        raise ArgumentTypeError(
            f"scan_p: expected a body that gives a carry of types {', '.join(map(str, carry))}, got "
            f"{', '.join(map(str, jaxpr.out_avals[:num_carry]))}"
        )
    return [*carry, *[stack_aval(aval, length) for aval in jaxpr.out_avals[num_carry:]]]


@scan_p.def_rule_as("weakness")
def _weakness(params: dict[str, Any]) -> list[bool | None]:
    avals, once = params["jaxpr"].in_avals, params["num_consts"] + params["num_carry"]
    return [*[aval.weak_type for aval in avals[:once]], *[None] * (len(avals) - once)]  # stacks are never weak


@scan_p.def_rule_as("runs")
def _runs(eqn: JaxprEqn) -> list[Run]:
    fed_back = {i: eqn.params["num_consts"] + i for i in range(eqn.params["num_carry"])}
    return [Run(eqn.params["jaxpr"].jaxpr, range(len(eqn.invars)), range(len(eqn.outvars)), fed_back)]


@scan_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    operands, [jaxpr], [num_consts] = hoist_groups(args, [params["jaxpr"]], [params["num_consts"]])
    return operands, {**params, "jaxpr": jaxpr, "num_consts": num_consts}


# Evaluation


@scan_p.def_rule_as("numpy")
def _numpy(
    avals: Sequence[ShapedArray],
    compile: Callable[..., Any],
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    length: int,
    reverse: bool,
    **_: Any,
) -> Callable[..., list[Any]]:
    body = compile(jaxpr)
    stacks = [stack_aval(aval, length) for aval in jaxpr.out_avals[num_carry:]]
    indices = range(length - 1, -1, -1) if reverse else range(length)

    def run(*args: Any) -> list[Any]:
        consts, carry, xs = split_list(args, (num_consts, num_carry))
        ys = [np.empty(aval.shape, aval.dtype) for aval in stacks]
        for i in indices:
            outs = body(*consts, *carry, *[x[i] for x in xs])
            carry = outs[:num_carry]
            for stack, y in zip(ys, outs[num_carry:], strict=True):
                stack[i] = y
        return [*carry, *ys]

    return run


@scan_p.def_expand
def _expand(
    *args: Any, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, length: int, reverse: bool, **_: Any
) -> list[Any]:
    """Evaluates the body once an iteration; a slice is an index of a stack, and a stack a concatenation of slices."""
    consts, carry, xs = split_list(args, (num_consts, num_carry))
    slices: list[Sequence[Any]] = []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        outs = eval_closed_jaxpr(jaxpr, *consts, *carry, *[getitem(x, i) for x in xs])
        carry = outs[:num_carry]
        slices.append(outs[num_carry:])
    if not slices:
        stacks = [stack_aval(aval, length) for aval in jaxpr.out_avals[num_carry:]]
        return [*carry, *[full(aval.shape, 0, aval.dtype) for aval in stacks]]
    if reverse:
        slices.reverse()
    return [*carry, *[concatenate([expand_dims(y, (0,)) for y in ys], 0) for ys in zip(*slices, strict=True)]]


@scan_p.def_impl
def _impl(*args: Any, **params: Any) -> list[Any]:
    operands = operands_of_call(scan_p, args, params)
    found: list[Any] = _numpy([], numpy_function, **params)(*operands)
    return found


# Dead code


@memoize
def _live_body(jaxpr: ClosedJaxpr, counts: Counts, used: Mask) -> tuple[ClosedJaxpr, Mask, Mask]:
    """Returns the body without dead equations, and masks of its live inputs and outputs."""
    first, results = split_list(used, (counts.carry,))
    before, after = counts.consts, counts.consts + counts.carry
    carry = fixpoint(first, lambda mask: used_inputs(jaxpr, (*mask, *results))[before:after])
    live = used_inputs(jaxpr, (*carry, *results))
    inputs = (*live[:before], *carry, *live[after:])
    smaller = dce_jaxpr(jaxpr, (*carry, *results))
    if smaller is not jaxpr or not all(inputs):
        smaller = rearranged(smaller, tuple([i for i, keep in enumerate(inputs) if keep]))
    return smaller, inputs, (*carry, *results)


@scan_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    params = eqn.params
    counts = counts_of(params["jaxpr"], params["num_consts"], params["num_carry"])
    body, inputs, outputs = _live_body(params["jaxpr"], counts, tuple(used))
    if body is params["jaxpr"]:
        return eqn
    consts, carry, _ = split_list(inputs, counts[:2])
    return eqn.replace(
        invars=kept(eqn.invars, inputs),
        outvars=kept(eqn.outvars, outputs),
        params={**params, "jaxpr": body, "num_consts": sum(consts), "num_carry": sum(carry)},
    )


scan_p.def_rule("checkpoint", cut_scan)
scan_p.def_rule("trips", lambda eqn: eqn.params["length"])
scan_p.def_lowering(lower_scan)
