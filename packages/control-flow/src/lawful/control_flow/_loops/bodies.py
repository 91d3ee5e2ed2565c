"""What the rules of loops share: operands in groups, carries that settle, bodies that hand residuals over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from lawful.autodiff import recorded_zeros
from lawful.core import ClosedJaxpr, ShapedArray, Zero, current, memoize
from lawful.ops import full
from lawful.staging import PartialTrace

Mask = tuple[bool, ...]


class Counts(NamedTuple):
    """How many operands of a loop body are constants, parts of the carry, and slices."""

    consts: int
    carry: int
    xs: int


def split_list(items: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    """Returns a list cut into pieces of the given lengths; whatever is left is one piece more.

    >>> split_list("abcde", (2, 1))
    [['a', 'b'], ['c'], ['d', 'e']]
    """
    ends = [0, *accumulate(counts), len(items)]
    return [list(items[start:end]) for start, end in pairwise(ends)]


def side_by_side(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Returns the order that puts each group of a second series behind the same group of the first.

    Args:
      first: the lengths of the groups that come first.
      second: the lengths of those that follow them.

    >>> side_by_side((1, 2), (1, 1))  # a bb C D -> a C bb D
    (0, 3, 1, 2, 4)
    """
    places = split_list(range(sum(first) + sum(second)), (*first, *second))
    pairs = zip(places[: len(first)], places[len(first) : len(first) + len(second)], strict=True)
    return tuple(place for one, other in pairs for place in (*one, *other))


@memoize
def rearranged(
    closed: ClosedJaxpr, inputs: tuple[int, ...] | None = None, outputs: tuple[int, ...] | None = None
) -> ClosedJaxpr:
    """Returns a jaxpr with some of its inputs and outputs, in the given order."""
    jaxpr = closed.jaxpr
    invars = jaxpr.invars if inputs is None else [jaxpr.invars[i] for i in inputs]
    outvars = jaxpr.outvars if outputs is None else [jaxpr.outvars[i] for i in outputs]
    return ClosedJaxpr(jaxpr.replace(invars=invars, outvars=outvars), closed.consts)


def settle(mask: Sequence[bool], step: Callable[[Mask], Sequence[bool]]) -> Mask:
    """Returns the least mask that contains a first one and what a step makes of it: what is true of a carry.

    What one turn of a loop makes true of the carry is true at the start of the next one.
    """
    settled = tuple(mask)
    while True:
        wider = tuple(a or b for a, b in zip(settled, step(settled), strict=True))
        if wider == settled:
            return settled
        settled = wider


def given(tangents: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Returns the tangents that a mask marks, as arrays also if they are zero."""
    return [_zeros_later(t.aval) if type(t) is Zero else t for t, keep in zip(tangents, mask, strict=True) if keep]


def _zeros_later(aval: ShapedArray) -> Any:
    """Returns zeros; where a linear program is recorded they are made in it, and need not be kept for it."""
    trace = current.trace
    if isinstance(trace, PartialTrace) and aval.shape:
        return recorded_zeros(trace, aval)
    return full(aval.shape, 0, aval.dtype)


def given_cotangents(cts: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Returns the cotangents that a mask marks, as arrays also if they are zero."""
    return [
        full(t.aval.shape, 0, t.aval.dtype) if type(t) is Zero else t for t, keep in zip(cts, mask, strict=True) if keep
    ]


def with_zeros(found: Sequence[Any], mask: Sequence[bool], avals: Sequence[ShapedArray]) -> list[Any]:
    """Returns what was found where a mask is true, and symbolic zeros elsewhere."""
    rest = iter(found)
    return [next(rest) if keep else Zero(aval) for keep, aval in zip(mask, avals, strict=True)]


def stack_aval(aval: ShapedArray, length: int) -> ShapedArray:
    """Returns the type of a stack of values of a type."""
    return ShapedArray((length, *aval.shape), aval.dtype)
