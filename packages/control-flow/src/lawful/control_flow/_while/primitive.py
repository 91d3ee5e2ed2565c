"""``while_p``: the primitive of a loop that runs while a predicate holds: typing, evaluation, lowering, dead code.

Its operands are the constants of the predicate, those of the body, and the carry. Batching makes the predicate an
array. Its dimensions are then the leading dimensions of every part of the carry, and each batch element stops when its
own predicate is false. Values computed for a stopped element are discarded, also in derivatives.

Its parameters are the two jaxprs, the numbers of their constants, and

- ``const_pred_dims``: for each constant of the body, which dimensions of the predicate are its leading dimensions;
  empty if no constant has any;
- ``counted``: whether the first part of the carry counts iterations up to the only constant of the predicate;
- ``max_iters`` and ``checkpoints``: how many states are stored in reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.control_flow._loops.batch_elements import PredDims, select_running
from lawful.control_flow._loops.bodies import Mask, fixpoint, rearranged, split_list
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    Run,
    ShapedArray,
    eval_closed_jaxpr,
    get_aval,
    memoize,
)
from lawful.ops import reduce_or, with_weakness_of
from lawful.staging import dce_jaxpr, hoist_groups, kept, numpy_function, operands_of_call, trace_to_jaxpr, used_inputs

while_p = Primitive("while", multiple_results=True, pure_rules=True)


def bind_while(
    cond_consts: Sequence[Any], body_consts: Sequence[Any], carry: Sequence[Any], *,
    cond_jaxpr: ClosedJaxpr, body_jaxpr: ClosedJaxpr, **params: Any,
) -> list[Any]:  # fmt: skip
    """Binds the primitive; operands get the weakness of the jaxprs' inputs."""
    outs: list[Any] = while_p.bind(
        *map(with_weakness_of, cond_consts, cond_jaxpr.in_avals),
        # Tangents and residuals may differ in weakness from the types that the jaxprs were derived for.
        *map(with_weakness_of, [*body_consts, *carry], body_jaxpr.in_avals),
        cond_jaxpr=cond_jaxpr,
        body_jaxpr=body_jaxpr,
        cond_nconsts=len(cond_consts),
        body_nconsts=len(body_consts),
        **params,
    )
    return outs


@while_p.def_abstract_eval
def _abstract_eval(
    *avals: ShapedArray,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    const_pred_dims: PredDims,
    counted: bool,
    max_iters: int | None,
    checkpoints: int,
) -> list[ShapedArray]:
    cond_consts, body_consts, carry = split_list(avals, (cond_nconsts, body_nconsts))
    if [*cond_consts, *carry] != cond_jaxpr.in_avals or [*body_consts, *carry] != body_jaxpr.in_avals:
        raise ArgumentTypeError(
            f"while_p: expected operands of types {', '.join(map(str, cond_jaxpr.in_avals))} for the predicate and "
            f"{', '.join(map(str, body_jaxpr.in_avals))} for the body, got {', '.join(map(str, avals))}"
        )
    [pred] = cond_jaxpr.out_avals
    if pred.dtype != bool or any(aval.shape[: pred.ndim] != pred.shape for aval in carry):
        raise ArgumentTypeError(
            f"while_p: expected a boolean predicate with the first dimensions of the carry, got {pred} for "
            f"{', '.join(map(str, carry))}"
        )
    if not all(pred.vma <= aval.vma for aval in carry):
        raise ArgumentTypeError(
            f"while_p: expected a carry that varies as the predicate does, which is {pred}, got "
            f"{', '.join(map(str, carry))}; devices run different numbers of steps"
        )
    if body_jaxpr.out_avals != carry:
        raise ArgumentTypeError(
            f"while_p: expected a body that gives a carry of types {', '.join(map(str, carry))}, got "
            f"{', '.join(map(str, body_jaxpr.out_avals))}"
        )
    if const_pred_dims and any(
        aval.shape[: len(dims)] != tuple([pred.shape[dim] for dim in dims])
        for aval, dims in zip(body_consts, const_pred_dims, strict=True)
    ):
        raise ArgumentTypeError(
            f"while_p: expected constants with the dimensions {const_pred_dims} of a predicate {pred} first, got "
            f"{', '.join(map(str, body_consts))}"
        )
    return carry


