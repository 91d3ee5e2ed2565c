"""The batch dimensions of the results of a recorded call, whose rules run only after recording."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from lawful.batching import AxisData
from lawful.core import ShapedArray, Zero, float0, get_aval
from lawful.custom_rules._call.batched_run import run_batched, run_derivative
from lawful.custom_rules._call.rules import CallRules, Derivative, Dims, Flat
from lawful.staging import trace_to_jaxpr


class _Tracing(threading.local):
    """Whether a rule is being traced for its batch dimensions. It may call its function, whose rules are not traced."""

    rule = False


_tracing = _Tracing()


def dims_of_results(
    function: Flat, rules: CallRules, axis_data: AxisData, args: Sequence[Any], dims: Dims,
    avals: Sequence[ShapedArray],
) -> list[int | None] | None:  # fmt: skip
    """Returns the batch dimensions of the results: 0 if the function or a rule makes the result depend on the element.

    Args:
      function: the function of one element.
      rules: its rules.
      axis_data: the mapped axis.
      args: the batches; only their types matter.
      dims: their batch dimensions.
      avals: the types of the operands of one element.

    A rule may make a result depend on the element where the function does not. The result is then a batch, because its
    tangent must have its type.

    Returns None to put all batch dimensions in front. This is enough where hardly any result is shared, or a jvp rule
    alone does not determine the derivatives: without an axis name, if all operands are batches, or there is a rule of
    reverse mode or a closed-over operand. It is necessary for a rule of reverse mode whose function applies no
    collective, because such a rule takes the cotangent of each element.
    """
    unnamed = axis_data.name is None
    if unnamed and (None not in dims or rules.vjp is not None or rules.closed_over):
        return None
    found: list[int | None] = []
    collective = False

    def run(*operands: Any) -> list[Any]:
        nonlocal found, collective
        outs, found, _, collective = run_batched(function, axis_data, operands, dims, avals)
        return outs

    types = [get_aval(x) for x in args]
    trace_to_jaxpr(run, types, transformation="vmap")
    if rules.vjp is not None and not collective:
        return None
    found = [None if dim is None else 0 for dim in found]
    for rule, reverse in ((rules.jvp, False), (rules.vjp, True)):
        if rule is not None and None in found and not _tracing.rule:
            _tracing.rule = True
            try:
                by_rule = _dims_by_rule(rule, axis_data, types, dims, avals, reverse=reverse)
            finally:
                _tracing.rule = False
            found = [None if pair == (None, None) else 0 for pair in zip(found, by_rule, strict=True)]
    return found


def _dims_by_rule(
    rule: Derivative, axis_data: AxisData, types: Sequence[ShapedArray], dims: Dims, avals: Sequence[ShapedArray],
    *, reverse: bool,
) -> list[int | None]:  # fmt: skip
    """Returns the batch dimensions of the results of a derivative rule."""
    tangent_types = [aval.to_tangent_aval() for aval in types]
    found: list[int | None] = []

    def derivative(*operands: Any) -> list[Any]:
        nonlocal found
        rest = iter(operands[len(types) :])
        tangents = [Zero(aval) if aval.dtype == float0 else next(rest) for aval in tangent_types]
        run = run_derivative(rule, axis_data, operands[: len(types)], tangents, dims, dims, avals)
        found = run.out_dims(reverse=reverse)
        return run.outs

    given = [aval for aval in tangent_types if aval.dtype != float0]
    trace_to_jaxpr(derivative, [*types, *given], transformation="vmap")
    return found
