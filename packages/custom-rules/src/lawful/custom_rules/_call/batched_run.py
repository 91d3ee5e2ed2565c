"""Runs functions and rules of batch elements on batches."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from lawful.batching import AxisData, BatchTrace, new_batch_trace
from lawful.core import ShapedArray, Zero, current, get_aval, new_trace
from lawful.custom_rules._call.rules import Derivative, Dims, Flat
from lawful.staging import kept


class _Running(threading.local):
    """The traces of the functions that run on batches, the innermost last."""

    def __init__(self) -> None:
        self.traces: list[BatchTrace] = []


_running = _Running()


class BatchedRun(NamedTuple):
    """The results of a function of batch elements.

    Attributes:
      outs: the results, as batches.
      dims: their batch dimensions.
      avals: the types of the results of one element.
      collective: whether the function applied a collective over the mapped axis.
    """

    outs: list[Any]
    dims: list[int | None]
    avals: list[ShapedArray]
    collective: bool


def run_batched(
    function: Flat, axis_data: AxisData, operands: Sequence[Any], dims: Dims, avals: Sequence[ShapedArray]
) -> BatchedRun:
    """Runs a function of batch elements.

    Args:
      function: the function of one element.
      axis_data: the mapped axis.
      operands: the batches.
      dims: their batch dimensions.
      avals: the types of one element; only their weakness matters.
    """
    trace, traces = new_batch_trace(current.trace, axis_data), _running.traces
    traces.append(trace)
    try:
        with new_trace(trace):
            outs = function(
                *[trace.new_tracer(x, dim, aval.weak_type) for x, dim, aval in zip(operands, dims, avals, strict=True)]
            )
    finally:
        traces.pop()
    # A rule that calls its own function applies the collectives of that call.
    for outer in traces:
        outer.collective |= trace.collective and outer.axis_data == axis_data
    out_avals = [get_aval(x) for x in outs]
    pairs = [trace.split(x) for x in outs]
    return BatchedRun([x for x, _ in pairs], [dim for _, dim in pairs], out_avals, trace.collective)


def element_avals(values: Sequence[Any], dims: Dims) -> list[ShapedArray]:
    """Returns the types of the elements of batches."""
    return [
        aval if dim is None else aval.update(shape=(*aval.shape[:dim], *aval.shape[dim + 1 :]), weak_type=False)
        for aval, dim in zip(map(get_aval, values), dims, strict=True)
    ]


class DerivativeRun(NamedTuple):
    """The results of a derivative rule of batch elements.

    Attributes:
      outs: the results, as batches.
      tangents: their tangents.
      dims: the batch dimensions of each result and its tangent.
      avals: the types of the results of one element.
      collective: whether the rule applied a collective over the mapped axis.
    """

    outs: list[Any]
    tangents: list[Any]
    dims: list[tuple[int | None, int | None]]
    avals: list[ShapedArray]
    collective: bool

    def out_dims(self, *, reverse: bool) -> list[int | None]:
        """Returns the batch dimensions that suit each result and its tangent: in front, or None if all elements share.

        Args:
          reverse: whether it is a rule of reverse mode, which takes the cotangent of each element. Then a tangent is a
            batch also where the result is not. Such a result counts as shared only if a collective made it so.
        """
        if reverse:
            return [None if dim is None and (t_dim is None or self.collective) else 0 for dim, t_dim in self.dims]
        return [None if pair == (None, None) else 0 for pair in self.dims]


def run_derivative(
    rule: Derivative, axis_data: AxisData, primals: Sequence[Any], tangents: Sequence[Any], dims: Dims,
    tangent_dims: Dims, avals: Sequence[ShapedArray],
) -> DerivativeRun:  # fmt: skip
    """Runs a derivative rule of batch elements.

    Args:
      rule: the rule of one element.
      axis_data: the mapped axis.
      primals: the operands.
      tangents: their tangents.
      dims: the batch dimensions of the operands.
      tangent_dims: the batch dimensions of the tangents.
      avals: the types of the operands of one element.
    """
    given = [type(t) is not Zero for t in tangents]
    nonzeros: list[bool] = []

    def of_elements(*elements: Any) -> list[Any]:
        nonlocal nonzeros
        rest = iter(elements[len(avals) :])
        zeros = [Zero(aval.to_tangent_aval()) for aval in avals]
        inner = [next(rest) if nonzero else zero for nonzero, zero in zip(given, zeros, strict=True)]
        outs, tangents_out = rule(elements[: len(avals)], inner)
        nonzeros = [type(t) is not Zero for t in tangents_out]
        return [*outs, *kept(tangents_out, nonzeros)]

    run = run_batched(
        of_elements, axis_data, [*primals, *kept(tangents, given)],
        [*dims, *kept(tangent_dims, given)], [*avals, *kept(avals, given)],
    )  # fmt: skip
    count = len(nonzeros)
    rest = iter(zip(run.outs[count:], run.dims[count:], strict=True))
    pairs = [
        next(rest) if nonzero else (Zero(aval.to_tangent_aval()), None)
        for nonzero, aval in zip(nonzeros, run.avals[:count], strict=True)
    ]
    both = [(dim, t_dim) for dim, (_, t_dim) in zip(run.dims[:count], pairs, strict=True)]
    return DerivativeRun(run.outs[:count], [t for t, _ in pairs], both, run.avals[:count], run.collective)