@while_p.def_rule_as("runs")
def _runs(eqn: JaxprEqn) -> list[Run]:
    sizes = (eqn.params["cond_nconsts"], eqn.params["body_nconsts"])
    cond_consts, body_consts, carry = split_list(range(len(eqn.invars)), sizes)
    return [
        Run(eqn.params["cond_jaxpr"].jaxpr, [*cond_consts, *carry], ()),
        Run(eqn.params["body_jaxpr"].jaxpr, [*body_consts, *carry], range(len(carry)), dict(enumerate(carry))),
    ]


@while_p.def_rule_as("weakness")
def _weakness(params: dict[str, Any]) -> list[bool]:
    avals = [*params["cond_jaxpr"].in_avals[: params["cond_nconsts"]], *params["body_jaxpr"].in_avals]
    return [aval.weak_type for aval in avals]


@while_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    counts = (params["cond_nconsts"], params["body_nconsts"])
    args, jaxprs, totals = hoist_groups(args, [params["cond_jaxpr"], params["body_jaxpr"]], counts)
    hoisted = dict(zip(("cond_jaxpr", "body_jaxpr", "cond_nconsts", "body_nconsts"), (*jaxprs, *totals), strict=True))
    pred_dims = params["const_pred_dims"]
    if pred_dims:
        hoisted["const_pred_dims"] = ((),) * (totals[1] - counts[1]) + pred_dims
    return args, {**params, **hoisted}


# Evaluation


@while_p.def_rule_as("numpy")
def _numpy(
    avals: Sequence[ShapedArray],
    compile: Callable[..., Any],
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    **_: Any,
) -> Callable[..., list[Any]]:
    cond, body = compile(cond_jaxpr), compile(body_jaxpr)
    is_batched = cond_jaxpr.out_avals[0].ndim > 0

    def run(*args: Any) -> list[Any]:
        cond_consts, body_consts, carry = split_list(args, (cond_nconsts, body_nconsts))
        if not is_batched:
            while cond(*cond_consts, *carry)[0]:
                carry = body(*body_consts, *carry)
            return carry
        while (going := np.asarray(cond(*cond_consts, *carry)[0])).any():
            # Values of stopped batch elements are discarded, so their floating-point errors are ignored.
            with np.errstate(all=None if going.all() else "ignore"):
                after = body(*body_consts, *carry)
            carry = [x if y is x else np.where(_over(going, x), y, x) for x, y in zip(carry, after, strict=True)]
        return carry

    return run


def _over(going: Any, x: Any) -> Any:
    """Returns a NumPy predicate reshaped to broadcast over a part of the carry."""
    return going.reshape(going.shape + (1,) * (np.ndim(x) - going.ndim))


@while_p.def_expand
def _expand(
    *args: Any, cond_jaxpr: ClosedJaxpr, body_jaxpr: ClosedJaxpr, cond_nconsts: int, body_nconsts: int, **_: Any
) -> list[Any]:
    """Evaluates the body while the predicate, whose value must be known, holds."""
    cond_consts, body_consts, carry = split_list(args, (cond_nconsts, body_nconsts))
    while True:
        (going,) = eval_closed_jaxpr(cond_jaxpr, *cond_consts, *carry)
        batched = get_aval(going).shape
        if not (reduce_or(going, tuple(range(len(batched)))) if batched else going):
            return [*carry]
        after = eval_closed_jaxpr(body_jaxpr, *body_consts, *carry)
        carry = select_running(going, after, carry) if batched else after


