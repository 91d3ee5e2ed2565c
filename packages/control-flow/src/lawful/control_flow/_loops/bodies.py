"""Shared by the rules of loops: groups of operands, fixpoints over the carry, selected tangents and cotangents."""

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
    """Returns a list cut into pieces of the given lengths, and the rest as one more piece.

    >>> split_list("abcde", (2, 1))
    [['a', 'b'], ['c'], ['d', 'e']]
    """
    ends = [0, *accumulate(counts), len(items)]
    return [list(items[start:end]) for start, end in pairwise(ends)]


def interleaved_order(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Returns the order of elements that puts each group of a second series after the same group of the first.

    Args:
      first: the lengths of the groups of the first series.
      second: the lengths of the groups of the second series.

    >>> interleaved_order((1, 2), (1, 1))  # a bb C D -> a C bb D
    (0, 3, 1, 2, 4)
    """
    groups = split_list(range(sum(first) + sum(second)), (*first, *second))
    pairs = zip(groups[: len(first)], groups[len(first) : len(first) + len(second)], strict=True)
    return tuple(index for one, other in pairs for index in (*one, *other))


@memoize
def rearranged(
    closed: ClosedJaxpr, inputs: tuple[int, ...] | None = None, outputs: tuple[int, ...] | None = None
) -> ClosedJaxpr:
    """Returns a jaxpr with some of its inputs and outputs, in the given order."""
    jaxpr = closed.jaxpr
    invars = jaxpr.invars if inputs is None else [jaxpr.invars[i] for i in inputs]
    outvars = jaxpr.outvars if outputs is None else [jaxpr.outvars[i] for i in outputs]
    return ClosedJaxpr(jaxpr.replace(invars=invars, outvars=outvars), closed.consts)


def fixpoint(mask: Sequence[bool], step: Callable[[Mask], Sequence[bool]]) -> Mask:
    """Returns the least mask of a carry that contains ``mask`` and is closed under ``step``.

    ``step`` maps the mask of the carry before an iteration to the mask after it.
    """
    found = tuple(mask)
    while True:
        wider = tuple(a or b for a, b in zip(found, step(found), strict=True))
        if wider == found:
            return found
        found = wider


def instantiate_tangents(tangents: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Returns the tangents marked by a mask, with symbolic zeros instantiated."""
    return [_zeros_in_program(t.aval) if type(t) is Zero else t for t, keep in zip(tangents, mask, strict=True) if keep]


def _zeros_in_program(aval: ShapedArray) -> Any:
    """Returns zeros; while a linear program is recorded they are made inside it, so that they are no residuals."""
    trace = current.trace
    if isinstance(trace, PartialTrace) and aval.shape:
        return recorded_zeros(trace, aval)
    return full(aval.shape, 0, aval.dtype)


def instantiate_cotangents(cts: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Returns the cotangents marked by a mask, with symbolic zeros instantiated."""
    return [
        full(t.aval.shape, 0, t.aval.dtype) if type(t) is Zero else t for t, keep in zip(cts, mask, strict=True) if keep
    ]


def with_zeros(found: Sequence[Any], mask: Sequence[bool], avals: Sequence[ShapedArray]) -> list[Any]:
    """Returns the found tangents or cotangents where a mask is true, and symbolic zeros elsewhere."""
    rest = iter(found)
    return [next(rest) if keep else Zero(aval) for keep, aval in zip(mask, avals, strict=True)]


def stack_aval(aval: ShapedArray, length: int) -> ShapedArray:
    """Returns the type of a stack of values of a type."""
    return aval.update(shape=(length, *aval.shape), weak_type=False)
