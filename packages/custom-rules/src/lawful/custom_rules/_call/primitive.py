"""Primitives of calls of functions with rules, which ``custom_jvp``, ``custom_vjp`` and ``custom_vmap`` bind.

A call is bound with the Python function. Each trace transforms the function and its rules and passes the call on, until
one applies a rule or runs the function. So Python control flow on values works where values are known. A trace that
records makes the call one equation with the function as a jaxpr. Its rules stay Python functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.batching import AxisData
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    Trace,
    Tracer,
    UnexpectedTracerError,
    deduplicated,
    get_aval,
    memoize,
    set_current,
    weakness_of_call,
)
from lawful.custom_rules._call.batch import batch_call
from lawful.custom_rules._call.callee import Callee, as_function
from lawful.custom_rules._call.rules import CallRules, of_used_outputs, with_closed_over
from lawful.staging import consts_as_inputs, dce_jaxpr, hoist_call, kept, read_only, trace_to_jaxpr


def custom_call(name: str) -> Primitive:
    """Returns a new primitive of calls of functions with rules, without derivatives.

    Its parameters are the ``name`` of the function; the function itself, as ``fun``, a :class:`Callee`, or as
    ``jaxpr``; and its ``rules``, a :class:`CallRules`.

    >>> double = Callee("double", lambda x: [x + x], [ShapedArray((), float)], key="double")
    >>> custom_call("call_of_docstring").bind(2.0, name="double", fun=double, rules=CallRules("none"))
    [4.0]
    """
    primitive = Primitive(name, multiple_results=True, pure_rules=True)
    primitive.def_impl(_impl, any_array=True)
    primitive.def_abstract_eval(_abstract_eval)
    primitive.def_partial_eval(_partial_eval)
    primitive.def_lowering(_lower)
    primitive.def_rule("numpy", _numpy)
    primitive.def_expand(_impl)
    primitive.def_rule("stage", _stage)
    primitive.def_rule("untyped", _untyped)
    primitive.def_rule("hoist", _hoist)
    primitive.def_rule("dce", _dce)
    primitive.def_rule("weakness", _weakness)

    @primitive.def_batch
    def batch(
        args: Sequence[Any], dims: Sequence[int | None], *, axis_data: AxisData, **params: Any
    ) -> tuple[list[Any], list[int | None]]:
        return batch_call(primitive, args, dims, axis_data=axis_data, **params)

    return primitive


def _impl(
    *args: Any, name: str, rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None
) -> list[Any]:
    return as_function(fun, jaxpr)(*args)


def _abstract_eval(
    *avals: ShapedArray, name: str, rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None
) -> Sequence[ShapedArray]:
    if jaxpr is None:
        assert fun is not None
        assert fun.out_avals is not None
        return fun.out_avals
    if list(avals) != jaxpr.in_avals:
        raise ArgumentTypeError(
            f"call of {name} with rules: expected arguments of types {', '.join(map(str, jaxpr.in_avals))}, "
            f"got {', '.join(map(str, avals))}; the types of a call must be those of its jaxpr"
        )
    return jaxpr.out_avals


def _weakness(params: dict[str, Any]) -> list[bool] | None:
    return None if params.get("jaxpr") is None else weakness_of_call(params)


def _stage(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Traces the function of a call that is being recorded to a jaxpr, whose constants become operands."""
    fun = params.get("fun")
    if fun is None or fun.stays:
        return args, params
    with set_current(trace):
        closed = trace_to_jaxpr(fun, [get_aval(x) for x in args], transformation=fun.label, name=params["name"])
    jaxpr, consts = consts_as_inputs(closed)
    tracers = [x for x in consts if isinstance(x, Tracer)]
    if fun.strict and tracers:  # a rule may run after their trace has ended
        raise UnexpectedTracerError(
            f"{fun.label}: expected a function that closes over values of transformations in variables of enclosing "
            f"functions, got {tracers[0]!r} from elsewhere; pass it as an argument"
        )
    rules = with_closed_over(params["rules"], len(consts)) if consts else params["rules"]
    return [*consts, *args], {"name": params["name"], "rules": rules, "jaxpr": deduplicated(jaxpr)}


def _untyped(avals: Sequence[ShapedArray], params: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a recorded call with a jaxpr in place of the Python function that it kept."""
    fun = params.get("fun")
    if fun is None:
        return params
    return {"name": params["name"], "rules": params["rules"], "jaxpr": fun.jaxpr(avals, params["name"])}


def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    operands, hoisted = hoist_call(args, params)
    return operands, {**hoisted, "rules": with_closed_over(params["rules"], len(operands) - len(args))}


def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, name: str, rules: CallRules,
    fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> list[Any]:  # fmt: skip
    if not rules.linear:
        # The batching rule of the whole function does not apply to its unknown part.
        return as_function(fun, jaxpr)(*args)
    # The known operands become constants of the record, as read-only copies: the user may write into the originals.
    operands = [x if is_unknown else read_only(x) for x, is_unknown in zip(args, unknown, strict=True)]
    given: dict[str, Any] = {"jaxpr": jaxpr} if fun is None else {"fun": fun}
    recorded: list[Any] = record(*operands, name=name, rules=rules, **given)
    return recorded


def _numpy(
    avals: Sequence[ShapedArray], compile: Callable[..., Any], *, name: str, rules: CallRules,
    fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> Any:  # fmt: skip
    return compile(jaxpr if fun is None else fun.jaxpr(avals, name))


def _lower(
    ctx: Any, *operands: Any, name: str, rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None
) -> Any:
    return ctx.call(jaxpr if fun is None else fun.jaxpr(ctx.avals_in, name), operands, name=name)


@memoize
def _dce_jaxpr(closed: ClosedJaxpr, used: tuple[bool, ...]) -> ClosedJaxpr:
    return dce_jaxpr(closed, used)


def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    """Returns an equation of only the used results; it keeps all operands, because rules may use any."""
    jaxpr = eqn.params.get("jaxpr")
    if jaxpr is None:
        return eqn
    smaller = _dce_jaxpr(jaxpr, tuple(used))
    if smaller is jaxpr:
        return eqn
    rules = eqn.params["rules"]
    if not all(used):
        rules = of_used_outputs(rules, used, jaxpr.out_avals)
    params = {**eqn.params, "jaxpr": smaller, "rules": rules}
    return eqn.replace(outvars=kept(eqn.outvars, used), params=params)


#: A call of a function with only a batching rule. ``derivatives`` defines its derivative rules.
custom_vmap_call_p = custom_call("custom_vmap_call")
