"""Calls of functions that carry rules: what ``custom_vmap``, ``custom_jvp`` and ``custom_vjp`` are made of.

Such a call is bound with the Python function, and passed on from trace to trace, each of which transforms the function
and its rules, until one applies a rule or runs the function. So Python control flow on values works where values are
known. A trace that records makes the call one equation, with the function as a jaxpr; its rules stay Python functions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from lawful.batching._batch import AxisData, BatchTrace, batch_jaxpr, place_batch_dim
from lawful.batching._custom_dims import dims_of_results
from lawful.batching._custom_rules import CallRules, Flat, Layout, after, batched, element_avals, keeping, run_batched
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    Trace,
    Tracer,
    UnexpectedTracerError,
    current,
    deduplicated,
    eval_closed_jaxpr,
    get_aval,
    memoize,
    set_current,
)
from lawful.staging import JaxprTrace, consts_as_inputs, dce_jaxpr, freeze, kept, trace_to_jaxpr


class Callee:
    """The function of a call, on its way to the trace that runs it.

    Attributes:
      label: how messages call it.
      in_avals: the types of its operands.
      out_avals: those of its results, once they are known.
      key: what tells functions apart: those with equal keys do the same.
      stays: whether a recorded call keeps the function as it is. Then ``out_avals`` are known beforehand.
      strict: whether it is an error that it closes over values of transformations that are not among the operands.
    """

    __slots__ = ("_function", "_jaxprs", "in_avals", "key", "label", "out_avals", "stays", "strict")

    def __init__(
        self, label: str, function: Flat, in_avals: Sequence[ShapedArray], key: Hashable,
        *, out_avals: Sequence[ShapedArray] | None = None, strict: bool = False,
    ) -> None:  # fmt: skip
        self.label = label
        self.strict = strict
        self.in_avals = in_avals
        self.out_avals = out_avals
        self.key = key
        self.stays = out_avals is not None
        self._function = function
        self._jaxprs: dict[tuple[ShapedArray, ...], ClosedJaxpr] = {}

    def __call__(self, *operands: Any) -> list[Any]:
        return self._function(*operands)

    def jaxpr(self, avals: Sequence[ShapedArray], name: str) -> ClosedJaxpr:
        """Returns the function as a jaxpr, which may have constants."""
        key = tuple(avals)
        if key not in self._jaxprs:
            self._jaxprs[key] = deduplicated(trace_to_jaxpr(self, key, transformation=self.label, name=name))
        return self._jaxprs[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Callee) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.label}>"


class BatchedCallee(Callee):
    """A function of batches.

    Args:
      inner: the function of elements.
      axis_data: the mapped axis.
      args: the batches, of which only the types matter.
      dims: their batch dimensions.
      layout: of the results; if the function stays, they have their batch dimensions in front.
    """

    __slots__ = ("_axis_data", "_dims", "_inner", "_layout")

    def __init__(
        self, inner: Callee, axis_data: AxisData, args: Sequence[Any], dims: Sequence[int | None], layout: Layout
    ) -> None:
        out_avals = None
        if inner.stays:
            assert inner.out_avals is not None
            out_avals = [ShapedArray((axis_data.size, *aval.shape), aval.dtype) for aval in inner.out_avals]
        key = ("vmap", axis_data, tuple(dims), inner.key)
        super().__init__(
            inner.label, self._run, [get_aval(x) for x in args], key, out_avals=out_avals, strict=inner.strict
        )
        self._inner = inner
        self._axis_data = axis_data
        self._dims = dims
        self._layout = layout

    def _run(self, *operands: Any) -> list[Any]:
        outs, found, self._layout.avals, _ = run_batched(
            self._inner, self._axis_data, operands, self._dims, self._inner.in_avals
        )
        dims = self._layout.decided(found)
        if any([to is None and dim is not None for dim, to in zip(found, dims, strict=True)]):
            raise ArgumentTypeError(
                f"{self.label}: expected results that all elements share, as the rule gives, got some that depend "
                "on the element; apply the same collectives in the rule as in the function"
            )
        return [place_batch_dim(x, dim, to, self._axis_data.size) for x, dim, to in zip(outs, found, dims, strict=True)]


def as_function(fun: Callee | None, jaxpr: ClosedJaxpr | None) -> Flat:
    """Returns the function of a call, which is given as one or as a jaxpr."""
    if fun is not None:
        return fun
    assert jaxpr is not None
    closed = jaxpr
    return lambda *operands: eval_closed_jaxpr(closed, *operands)


def custom_call(name: str) -> Primitive:
    """Returns a new primitive of calls of functions with rules.

    Its parameters are the ``name`` of the function; the function itself, as ``fun``, a :class:`Callee`, or as
    ``jaxpr``; and its ``rules``, a :class:`CallRules`.
    """
    primitive = Primitive(name, multiple_results=True, pure_rules=True)
    primitive.def_impl(_evaluate, any_array=True)
    primitive.def_abstract_eval(_type)
    primitive.def_partial_eval(_evaluate_partially)
    primitive.def_lowering(_lower)
    primitive.def_rule("numpy", _compile)
    primitive.def_rule("stage", _stage)
    primitive.def_rule("dce", _eliminate)

    @primitive.def_batch
    def batch(
        args: Sequence[Any], dims: Sequence[int | None], *, axis_data: AxisData, name: str, rules: CallRules,
        fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
    ) -> tuple[list[Any], list[int | None]]:  # fmt: skip
        # A rule is not told of batches in what the function closes over.
        if rules.batch is not None and all([dim is None for dim in dims[: rules.closed_over]]):
            outs, out_dims = rules.batch(axis_data, args, dims)
            if fun is not None:
                fun.out_avals = element_avals(outs, out_dims)
            return outs, out_dims
        # Where a cotangent comes back its batch dimension is known.
        layout = Layout(in_front=rules.transpose is not None)
        if jaxpr is not None:
            if not layout.in_front:
                layout.dims = dims_of_results(as_function(fun, jaxpr), rules, axis_data, args, dims, jaxpr.in_avals)
            marks = True if layout.dims is None else tuple([dim is not None for dim in layout.dims])
            moved, layout.dims = batch_jaxpr(jaxpr, axis_data, tuple(dims), marks)
            derived = batched(rules, axis_data, dims, jaxpr.in_avals, layout)
            return primitive.bind(*args, name=name, rules=derived, jaxpr=moved), list(layout.dims)
        assert fun is not None
        layout.in_front |= fun.stays
        if not layout.in_front and not current.trace.evaluates_constants:
            layout.dims = dims_of_results(fun, rules, axis_data, args, dims, fun.in_avals)
        # Where the function itself is differentiated, by what it closes over, no rule decides for it.
        for_each = bool(rules.closed_over) and axis_data.name is None
        layout.in_front |= layout.dims is None and (for_each or not current.trace.evaluates_constants)
        callee = BatchedCallee(fun, axis_data, args, dims, layout)
        derived = batched(rules, axis_data, dims, fun.in_avals, layout)
        outs = primitive.bind(*args, name=name, rules=derived, fun=callee)
        if layout.avals is not None and not fun.stays:
            fun.out_avals = layout.avals
        return outs, list(layout.decided([0] * len(outs)))

    return primitive


def _evaluate(
    *args: Any, name: str, rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None
) -> list[Any]:
    return as_function(fun, jaxpr)(*args)


def _type(
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


def _stage(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Makes the function of a call that is being recorded a jaxpr, whose constants become operands."""
    fun = params.get("fun")
    if fun is None or fun.stays:
        return args, params
    with set_current(trace):
        closed = trace_to_jaxpr(fun, [get_aval(x) for x in args], transformation=fun.label, name=params["name"])
    jaxpr, consts = consts_as_inputs(closed)
    tracers = [x for x in consts if isinstance(x, Tracer)]
    if fun.strict and tracers:  # a rule may come to run when they cannot be used any longer
        raise UnexpectedTracerError(
            f"{fun.label}: expected a function that closes over values of transformations in variables of enclosing "
            f"functions, got {tracers[0]!r} from elsewhere; pass it as an argument"
        )
    rules = after(params["rules"], len(consts)) if consts else params["rules"]
    return [*consts, *args], {"name": params["name"], "rules": rules, "jaxpr": deduplicated(jaxpr)}


