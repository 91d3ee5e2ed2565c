"""Partial evaluation: splits a program into the part that its known inputs determine, and the rest."""

from __future__ import annotations

from lawful.core import ClosedJaxpr, current, eval_closed_jaxpr, memoize, new_trace, record
from lawful.ops import with_weakness_of
from lawful.staging._passes.dce import dce_jaxpr
from lawful.staging._passes.hoisting import consts_as_inputs
from lawful.staging._recorder import JaxprTrace, JaxprTracer, PartialTrace


@record
class Split:
    """A jaxpr in two parts.

    Attributes:
      known: from the known inputs to the known outputs and then the residuals.
      unknown: from the residuals and then the unknown inputs to the unknown outputs.
      unknown_out: for each output of the original, whether it is unknown.
      residual_count: how many residuals there are.

    >>> from lawful.staging import make_jaxpr
    >>> partial_eval_jaxpr(make_jaxpr(lambda x, y: (x, y))(1.0, 2.0), (False, True)).unknown_out
    (False, True)
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

    >>> from lawful.staging import make_jaxpr
    >>> closed = make_jaxpr(lambda x, y: x * 2.0 * y)(1.0, 1.0)
    >>> partial_eval_jaxpr(closed, (False, True)).unknown
    { lambda ; a:~f64[] b:~f64[]. let c:~f64[] = mul a b in (c,) }
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
