"""The batching rule of calls: by the call's own batching rule, or by mapping the function and its other rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.batching import AxisData, BatchTrace, batch_jaxpr, place_batch_dim
from lawful.core import ArgumentTypeError, ClosedJaxpr, Primitive, Trace, current, get_aval
from lawful.custom_rules._call.batched_rules import Layout, batched_rules
from lawful.custom_rules._call.batched_run import element_avals, run_batched
from lawful.custom_rules._call.callee import Callee, as_function
from lawful.custom_rules._call.result_dims import dims_of_results
from lawful.custom_rules._call.rules import CallRules
from lawful.staging import JaxprTrace


class BatchedCallee(Callee):
    """The function of a batched call.

    Args:
      inner: the function of one element.
      axis_data: the mapped axis.
      args: the batches; only their types matter.
      dims: their batch dimensions.
      layout: the layout of the results; if the function stays, all have their batch dimension in front.
    """

    __slots__ = ("_axis_data", "_dims", "_inner", "_layout")

    def __init__(
        self, inner: Callee, axis_data: AxisData, args: Sequence[Any], dims: Sequence[int | None], layout: Layout
    ) -> None:
        out_avals = None
        if inner.stays:
            assert inner.out_avals is not None
            out_avals = [aval.update(shape=(axis_data.size, *aval.shape), weak_type=False) for aval in inner.out_avals]
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
        dims = self._layout.determine(found)
        if any([to is None and dim is not None for dim, to in zip(found, dims, strict=True)]):
            raise ArgumentTypeError(
                f"{self.label}: expected results that all elements share, as the rule gives, got some that depend "
                "on the element; apply the same collectives in the rule as in the function"
            )
        return [place_batch_dim(x, dim, to, self._axis_data.size) for x, dim, to in zip(outs, found, dims, strict=True)]


def batch_call(
    primitive: Primitive, args: Sequence[Any], dims: Sequence[int | None], *, axis_data: AxisData, name: str,
    rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> tuple[list[Any], list[int | None]]:  # fmt: skip
    """Returns the results of a batched call, and their batch dimensions."""
    # The call's own rule does not take batches of closed-over values.
    if rules.batch is not None and all([dim is None for dim in dims[: rules.closed_over]]):
        outs, out_dims = rules.batch(axis_data, args, dims)
        if fun is not None:
            fun.out_avals = element_avals(outs, out_dims)
        return outs, out_dims
    # A transpose rule gets cotangents with their batch dimension in front.
    layout = Layout(in_front=rules.transpose is not None)
    if jaxpr is not None:
        return _batch_recorded(primitive, args, dims, axis_data, name, rules, jaxpr, layout)
    assert fun is not None
    layout.in_front |= fun.stays
    if not layout.in_front and not current.trace.evaluates_constants:
        layout.dims = dims_of_results(fun, rules, axis_data, args, dims, fun.in_avals)
    # The derivative by closed-over values is that of the function itself, whose layout no rule determines.
    by_closure = bool(rules.closed_over) and axis_data.name is None
    layout.in_front |= layout.dims is None and (by_closure or not current.trace.evaluates_constants)
    callee = BatchedCallee(fun, axis_data, args, dims, layout)
    derived = batched_rules(rules, axis_data, dims, fun.in_avals, layout)
    outs = primitive.bind(*args, name=name, rules=derived, fun=callee)
    if layout.avals is not None and not fun.stays:
        fun.out_avals = layout.avals
    return outs, list(layout.determine([0] * len(outs)))


def _batch_recorded(
    primitive: Primitive, args: Sequence[Any], dims: Sequence[int | None], axis_data: AxisData, name: str,
    rules: CallRules, jaxpr: ClosedJaxpr, layout: Layout,
) -> tuple[list[Any], list[int | None]]:  # fmt: skip
    if not layout.in_front:
        layout.dims = dims_of_results(as_function(None, jaxpr), rules, axis_data, args, dims, jaxpr.in_avals)
    instantiate = True if layout.dims is None else tuple([dim is not None for dim in layout.dims])
    batched, layout.dims = batch_jaxpr(jaxpr, axis_data, tuple(dims), instantiate)
    derived = batched_rules(rules, axis_data, dims, jaxpr.in_avals, layout)
    return primitive.bind(*args, name=name, rules=derived, jaxpr=batched), list(layout.dims)


def may_be_batched() -> bool:
    """Whether a call that is bound here may reach a batching rule later: in a ``vmap``, or in a recorded program."""
    trace: Trace | None = current.trace
    while trace is not None:
        if isinstance(trace, BatchTrace | JaxprTrace):
            return True
        trace = trace.parent
    return False
