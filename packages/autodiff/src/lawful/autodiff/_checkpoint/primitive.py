"""``checkpoint_p``: the primitive that calls a jaxpr whose derivative computes its values again, with its rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.autodiff._checkpoint.rematerialization import cut_call, linearize_again, partial_eval_again
from lawful.autodiff._jvp import jvp_jaxpr
from lawful.autodiff._transpose import transpose_jaxpr
from lawful.autodiff.checkpoint_policies import as_param, from_param, save_from_both_policies
from lawful.batching import batch_jaxpr
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    expand_call,
    memoize,
    runs_of_call,
    weakness_of_call,
)
from lawful.ops import with_weakness_of
from lawful.staging import dce_call, eval_call, hoist_call, kept, merge_lists

#: Its parameters are the jaxpr, the policy, ``prevent_cse``, and ``differentiated``: whether the jaxpr begins with
#: rematerialized values.
checkpoint_p = Primitive("checkpoint", multiple_results=True, pure_rules=True)


def _impl(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list[Any]:
    return eval_call(jaxpr, *args)


checkpoint_p.def_impl(_impl, any_array=True)


@checkpoint_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, jaxpr: ClosedJaxpr, **_: Any) -> Any:
    return compile(jaxpr)


@checkpoint_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, jaxpr: ClosedJaxpr, **_: Any) -> list[ShapedArray]:
    if list(avals) != jaxpr.in_avals:
        raise ArgumentTypeError(
            f"checkpoint_p: expected arguments of types {', '.join(map(str, jaxpr.in_avals))}, "
            f"got {', '.join(map(str, avals))}; the types of a call must be those of its jaxpr"
        )
    return jaxpr.out_avals


checkpoint_p.def_rule("runs", runs_of_call)
checkpoint_p.def_rule("weakness", weakness_of_call)
checkpoint_p.def_expand(expand_call)
checkpoint_p.def_rule("hoist", hoist_call)


def _call(closed: ClosedJaxpr, args: Sequence[Any], params: dict[str, Any], **changes: Any) -> list[Any]:
    """Calls a derived jaxpr: tangents and residuals may differ in weakness from what it was derived for."""
    weak = map(with_weakness_of, args, closed.in_avals)
    outs: list[Any] = checkpoint_p.bind(*weak, jaxpr=closed, **{**params, **changes})
    return outs


@checkpoint_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> tuple[Any, Any]:
    derived, nonzeros_out = jvp_jaxpr(jaxpr, tuple([type(t) is not Zero for t in tangents]), False)
    outs = _call(derived, [*primals, *[t for t in tangents if type(t) is not Zero]], params)
    count = len(jaxpr.out_avals)
    given = iter(outs[count:])
    return outs[:count], [
        next(given) if nonzero else Zero(aval.to_tangent_aval())
        for nonzero, aval in zip(nonzeros_out, jaxpr.out_avals, strict=True)
    ]


@memoize
def _within(closed: ClosedJaxpr, policy: Any) -> ClosedJaxpr:
    """Returns the jaxpr of a call with a policy, which the calls inside it follow too."""
    eqns = []
    for eqn in closed.eqns:
        params = {name: _value_within(value, policy) for name, value in eqn.params.items()}
        if eqn.primitive is checkpoint_p:
            params["policy"] = as_param(save_from_both_policies(from_param(params["policy"]), from_param(policy)))
        eqns.append(eqn if params == eqn.params else eqn.replace(params=params))
    if all(new is old for new, old in zip(eqns, closed.eqns, strict=True)):
        return closed
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)


def _value_within(value: Any, policy: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return _within(value, policy)
    if isinstance(value, tuple) and any(isinstance(item, ClosedJaxpr) for item in value):
        return tuple([_value_within(item, policy) for item in value])
    return value


@checkpoint_p.def_linearize
def _linearize(nonzeros: Sequence[bool], *primals: Any, jaxpr: ClosedJaxpr, policy: Any, **params: Any) -> Any:
    params["policy"] = policy
    jaxpr = jaxpr if policy is None else _within(jaxpr, policy)
    parts, nonzeros_out = linearize_again(jaxpr, tuple(nonzeros), policy)
    outs = _call(parts.forward, primals, params)
    count = len(jaxpr.out_avals)
    residuals = [*outs[count:], *kept(primals, parts.inputs)]

    def tangent_fun(*tangents: Any) -> list[Any]:
        return _call(parts.backward, [*residuals, *tangents], params, differentiated=True)

    return outs[:count], nonzeros_out, tangent_fun


@checkpoint_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, jaxpr: ClosedJaxpr, policy: Any, **params: Any
) -> list[Any]:
    params["policy"] = policy
    jaxpr = jaxpr if policy is None else _within(jaxpr, policy)
    parts, unknown_out = partial_eval_again(jaxpr, tuple(unknown), policy)
    if all(unknown_out) and not parts.kept:
        whole: list[Any] = record(*args, jaxpr=jaxpr, **params)
        return whole
    known = kept(args, [not is_unknown for is_unknown in unknown])
    outs = _call(parts.forward, known, params)
    count = len(outs) - parts.kept
    residuals = [*outs[count:], *kept(known, parts.inputs)]
    later = {**params, "differentiated": True}
    rest = record(*residuals, *kept(args, unknown), jaxpr=parts.backward, **later) if any(unknown_out) else ()
    return merge_lists(unknown_out, outs[:count], rest)


@checkpoint_p.def_transpose
def _transpose(cts: Sequence[Any], *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    linear = tuple([isinstance(x, UndefinedPrimal) for x in args])
    nonzeros = tuple([type(ct) is not Zero for ct in cts])
    transposed, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzeros)
    residuals = [x for x in args if not isinstance(x, UndefinedPrimal)]
    outs = iter(_call(transposed, [*residuals, *kept(cts, nonzeros)], params))
    nonzero = iter(nonzeros_out)
    return [(next(outs) if next(nonzero) else Zero(x.aval)) if isinstance(x, UndefinedPrimal) else None for x in args]


@checkpoint_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, jaxpr: ClosedJaxpr, **params: Any
) -> Any:
    batched, dims_out = batch_jaxpr(jaxpr, axis_data, tuple(dims), False)
    return checkpoint_p.bind(*args, jaxpr=batched, **params), dims_out


@checkpoint_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn | None:
    if eqn.params["differentiated"] and not any(used):
        return None  # nothing is computed again for its effects alone
    jaxpr, used_in = dce_call(eqn.params["jaxpr"], tuple(used))
    if jaxpr is eqn.params["jaxpr"]:
        return eqn
    params = {**eqn.params, "jaxpr": jaxpr}
    return eqn.replace(invars=kept(eqn.invars, used_in), outvars=kept(eqn.outvars, used), params=params)


checkpoint_p.def_rule("checkpoint", cut_call)


@checkpoint_p.def_lowering
def _lower(ctx: Any, *operands: Any, jaxpr: ClosedJaxpr, prevent_cse: bool, differentiated: bool, policy: Any) -> Any:
    if prevent_cse and differentiated and operands:
        # XLA does not merge computations from behind the barrier with those before it.
        operands = tuple(ctx.hlo.OptimizationBarrierOp(list(operands)).results)
    return ctx.call(jaxpr, operands, name=jaxpr.jaxpr.name or "checkpoint")
