"""What one loop leaves for a later one: computed once where it is the same at each turn, else stacked."""

from __future__ import annotations

from lawful.control_flow._loops.bodies import Counts, Mask, rearranged
from lawful.core import Atom, ClosedJaxpr, JaxprEqn, Literal, Var, memoize, record
from lawful.ops import broadcast_in_dim_p
from lawful.staging import partial_eval_jaxpr


@record
class Recording:
    """A loop body that leaves residuals for a later loop.

    Attributes:
      hoisted: from the loop's constants to the residuals that are the same at each turn, and then the constants of
        ``body``: what depends on constants alone is computed once, outside of the loop.
      body: from these constants, the carry and the slices to the carry, the results, and what has to be stacked.
      invariant: for each residual, whether it is the same at each turn.
      places: for each other residual, where its stack is: among the operands ``xs``, or among the stacked results.
    """

    hoisted: ClosedJaxpr
    body: ClosedJaxpr
    invariant: Mask
    places: tuple[tuple[str, int], ...]


def lean(producer: ClosedJaxpr, consumer: ClosedJaxpr, outs: int) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Returns two jaxprs of which the second repeats the elements of residuals, instead of the first.

    Args:
      producer: its outputs after the first ``outs`` are residuals.
      consumer: it takes them first.
      outs: how many outputs come before the residuals.
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
    """Returns how a loop is run by a body whose outputs after the first ``outs`` are residuals.

    Only what is needed is stacked, and once: neither what is the same at each turn, nor what the loop is given or
    gives stacked anyway.
    """
    unknown = (False,) * counts.consts + (True,) * (counts.carry + counts.xs)
    forced = (True,) * outs + (False,) * (len(producer.out_avals) - outs)
    # An effect belongs to each turn, also where it is of what is the same at each turn.
    split = partial_eval_jaxpr(producer, unknown, forced, effects_unknown=True)
    body = split.unknown
    invars, outvars = body.jaxpr.invars, body.jaxpr.outvars
    known = {id(var): ("ys", i) for i, var in enumerate(outvars[counts.carry : outs])}
    known |= {id(var): ("xs", i) for i, var in enumerate(invars[split.residual_count + counts.carry :])}
    stacked = list(range(outs))
    places = []
    for i, var in enumerate(outvars[outs:], outs):
        if type(var) is Literal or id(var) not in known:
            known[id(var)] = ("ys", len(stacked) - counts.carry)
            stacked.append(i)
        places.append(known[id(var)])
    return Recording(
        split.known,
        rearranged(body, None, tuple(stacked)),
        tuple(not is_unknown for is_unknown in split.unknown_out[outs:]),
        tuple(places),
    )
