"""Residuals of branches: branches that hand values to later branches hand over the same list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    ShapedArray,
    Var,
    eval_closed_jaxpr,
    is_inexact,
    jaxprs_in_params,
)
from lawful.ops import (
    broadcast_in_dim,
    concatenate,
    reshape,
    slice_in_dim,
)
from lawful.staging import trace_to_jaxpr

Branches = tuple[ClosedJaxpr, ...]

#: So many residuals of one type from conds within a branch are handed over as one array.
_PACKED: Final = 8
#: Arrays with more elements than this are not packed: to copy them costs more than a variable.
_MOST_ELEMENTS: Final = 8 * _PACKED**2


class Handover(NamedTuple):
    """Branches cut in two, with the values that the later parts take.

    Attributes:
      producers: the first parts, whose last outputs are the computed residuals.
      consumers: the later parts, of the computed residuals, the passed operands, and then their other inputs.
      passed: which inputs of the producers the consumers take as well.
    """

    producers: Branches
    consumers: Branches
    passed: tuple[int, ...]


def hand_over(producers: Sequence[ClosedJaxpr], consumers: Sequence[ClosedJaxpr], counts: Sequence[int]) -> Handover:
    """Makes branches hand the same list of residuals to later branches, and none that is an operand already.

    A residual that is an operand of the branches is passed to the later ones as it is. As a result of the branches
    it would be a residual of every enclosing branch once more: nested branches would grow with the cube of their depth.

    Args:
      producers: for each branch a jaxpr whose last outputs are its residuals.
      consumers: for each branch a jaxpr whose first inputs are its residuals.
      counts: for each branch the number of its residuals.
    """
    operands = [_operands(producer.jaxpr, count) for producer, count in zip(producers, counts, strict=True)]
    passed = sorted({place for own in operands for place in own.values()})
    computing = [_computing(*each) for each in zip(producers, counts, operands, strict=True)]
    avals = producers[0].in_avals
    reading = [
        _passing(consumer, count, own, passed, avals)
        for consumer, count, own in zip(consumers, counts, operands, strict=True)
    ]
    left = [count - len(own) for count, own in zip(counts, operands, strict=True)]
    joined, joined_consumers, _ = join_residuals(computing, reading, left, pack=True)
    return Handover(joined, joined_consumers, tuple(passed))


def _operands(jaxpr: Jaxpr, count: int) -> dict[int, int]:
    """Returns which of the residuals of a branch are operands of it, and which."""
    free: dict[Atom, int] = {var: place for place, var in enumerate(jaxpr.invars)}
    residuals = jaxpr.outvars[len(jaxpr.outvars) - count :]
    return {i: free.pop(atom) for i, atom in enumerate(residuals) if atom in free}


def _computing(producer: ClosedJaxpr, count: int, operands: dict[int, int]) -> ClosedJaxpr:
    """Returns a jaxpr that does not give the residuals that are operands."""
    if not operands:
        return producer
    jaxpr = producer.jaxpr
    first = len(jaxpr.outvars) - count
    outvars = [atom for i, atom in enumerate(jaxpr.outvars) if i - first not in operands]
    return ClosedJaxpr(jaxpr.replace(outvars=outvars), producer.consts)


def _passing(
    consumer: ClosedJaxpr, count: int, operands: dict[int, int], passed: Sequence[int], avals: Sequence[ShapedArray]
) -> ClosedJaxpr:
    """Returns a jaxpr that takes the passed operands after the computed residuals."""
    jaxpr = consumer.jaxpr
    own = {place: jaxpr.invars[i] for i, place in operands.items()}
    computed = [var for i, var in enumerate(jaxpr.invars[:count]) if i not in operands]
    given = [own.get(place) or Var(avals[place]) for place in passed]
    return ClosedJaxpr(jaxpr.replace(invars=[*computed, *given, *jaxpr.invars[count:]]), consumer.consts)


def join_residuals(
    producers: Sequence[ClosedJaxpr], consumers: Sequence[ClosedJaxpr], counts: Sequence[int], *, pack: bool = False
) -> tuple[Branches, Branches, int]:
    """Makes branches that hand residuals to later branches hand over the same list of them.

    Residuals of equal type share a place, whichever branch they come from; a branch fills those that are not its own
    with ones, and with zeros if they are no floats. Where the choice is batched, all later branches are computed:
    they can divide by ones, and loop for zero iterations.

    Args:
      producers: for each branch a jaxpr whose last outputs are its residuals.
      consumers: for each branch a jaxpr whose first inputs are its residuals.
      counts: for each branch the number of its residuals.
      pack: whether to hand over many small residuals of branches within the branches as one array. Each enclosing
        branch would hand on every one of them, so that nested branches would grow with the square of their depth.

    Returns:
      The producers and the consumers, with the common residuals, and how many these are.
    """
    places: list[ShapedArray] = []
    chosen: list[list[int]] = []
    nested: set[int] = set()
    for producer, count in zip(producers, counts, strict=True):
        free = list(range(len(places)))
        own = []
        residuals = producer.jaxpr.outvars[len(producer.jaxpr.outvars) - count :]
        of_calls = {var for eqn in producer.eqns if _is_call(eqn) for var in eqn.outvars} if pack else set()
        for atom in residuals:
            found = next((i for i in free if places[i] == atom.aval), None)
            if found is None:
                found = len(places)
                places.append(atom.aval)
            else:
                free.remove(found)
            own.append(found)
            if atom in of_calls:
                nested.add(found)
        chosen.append(own)
    packs = _packs(places, nested)
    joined_producers = [_filled(p, own, places) for p, own in zip(producers, chosen, strict=True)]
    joined_consumers = [_reading(c, own, places) for c, own in zip(consumers, chosen, strict=True)]
    if packs:
        joined_producers = [_packing(p, len(places), packs) for p in joined_producers]
        joined_consumers = [_unpacking(c, places, packs) for c in joined_consumers]
    return tuple(joined_producers), tuple(joined_consumers), len(places) - (_PACKED - 1) * len(packs)


def _is_call(eqn: JaxprEqn) -> bool:
    return next(jaxprs_in_params(eqn.params), None) is not None


def _filled(closed: ClosedJaxpr, own: Sequence[int], places: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a jaxpr whose residuals stand at their common places, with constants at the others."""

    def filled(*args: Any) -> list[Any]:
        outs = eval_closed_jaxpr(closed, *args)
        split = len(outs) - len(own)
        at = dict(zip(own, outs[split:], strict=True))
        return [*outs[:split], *(at[i] if i in at else _filler(aval) for i, aval in enumerate(places))]

    return trace_to_jaxpr(filled, closed.in_avals, transformation="cond", name=closed.jaxpr.name)


