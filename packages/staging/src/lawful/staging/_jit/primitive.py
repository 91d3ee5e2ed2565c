"""``jit_p``: the primitive that calls a jaxpr as a compiled unit, with its rules.

A transformation of it transforms the jaxpr inside, once for each jaxpr and signature, so that the Python
function is never traced again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    expand_call,
    runs_of_call,
    weakness_of_call,
)
from lawful.ops import with_weakness_of
from lawful.staging._jit.compiled import compiled
from lawful.staging._jit.compiler_options import refuse_nested
from lawful.staging._passes.dce import dce_call, kept, merge_lists
from lawful.staging._passes.hoisting import Call, hoist_call
from lawful.staging._passes.residuals import with_residuals

jit_p = Primitive("jit", multiple_results=True, pure_rules=True)


def _impl(*args: Any, jaxpr: ClosedJaxpr, name: str, donated: tuple[int, ...] = (), backend: Any = None) -> Any:
    return compiled(jaxpr, name, donated, backend, None)(*args)


jit_p.def_impl(_impl, any_array=True)


@jit_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    refuse_nested(**_inner(params))
    return compile(jaxpr)


@jit_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, jaxpr: ClosedJaxpr, **_: Any) -> list[ShapedArray]:
    if list(avals) != jaxpr.in_avals:
        raise ArgumentTypeError(
            f"jit_p: expected arguments of types {', '.join(map(str, jaxpr.in_avals))}, "
            f"got {', '.join(map(str, avals))}; the types of a call must be those of its jaxpr"
        )
    return jaxpr.out_avals


jit_p.def_rule("runs", runs_of_call)
jit_p.def_rule("weakness", weakness_of_call)
jit_p.def_expand(expand_call)


@jit_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> Call:
    operands, hoisted = hoist_call(args, params)
    if "donated" in params:
        hoisted["donated"] = tuple([i + len(operands) - len(args) for i in params["donated"]])
    return operands, hoisted


def _inner(params: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns the parameters of a derived call. It donates nothing: the original call may still need the arguments."""
    backend = {key: value for key, value in params.items() if key == "backend"}
    return {"name": f"{prefix}{params['name']}", **backend}


def _call(closed: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list[Any]:
    """Calls a derived jaxpr: tangents and residuals may differ in weakness from what it was derived for."""
    outs: list[Any] = jit_p.bind(*map(with_weakness_of, args, closed.in_avals), jaxpr=closed, **params)
    return outs


@jit_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any) -> tuple[Any, Any]:
    from lawful.autodiff import jvp_jaxpr

    nonzeros = tuple(type(t) is not Zero for t in tangents)
    jvp, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    outs = _call(jvp, [*primals, *[t for t in tangents if type(t) is not Zero]], **_inner(params, "jvp_"))
    count = len(jaxpr.out_avals)
    rest = iter(outs[count:])
    tangents_out = [
        next(rest) if nonzero else Zero(aval.to_tangent_aval())
        for nonzero, aval in zip(nonzeros_out, jaxpr.out_avals, strict=True)
    ]
    return outs[:count], tangents_out


@jit_p.def_linearize
def _linearize(nonzeros: Sequence[bool], *primals: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    from lawful.autodiff import linearize_jaxpr

    primal, linear, nonzeros_out = linearize_jaxpr(jaxpr, tuple(nonzeros))
    outs, residuals = with_residuals(_call, primal, primals, len(jaxpr.out_avals), **_inner(params))

    def tangent_fun(*tangents: Any) -> list[Any]:
        return _call(linear, [*residuals, *tangents], **_inner(params, "linear_"))

    return outs, nonzeros_out, tangent_fun


@jit_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, jaxpr: ClosedJaxpr, **params: Any
) -> list[Any]:
    from lawful.staging._passes.partial_eval import partial_eval_jaxpr

    split = partial_eval_jaxpr(jaxpr, tuple(unknown))
    known = [x for x, is_unknown in zip(args, unknown, strict=True) if not is_unknown]
    count = len(split.known.out_avals) - split.residual_count
    outs, residuals = with_residuals(_call, split.known, known, count, **_inner(params))
    unknown_args = [x for x, is_unknown in zip(args, unknown, strict=True) if is_unknown]
    staged = record(*residuals, *unknown_args, jaxpr=split.unknown, **_inner(params))
    return merge_lists(split.unknown_out, outs, staged)


@jit_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    jaxpr, used_in = dce_call(eqn.params["jaxpr"], tuple(used))
    if jaxpr is eqn.params["jaxpr"]:
        return eqn
    params = {**_inner(eqn.params), "jaxpr": jaxpr}
    return eqn.replace(invars=kept(eqn.invars, used_in), outvars=kept(eqn.outvars, used), params=params)


@jit_p.def_transpose
def _transpose(cts: Sequence[Any], *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    from lawful.autodiff import transpose_jaxpr

    linear = tuple(isinstance(x, UndefinedPrimal) for x in args)
    nonzeros = tuple(type(ct) is not Zero for ct in cts)
    transposed, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzeros)
    residuals = [x for x in args if not isinstance(x, UndefinedPrimal)]
    given = [ct for ct in cts if type(ct) is not Zero]
    outs = iter(_call(transposed, [*residuals, *given], **_inner(params, "transpose_")))
    nonzero = iter(nonzeros_out)
    return [(next(outs) if next(nonzero) else Zero(x.aval)) if isinstance(x, UndefinedPrimal) else None for x in args]


@jit_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, jaxpr: ClosedJaxpr, **params: Any
) -> Any:
    from lawful.batching import batch_jaxpr

    batched, dims_out = batch_jaxpr(jaxpr, axis_data, tuple(dims), False)
    return jit_p.bind(*args, jaxpr=batched, **_inner(params, "vmap_")), dims_out


@jit_p.def_lowering
def _lower(ctx: Any, *operands: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    refuse_nested(**_inner(params))
    return ctx.call(jaxpr, operands, name=params["name"])
