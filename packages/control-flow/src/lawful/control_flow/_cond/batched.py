"""``batched_cond_p``: the primitive of a cond with a batched index, whose batch elements may take different branches.

It holds two jaxprs with equal results. ``jaxpr`` computes all branches and selects: it is evaluated, compiled and
lowered. ``guarded`` does not evaluate a branch at elements that do not take it: it is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful.autodiff import jvp_jaxpr
from lawful.batching import batch_jaxpr
from lawful.control_flow._loops.bodies import with_zeros
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    Zero,
    eval_closed_jaxpr,
    get_aval,
    memoize,
    runs_of_call,
    weakness_of_call,
)
from lawful.ops import with_weakness_of
from lawful.staging import dce_jaxpr, eval_call, hoist_common, kept

batched_cond_p: Final = Primitive("batched_cond", multiple_results=True, pure_rules=True)


def bind_batched_cond(program: ClosedJaxpr, guarded: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
    """Binds a batched program, and the guarded program with equal results that is differentiated."""
    given = map(with_weakness_of, operands, program.in_avals)
    outs: list[Any] = batched_cond_p.bind(*given, jaxpr=program, guarded=guarded)
    return outs


@batched_cond_p.def_impl
def _impl(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list[Any]:
    with np.errstate(all="ignore"):  # errors at elements that do not take the branch
        return eval_call(jaxpr, *args)


@batched_cond_p.def_expand
def _expand(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list[Any]:
    return eval_closed_jaxpr(jaxpr, *args)


@batched_cond_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, jaxpr: ClosedJaxpr, guarded: ClosedJaxpr) -> list[ShapedArray]:
    for program in (jaxpr, guarded):
        if list(avals) != program.in_avals:
            raise ArgumentTypeError(
                f"batched_cond_p: expected operands of types {', '.join(map(str, program.in_avals))}, "
                f"got {', '.join(map(str, avals))}; the types of a call must be those of its jaxprs"
            )
    if jaxpr.out_avals != guarded.out_avals:
        raise ArgumentTypeError(
            f"batched_cond_p: expected jaxprs with results of one type, got {', '.join(map(str, jaxpr.out_avals))} and "
            f"{', '.join(map(str, guarded.out_avals))}; both must compute the same"
        )
    return jaxpr.out_avals


batched_cond_p.def_rule("runs", runs_of_call)
batched_cond_p.def_rule("weakness", weakness_of_call)


@batched_cond_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    (program, guarded), consts = hoist_common([params["jaxpr"], params["guarded"]])
    return [*consts, *args], {"jaxpr": program, "guarded": guarded}


@batched_cond_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, jaxpr: ClosedJaxpr, **_: Any) -> Any:
    return compile(jaxpr)


@batched_cond_p.def_lowering
def _lower(ctx: Any, *operands: Any, jaxpr: ClosedJaxpr, **_: Any) -> Any:
    return ctx.call(jaxpr, operands, name="batched_cond")


@batched_cond_p.def_jvp
def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, guarded: ClosedJaxpr, **_: Any
) -> tuple[list[Any], list[Any]]:
    nonzeros = tuple([type(t) is not Zero for t in tangents])
    derived, nonzeros_out = jvp_jaxpr(guarded, nonzeros, False)
    given = map(with_weakness_of, [*primals, *kept(tangents, nonzeros)], derived.in_avals)
    outs = eval_closed_jaxpr(derived, *given)
    count = len(nonzeros_out)
    tangent_avals = [get_aval(x).to_tangent_aval() for x in outs[:count]]
    return outs[:count], with_zeros(outs[count:], nonzeros_out, tangent_avals)


@batched_cond_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, guarded: ClosedJaxpr, **_: Any
) -> list[Any]:
    # The unknown equations may be transposed, which needs the guarded program.
    return eval_closed_jaxpr(guarded, *args)


@memoize
def _of_outputs(closed: ClosedJaxpr, used: tuple[bool, ...]) -> ClosedJaxpr:
    return dce_jaxpr(closed, used)


@batched_cond_p.def_rule_as("dce")
def _eliminate(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    if all(used):
        return eqn
    # All operands are kept: the two programs may use different ones.
    params = {name: _of_outputs(closed, tuple(used)) for name, closed in eqn.params.items()}
    return eqn.replace(outvars=kept(eqn.outvars, used), params=params)


@batched_cond_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, jaxpr: ClosedJaxpr, guarded: ClosedJaxpr
) -> tuple[list[Any], list[int | None]]:
    program, dims_out = batch_jaxpr(jaxpr, axis_data, tuple(dims), True)
    outs = bind_batched_cond(program, batch_jaxpr(guarded, axis_data, tuple(dims), True)[0], args)
    return outs, list(dims_out)


batched_cond_p.declare_absent("transpose", "partial evaluation replaces it by the program that it stands for")
