"""Partial evaluation: splits a program into the part that its known inputs determine, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import ClosedJaxpr, Jaxpr, current, eval_closed_jaxpr, memoize, new_trace, record, require_closed
from lawful.ops import with_weakness_of
from lawful.staging._passes.dce import dce_jaxpr
from lawful.staging._recorder import JaxprTrace, JaxprTracer, PartialTrace


@record
class Split:
    """A jaxpr in two parts.

    Attributes:
      known: from the known inputs to the known outputs and then the residuals.
      unknown: from the residuals and then the unknown inputs to the unknown outputs.
      unknown_out: for each output of the original, whether it is unknown.
      residual_count: how many residuals there are.
    """

    known: ClosedJaxpr
    unknown: ClosedJaxpr
    unknown_out: tuple[bool, ...]
    residual_count: int


def partial_eval_jaxpr(
    closed: ClosedJaxpr,
    unknown: tuple[bool, ...],
    force_unknown: tuple[bool, ...] | None = None,
    *,
    repeated: bool = False,
) -> Split:
    """Returns a jaxpr split into the part that the known inputs determine, and the rest.

    Args:
      closed: the program.
      unknown: for each input, whether it is unknown.
      force_unknown: for each output, whether to make it unknown even if it is known.
      repeated: whether the second part runs more often than the first. Then equations with effects are in it even if
        all of their operands are known, and so are calls with derivative rules unless they are. Programs in programs
        are split likewise.

    Law: the known part, then the unknown one on its residuals, give what ``closed`` gives.

    Source: ``jax.interpreters.partial_eval.partial_eval_jaxpr_nounits``.
    """
    if type(current.trace) is PartialTrace:
        repeated = repeated or current.trace.repeated
    return _split(closed, unknown, force_unknown, repeated)


@memoize
def _split(
    closed: ClosedJaxpr, unknown: tuple[bool, ...], force_unknown: tuple[bool, ...] | None, repeated: bool
) -> Split:
    outer = JaxprTrace(current.trace, "partial_eval")
    with new_trace(outer):
        inner = PartialTrace(outer, "partial_eval", repeated=repeated)
        known_in: list[JaxprTracer] = []
        unknown_in: list[JaxprTracer] = []
        args = []
        for aval, is_unknown in zip(closed.in_avals, unknown, strict=True):
            tracer = (inner if is_unknown else outer).new_input(aval)
            (unknown_in if is_unknown else known_in).append(tracer)
            args.append(tracer)
        with new_trace(inner):
            outs = [*map(with_weakness_of, eval_closed_jaxpr(closed, *args), closed.out_avals)]
        forced = (False,) * len(outs) if force_unknown is None else force_unknown
        unknown_out = tuple(
            force or (type(x) is JaxprTracer and x._trace is inner) for x, force in zip(outs, forced, strict=True)
        )
        staged = inner.to_jaxpr(unknown_in, [x for x, u in zip(outs, unknown_out, strict=True) if u])
        staged = dce_jaxpr(staged, (True,) * sum(unknown_out), keep_inputs=True)
        unknown_jaxpr, residuals = consts_as_inputs(staged)
        known = [x for x, u in zip(outs, unknown_out, strict=True) if not u]
        known_jaxpr = outer.to_jaxpr(known_in, [*known, *residuals], closed.jaxpr.name)
    known_jaxpr = dce_jaxpr(known_jaxpr, (True,) * len(known_jaxpr.out_avals), keep_inputs=True)
    return Split(known_jaxpr, unknown_jaxpr, unknown_out, len(residuals))


def consts_as_inputs(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, Sequence[Any]]:
    """Returns a jaxpr whose constants have become its first inputs, and the constants."""
    require_closed("consts_as_inputs", closed)
    jaxpr = closed.jaxpr
    opened = Jaxpr((), [*jaxpr.constvars, *jaxpr.invars], jaxpr.eqns, jaxpr.outvars, name=jaxpr.name)
    return ClosedJaxpr(opened), closed.consts


def merge_lists(choice: Sequence[bool], if_false: Sequence[Any], if_true: Sequence[Any]) -> list[Any]:
    """Returns one list of the items of two, taken in the order that ``choice`` gives."""
    false, true = iter(if_false), iter(if_true)
    return [next(true) if take else next(false) for take in choice]