@while_p.def_impl
def _impl(*args: Any, **params: Any) -> list[Any]:
    operands = operands_of_call(while_p, args, params)
    found: list[Any] = _numpy([], numpy_function, **params)(*operands)
    return found


@while_p.def_lowering
def _lower(
    ctx: Any,
    *args: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    **_: Any,
) -> Any:
    if cond_jaxpr.out_avals[0].ndim:
        cond_jaxpr, body_jaxpr = _with_scalar_predicate(cond_jaxpr, body_jaxpr, cond_nconsts)
        # The body evaluates the predicate too.
        args, body_nconsts = (*args[:cond_nconsts], *args), cond_nconsts + body_nconsts
    cond_consts, body_consts, carry = split_list(args, (cond_nconsts, body_nconsts))
    return ctx.while_loop(cond_jaxpr, body_jaxpr, carry, cond_consts=cond_consts, body_consts=body_consts)


@memoize
def _with_scalar_predicate(cond: ClosedJaxpr, body: ClosedJaxpr, cond_nconsts: int) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Returns the predicate that any batch element is running, and the body that updates the running elements."""
    pred_dims = tuple(range(cond.out_avals[0].ndim))
    cond_consts, carry = split_list(cond.in_avals, (cond_nconsts,))
    body_consts = body.in_avals[: len(body.in_avals) - len(carry)]

    def any_running(*args: Any) -> list[Any]:
        return [reduce_or(eval_closed_jaxpr(cond, *args)[0], pred_dims)]

    def iteration(*args: Any) -> list[Any]:
        of_cond, of_body, state = split_list(args, (cond_nconsts, len(body_consts)))
        [going] = eval_closed_jaxpr(cond, *of_cond, *state)
        return select_running(going, eval_closed_jaxpr(body, *of_body, *state), state)

    return (
        trace_to_jaxpr(any_running, cond.in_avals, transformation="while"),
        trace_to_jaxpr(iteration, [*cond_consts, *body.in_avals], transformation="while"),
    )


# Dead code


@memoize
def _live_bodies(
    body: ClosedJaxpr, cond: ClosedJaxpr, cond_nconsts: int, body_nconsts: int, used: Mask
) -> tuple[ClosedJaxpr, ClosedJaxpr, Mask, Mask]:
    """Returns predicate and body without dead parts of the carry, and masks of the live constants and carry."""
    in_cond = used_inputs(cond, (True,))[cond_nconsts:]
    first = [a or b for a, b in zip(used, in_cond, strict=True)]
    carry = fixpoint(first, lambda mask: used_inputs(body, mask)[body_nconsts:])
    consts = tuple(used_inputs(body, carry)[:body_nconsts])
    smaller = dce_jaxpr(body, carry)
    if smaller is body and all(consts):
        return cond, body, consts, carry
    inputs = tuple([i for i, keep in enumerate((*consts, *carry)) if keep])
    cond_inputs = (*range(cond_nconsts), *[cond_nconsts + i for i, keep in enumerate(carry) if keep])
    return rearranged(cond, cond_inputs), rearranged(smaller, inputs), consts, carry


@while_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    params = eqn.params
    sizes = (params["cond_nconsts"], params["body_nconsts"])
    cond, body, consts, carry = _live_bodies(params["body_jaxpr"], params["cond_jaxpr"], *sizes, tuple(used))
    if body is params["body_jaxpr"]:
        return eqn
    of_cond, of_body, of_carry = split_list(eqn.invars, sizes)
    changes = {"cond_jaxpr": cond, "body_jaxpr": body, "body_nconsts": sum(consts)}
    if params["const_pred_dims"]:
        changes["const_pred_dims"] = tuple(kept(params["const_pred_dims"], consts))
    return eqn.replace(
        invars=[*of_cond, *kept(of_body, consts), *kept(of_carry, carry)],
        outvars=kept(eqn.outvars, carry),
        params={**params, **changes},
    )
