"""The tree of combinations of a general reduction, written in ops, so that it can be transformed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.batching import vmap
from lawful.core import (
    ClosedJaxpr,
    eval_closed_jaxpr,
    get_aval,
)
from lawful.ops import (
    bitwise_or,
    broadcast_in_dim,
    concatenate,
    reshape,
    slice_in_dim,
    where,
)

Arrays = list[Any]


def combine_all(computation: ClosedJaxpr, stacks: Sequence[Any], inits: Sequence[Any], present: Any = None) -> Arrays:
    """Reduces stacks along the first dimension by a computation, in order, starting with the initial values.

    Neighbours are combined, then their results, until one is left: the work is linear in the number of elements.

    Args:
      computation: maps two scalars per array, all the left ones first, to one scalar per array.
      stacks: the arrays, of one shape.
      inits: scalars.
      present: booleans of that shape, False for elements that are left out; None if there are none.
    """
    shape = get_aval(stacks[0]).shape[1:]

    def combine(left: Arrays, right: Arrays) -> Arrays:
        whole = get_aval(left[0]).shape
        flat = [reshape(x, (get_aval(x).size,)) for x in (*left, *right)]
        outs = vmap(lambda *xs: eval_closed_jaxpr(computation, *xs))(*flat)
        return [reshape(x, whole) for x in outs]

    def combine_present(left: Arrays, right: Arrays) -> Arrays:
        *left, before = left
        *right, after = right
        outs = combine(left, right)
        chosen = [where(before, where(after, out, x), y) for out, x, y in zip(outs, left, right, strict=True)]
        return [*chosen, bitwise_or(before, after)]

    xs, combined = list(stacks), combine
    firsts = [broadcast_in_dim(init, shape, ()) for init in inits]
    if present is not None:
        xs.append(present)
        firsts.append(broadcast_in_dim(True, shape, ()))
        combined = combine_present
    while (size := get_aval(xs[0]).shape[0]) > 1:
        even = [slice_in_dim(x, 0, size - size % 2, 2) for x in xs]
        odd = [slice_in_dim(x, 1, size, 2) for x in xs]
        both = combined(even, odd)
        if size % 2:
            both = [concatenate([x, slice_in_dim(y, size - 1, size)], 0) for x, y in zip(both, xs, strict=True)]
        xs = both
    outs = combined(firsts, [reshape(x, shape) for x in xs]) if size else firsts
    return outs[: len(stacks)]
