"""Residuals of branches: all branches of a cond produce a common list of residuals for the branches of a later cond."""

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
    with_axes_of,
)
from lawful.ops import (
    broadcast_in_dim,
    concatenate,
    reshape,
    slice_in_dim,
)
from lawful.staging import trace_to_jaxpr

Branches = tuple[ClosedJaxpr, ...]

#: This many residuals of one type from conds nested in a branch are packed into one array.
_PACKED: Final = 8
#: Arrays with more elements are not packed: copying them costs more than one more variable.
_MAX_ELEMENTS: Final = 8 * _PACKED**2


class Handover(NamedTuple):
    """Split branches with their common residuals.

    Attributes:
      producers: the first parts, whose last outputs are the computed residuals.
      consumers: the second parts, which take the computed residuals, the passed operands, and then their other inputs.
      passed: the indices of the producers' inputs that the consumers take as well.
    """

    producers: Branches
    consumers: Branches
    passed: tuple[int, ...]


def hand_over(producers: Sequence[ClosedJaxpr], consumers: Sequence[ClosedJaxpr], counts: Sequence[int]) -> Handover:
    """Gives branches a common list of residuals, without those that are operands.

    A residual that is an operand of the branches is passed to the consumers directly. As a result of the producers it
    would be one more residual of every enclosing branch: nested branches would grow with the cube of their depth.

    Args:
      producers: for each branch a jaxpr whose last outputs are its residuals.
      consumers: for each branch a jaxpr whose first inputs are its residuals.
      counts: for each branch the number of its residuals.
    """
    operands = [_operands(producer.jaxpr, count) for producer, count in zip(producers, counts, strict=True)]
    passed = sorted({index for each in operands for index in each.values()})
    computing = [_computing(*each) for each in zip(producers, counts, operands, strict=True)]
    avals = producers[0].in_avals
    reading = [
        _passing(consumer, count, passed_here, passed, avals)
        for consumer, count, passed_here in zip(consumers, counts, operands, strict=True)
    ]
    left = [count - len(passed_here) for count, passed_here in zip(counts, operands, strict=True)]
    joined, joined_consumers, _ = join_residuals(computing, reading, left, pack=True)
    return Handover(joined, joined_consumers, tuple(passed))


def _operands(jaxpr: Jaxpr, count: int) -> dict[int, int]:
    """Returns, for each residual of a branch that is an operand, by its number, the index of the operand."""
    free: dict[Atom, int] = {var: index for index, var in enumerate(jaxpr.invars)}
    residuals = jaxpr.outvars[len(jaxpr.outvars) - count :]
    return {i: free.pop(atom) for i, atom in enumerate(residuals) if atom in free}


def _computing(producer: ClosedJaxpr, count: int, operands: dict[int, int]) -> ClosedJaxpr:
    """Returns a producer without the residuals that are operands."""
    if not operands:
        return producer
    jaxpr = producer.jaxpr
    first = len(jaxpr.outvars) - count
    outvars = [atom for i, atom in enumerate(jaxpr.outvars) if i - first not in operands]
    return ClosedJaxpr(jaxpr.replace(outvars=outvars), producer.consts)


def _passing(
    consumer: ClosedJaxpr, count: int, operands: dict[int, int], passed: Sequence[int], avals: Sequence[ShapedArray]
) -> ClosedJaxpr:
    """Returns a consumer that takes the passed operands after the computed residuals."""
    jaxpr = consumer.jaxpr
    used = {index: jaxpr.invars[i] for i, index in operands.items()}
    computed = [var for i, var in enumerate(jaxpr.invars[:count]) if i not in operands]
    given = [used.get(index) or Var(avals[index]) for index in passed]
    return ClosedJaxpr(jaxpr.replace(invars=[*computed, *given, *jaxpr.invars[count:]]), consumer.consts)


