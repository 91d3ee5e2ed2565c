"""Residuals of loops: loop-invariant ones are computed once, the others are stacked."""

from __future__ import annotations

from lawful.control_flow._loops.bodies import Counts, Mask, rearranged
from lawful.core import Atom, ClosedJaxpr, JaxprEqn, Literal, Var, memoize, record
from lawful.ops import broadcast_in_dim_p
from lawful.staging import partial_eval_jaxpr


@record
class Recording:
    """A loop body that produces residuals for a later loop.

    Attributes:
      hoisted: maps the loop's constants to the loop-invariant residuals, followed by the constants of ``body``.
      body: maps these constants, the carry and the slices to the carry, the results, and the residuals to stack.
      invariant: for each residual, whether it is loop-invariant.
      sources: for each other residual, where its stack is: ``("xs", i)`` among the operands, or ``("ys", i)`` among
        the stacked results.
    """

    hoisted: ClosedJaxpr
    body: ClosedJaxpr
    invariant: Mask
    sources: tuple[tuple[str, int], ...]


def defer_broadcasts(producer: ClosedJaxpr, consumer: ClosedJaxpr, outs: int) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Moves broadcasts of residuals from the producer to the consumer, so that the smaller operands are stored.

    Args:
      producer: a jaxpr whose outputs after the first ``outs`` are residuals.
      consumer: a jaxpr whose first inputs are these residuals.
      outs: the number of outputs before the residuals.
    """
    repeating = {eqn.outvars[0]: eqn for eqn in producer.eqns if eqn.primitive is broadcast_in_dim_p}
    residuals = producer.jaxpr.outvars[outs:]
    kept: list[Atom] = []
    taken: list[Var] = []
    repeated: list[JaxprEqn] = []
    for atom, var in zip(residuals, consumer.jaxpr.invars, strict=False):
        steps = []
        while type(atom) is Var and atom in repeating:
            steps.append(repeating[atom])
            atom = steps[-1].invars[0]
        source: Atom = atom
        if type(atom) is Var:
            kept.append(atom)
            taken.append(var if not steps else Var(atom.aval))
            source = taken[-1]
        for step in reversed(steps):
            out = var if step is steps[0] else Var(step.outvars[0].aval)
            repeated.append(step.replace(invars=[source], outvars=[out]))
            source = out
    if not repeated:
        return producer, consumer
    invars = [*taken, *consumer.jaxpr.invars[len(residuals) :]]
    return (
        ClosedJaxpr(producer.jaxpr.replace(outvars=[*producer.jaxpr.outvars[:outs], *kept]), producer.consts),
        ClosedJaxpr(consumer.jaxpr.replace(invars=invars, eqns=[*repeated, *consumer.eqns]), consumer.consts),
    )


@memoize
def recording(producer: ClosedJaxpr, counts: Counts, outs: int) -> Recording:
    """Splits a body whose outputs after the first ``outs`` are residuals.

    A residual is stacked once, and only if it varies and is neither a slice of ``xs`` nor a result already.
    """
    unknown = (False,) * counts.consts + (True,) * (counts.carry + counts.xs)
    forced = (True,) * outs + (False,) * (len(producer.out_avals) - outs)
    # Effects stay in the body, also if they are loop-invariant, and so does a call whose derivative is a rule.
    split = partial_eval_jaxpr(producer, unknown, forced, repeated=True)
    body = split.unknown
    invars, outvars = body.jaxpr.invars, body.jaxpr.outvars
    known = {id(var): ("ys", i) for i, var in enumerate(outvars[counts.carry : outs])}
    known |= {id(var): ("xs", i) for i, var in enumerate(invars[split.residual_count + counts.carry :])}
    stacked = list(range(outs))
    sources = []
    for i, var in enumerate(outvars[outs:], outs):
        if type(var) is Literal or id(var) not in known:
            known[id(var)] = ("ys", len(stacked) - counts.carry)
            stacked.append(i)
        sources.append(known[id(var)])
    return Recording(
        split.known,
        rearranged(body, None, tuple(stacked)),
        tuple(not is_unknown for is_unknown in split.unknown_out[outs:]),
        tuple(sources),
    )
