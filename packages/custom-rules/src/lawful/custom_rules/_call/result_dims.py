"""Which results of a batched call are batches, where the call is recorded and the rules are asked only later."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from lawful.batching import AxisData
from lawful.core import ShapedArray, Zero, float0, get_aval
from lawful.custom_rules._call.batched_rules import CallRules, Derivative, Flat, run_batched, run_derivative
from lawful.staging import trace_to_jaxpr

Dims = Sequence[int | None]


class _Asking(threading.local):
    """Whether a rule is being asked, which may call its function again: then only the function is asked."""

    rule = False


_asking = _Asking()


def dims_of_results(
    function: Flat, rules: CallRules, axis_data: AxisData, args: Sequence[Any], dims: Dims,
    avals: Sequence[ShapedArray],
) -> list[int | None] | None:  # fmt: skip
    """Returns the batch dimensions of results: 0 where the function or a rule makes them depend on the element.

    Args:
      function: of elements.
      rules: its rules.
      axis_data: the mapped axis.
      args: the batches, of which only the types matter.
      dims: their batch dimensions.
      avals: the types of the operands of one element.

    A rule may make a result depend on the element where the function does not: its tangent must have the type of it.
    None is returned for all in front: where no collective can make results the same, and all operands are batches, so
    that hardly any result is shared, or derivatives are not by a jvp rule alone; and where a rule of reverse mode is
    about results that no collective made the same, because it is asked about the cotangents of each element.
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
        if rule is not None and None in found and not _asking.rule:
            _asking.rule = True
            try:
                by_rule = _dims_by_rule(rule, axis_data, types, dims, avals, reverse=reverse)
            finally:
                _asking.rule = False
            found = [None if pair == (None, None) else 0 for pair in zip(found, by_rule, strict=True)]
    return found


def _dims_by_rule(
    rule: Derivative, axis_data: AxisData, types: Sequence[ShapedArray], dims: Dims, avals: Sequence[ShapedArray],
    *, reverse: bool,
) -> list[int | None]:  # fmt: skip
    """Returns the batch dimensions that the results of a rule have."""
    tangent_types = [aval.to_tangent_aval() for aval in types]
    found: list[int | None] = []

    def derivative(*operands: Any) -> list[Any]:
        nonlocal found
        rest = iter(operands[len(types) :])
        tangents = [Zero(aval) if aval.dtype == float0 else next(rest) for aval in tangent_types]
        run = run_derivative(rule, axis_data, operands[: len(types)], tangents, dims, dims, avals)
        found = run.decided(reverse=reverse)
        return run.outs

    given = [aval for aval in tangent_types if aval.dtype != float0]
    trace_to_jaxpr(derivative, [*types, *given], transformation="vmap")
    return found