def _evaluate_partially(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, name: str, rules: CallRules,
    fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> list[Any]:  # fmt: skip
    if not rules.linear:
        # Its rules are of no use to a part of the function.
        return as_function(fun, jaxpr)(*args)
    # What the operands before the linear ones are is kept, and the user may hold some of it.
    kept_args = [x if is_unknown else freeze(x) for x, is_unknown in zip(args, unknown, strict=True)]
    recorded: list[Any] = record(*kept_args, name=name, rules=rules, **_given(fun=fun, jaxpr=jaxpr))
    return recorded


def _given(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _compile(
    avals: Sequence[ShapedArray], compile: Callable[..., Any], *, name: str, rules: CallRules,
    fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> Any:  # fmt: skip
    return compile(jaxpr if fun is None else fun.jaxpr(avals, name))


def _lower(
    ctx: Any, *operands: Any, name: str, rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None
) -> Any:
    return ctx.call(jaxpr if fun is None else fun.jaxpr(ctx.avals_in, name), operands, name=name)


@memoize
def _of_outputs(closed: ClosedJaxpr, used: tuple[bool, ...]) -> ClosedJaxpr:
    return dce_jaxpr(closed, used)


def _eliminate(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    jaxpr = eqn.params.get("jaxpr")
    if jaxpr is None:
        return eqn
    # All operands stay: rules may use what the function does not.
    smaller = _of_outputs(jaxpr, tuple(used))
    if smaller is jaxpr:
        return eqn
    rules = eqn.params["rules"]
    params = {**eqn.params, "jaxpr": smaller, "rules": rules if all(used) else keeping(rules, used, jaxpr.out_avals)}
    return eqn.replace(outvars=kept(eqn.outvars, used), params=params)


def may_be_batched() -> bool:
    """Whether a call that is bound now can still come to a rule of batching: within a ``vmap``, or in a program."""
    trace: Trace | None = current.trace
    while trace is not None:
        if isinstance(trace, BatchTrace | JaxprTrace):
            return True
        trace = trace.parent
    return False