def _filler(aval: ShapedArray) -> Any:
    number = aval.dtype.type(1 if is_inexact(aval.dtype) else 0)
    if aval.weak_type:
        return number.item()
    return broadcast_in_dim(number, aval.shape, ()) if aval.shape else number


def _reading(closed: ClosedJaxpr, own: Sequence[int], places: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a jaxpr that takes the common residuals, of which it uses its own."""
    jaxpr = closed.jaxpr
    at = dict(zip(own, jaxpr.invars, strict=False))
    residuals = [at[i] if i in at else Var(aval) for i, aval in enumerate(places)]
    invars = [*residuals, *jaxpr.invars[len(own) :]]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, jaxpr.eqns, jaxpr.outvars, name=jaxpr.name), closed.consts)


Packs = list[tuple[int, ...]]


def _packs(places: Sequence[ShapedArray], nested: set[int]) -> Packs:
    """Returns the groups of places of one type that are handed over as one array."""
    by_type: dict[ShapedArray, list[int]] = {}
    for i in sorted(nested):
        if not places[i].weak_type and places[i].size <= _MOST_ELEMENTS:
            by_type.setdefault(places[i], []).append(i)
    return [
        tuple(group[start : start + _PACKED])
        for group in by_type.values()
        for start in range(0, len(group) - _PACKED + 1, _PACKED)
    ]


def _packing(closed: ClosedJaxpr, count: int, packs: Packs) -> ClosedJaxpr:
    """Returns a jaxpr that gives, of its residuals, those that stay single and then the packs."""
    packed = {i for group in packs for i in group}

    def packing(*args: Any) -> list[Any]:
        outs = eval_closed_jaxpr(closed, *args)
        split = len(outs) - count
        residuals = outs[split:]
        single = [x for i, x in enumerate(residuals) if i not in packed]
        return [*outs[:split], *single, *(_stack([residuals[i] for i in group]) for group in packs)]

    return trace_to_jaxpr(packing, closed.in_avals, transformation="cond", name=closed.jaxpr.name)


def _stack(values: Sequence[Any]) -> Any:
    return concatenate([reshape(x, (1, *x.shape)) for x in values], 0)


def _unstacked(stack: Any, number: int, shape: tuple[int, ...]) -> Any:
    return reshape(slice_in_dim(stack, number, number + 1), shape)


def _unpacking(closed: ClosedJaxpr, places: Sequence[ShapedArray], packs: Packs) -> ClosedJaxpr:
    """Returns a jaxpr that takes packs instead of the residuals in them."""
    packed = {i for group in packs for i in group}
    single = [i for i in range(len(places)) if i not in packed]
    pack_avals = [ShapedArray((_PACKED, *places[group[0]].shape), places[group[0]].dtype) for group in packs]
    in_avals = [*(places[i] for i in single), *pack_avals, *closed.in_avals[len(places) :]]

    def unpacking(*args: Any) -> list[Any]:
        residuals = dict(zip(single, args, strict=False))
        for group, x in zip(packs, args[len(single) :], strict=False):
            residuals.update({i: _unstacked(x, number, places[i].shape) for number, i in enumerate(group)})
        given = [residuals[i] for i in range(len(places))]
        return eval_closed_jaxpr(closed, *given, *args[len(single) + len(packs) :])

    return trace_to_jaxpr(unpacking, in_avals, transformation="cond", name=closed.jaxpr.name)
