"""Which results of a batched call are batches, where the call is recorded and the rules are asked only later."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from lawful.batching._batch import AxisData
from lawful.batching._custom_rules import CallRules, Derivative, Flat, run_batched, run_derivative
from lawful.core import ShapedArray, Zero, float0, get_aval
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
    None is returned for all in front: where all operands are batches, so that hardly any result is shared, and where
    there is a rule of reverse mode, which is asked about the cotangents of each element.
    """
    if None not in dims or rules.vjp is not None:
        return None
    found: list[int | None] = []

    def run(*operands: Any) -> list[Any]:
        nonlocal found
        outs, found, _ = run_batched(function, axis_data, operands, dims, avals)
        return outs

    types = [get_aval(x) for x in args]
    trace_to_jaxpr(run, types, transformation="vmap")
    if rules.jvp is not None and None in found and not _asking.rule:
        _asking.rule = True
        try:
            by_rule = _dims_by_rule(rules.jvp, axis_data, types, dims, avals)
        finally:
            _asking.rule = False
        found = [None if pair == (None, None) else 0 for pair in zip(found, by_rule, strict=True)]
    return [None if dim is None else 0 for dim in found]


def _dims_by_rule(
    rule: Derivative, axis_data: AxisData, types: Sequence[ShapedArray], dims: Dims, avals: Sequence[ShapedArray]
) -> list[int | None]:
    """Returns the batch dimensions that the results of a rule, or their tangents, have."""
    tangent_types = [aval.to_tangent_aval() for aval in types]
    found: list[tuple[int | None, int | None]] = []

    def run(*operands: Any) -> list[Any]:
        nonlocal found
        rest = iter(operands[len(types) :])
        tangents = [Zero(aval) if aval.dtype == float0 else next(rest) for aval in tangent_types]
        outs, _, found = run_derivative(rule, axis_data, operands[: len(types)], tangents, dims, dims, avals)
        return outs

    given = [aval for aval in tangent_types if aval.dtype != float0]
    trace_to_jaxpr(run, [*types, *given], transformation="vmap")
    return [None if pair == (None, None) else 0 for pair in found]