def join_residuals(
    producers: Sequence[ClosedJaxpr], consumers: Sequence[ClosedJaxpr], counts: Sequence[int], *, pack: bool = False
) -> tuple[Branches, Branches, int]:
    """Gives branches a common list of residuals.

    Residuals of different branches share a slot if their types are equal. A branch fills the slots that it does not
    use with ones, or with zeros if they are not floats. If the cond is batched, all consumers are computed: they can
    divide by ones, and loop for zero iterations.

    Args:
      producers: for each branch a jaxpr whose last outputs are its residuals.
      consumers: for each branch a jaxpr whose first inputs are its residuals.
      counts: for each branch the number of its residuals.
      pack: whether to pack small residuals of conds within the branches into arrays. Otherwise each of them is a
        residual of every enclosing branch, and nested branches grow with the square of their depth.

    Returns:
      The producers and the consumers with the common residuals, and the number of these.
    """
    slots: list[ShapedArray] = []
    chosen: list[list[int]] = []
    nested: set[int] = set()
    for producer, count in zip(producers, counts, strict=True):
        free = list(range(len(slots)))
        used = []
        residuals = producer.jaxpr.outvars[len(producer.jaxpr.outvars) - count :]
        of_calls = {var for eqn in producer.eqns if _is_call(eqn) for var in eqn.outvars} if pack else set()
        for atom in residuals:
            found = next((i for i in free if slots[i] == atom.aval), None)
            if found is None:
                found = len(slots)
                slots.append(atom.aval)
            else:
                free.remove(found)
            used.append(found)
            if atom in of_calls:
                nested.add(found)
        chosen.append(used)
    packs = _packs(slots, nested)
    joined_producers = [_filled(p, used, slots) for p, used in zip(producers, chosen, strict=True)]
    joined_consumers = [_reading(c, used, slots) for c, used in zip(consumers, chosen, strict=True)]
    if packs:
        joined_producers = [_packing(p, len(slots), packs) for p in joined_producers]
        joined_consumers = [_unpacking(c, slots, packs) for c in joined_consumers]
    return tuple(joined_producers), tuple(joined_consumers), len(slots) - (_PACKED - 1) * len(packs)


def _is_call(eqn: JaxprEqn) -> bool:
    return next(jaxprs_in_params(eqn.params), None) is not None


def _filled(closed: ClosedJaxpr, used: Sequence[int], slots: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a producer with its residuals in the used slots, and constants in the others."""

    def filled(*args: Any) -> list[Any]:
        outs = eval_closed_jaxpr(closed, *args)
        split = len(outs) - len(used)
        at = dict(zip(used, outs[split:], strict=True))
        return [*outs[:split], *(at[i] if i in at else _filler(aval) for i, aval in enumerate(slots))]

    return trace_to_jaxpr(filled, closed.in_avals, transformation="cond", name=closed.jaxpr.name)


def _filler(aval: ShapedArray) -> Any:
    number = aval.dtype.type(1 if is_inexact(aval.dtype) else 0)
    if aval.weak_type:
        return with_axes_of(number.item(), aval)
    return with_axes_of(broadcast_in_dim(number, aval.shape, ()) if aval.shape else number, aval)


def _reading(closed: ClosedJaxpr, used: Sequence[int], slots: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a consumer that takes the common residuals, and reads the used slots."""
    jaxpr = closed.jaxpr
    at = dict(zip(used, jaxpr.invars, strict=False))
    residuals = [at[i] if i in at else Var(aval) for i, aval in enumerate(slots)]
    invars = [*residuals, *jaxpr.invars[len(used) :]]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, jaxpr.eqns, jaxpr.outvars, name=jaxpr.name), closed.consts)


Packs = list[tuple[int, ...]]


def _packs(slots: Sequence[ShapedArray], nested: set[int]) -> Packs:
    """Returns the groups of slots of one type that are packed into one array each."""
    by_type: dict[ShapedArray, list[int]] = {}
    for i in sorted(nested):
        if not slots[i].weak_type and slots[i].size <= _MAX_ELEMENTS:
            by_type.setdefault(slots[i], []).append(i)
    return [
        tuple(group[start : start + _PACKED])
        for group in by_type.values()
        for start in range(0, len(group) - _PACKED + 1, _PACKED)
    ]


def _packing(closed: ClosedJaxpr, count: int, packs: Packs) -> ClosedJaxpr:
    """Returns a producer whose residuals are the unpacked ones and then the packs."""
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


def _unpacking(closed: ClosedJaxpr, slots: Sequence[ShapedArray], packs: Packs) -> ClosedJaxpr:
    """Returns a consumer that takes packs instead of the residuals in them."""
    packed = {i for group in packs for i in group}
    single = [i for i in range(len(slots)) if i not in packed]
    pack_avals = [slots[group[0]].update(shape=(_PACKED, *slots[group[0]].shape)) for group in packs]
    in_avals = [*(slots[i] for i in single), *pack_avals, *closed.in_avals[len(slots) :]]

    def unpacking(*args: Any) -> list[Any]:
        residuals = dict(zip(single, args, strict=False))
        for group, x in zip(packs, args[len(single) :], strict=False):
            residuals.update({i: _unstacked(x, number, slots[i].shape) for number, i in enumerate(group)})
        given = [residuals[i] for i in range(len(slots))]
        return eval_closed_jaxpr(closed, *given, *args[len(single) + len(packs) :])

    return trace_to_jaxpr(unpacking, in_avals, transformation="cond", name=closed.jaxpr.name)
