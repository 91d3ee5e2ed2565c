"""The lanes of a loop: the elements of its predicate, of which each stops by itself.

An array that belongs to lanes has the dimensions of the predicate, or some of them, as its first ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.batching import place_batch_dim
from lawful.core import get_aval
from lawful.ops import (
    argmax,
    broadcast_in_dim,
    div,
    dynamic_index_in_dim,
    eq,
    reduce_and,
    rem,
    reshape,
    select_n,
)

#: For each constant of a body, which dimensions of the predicate are its first ones; empty if none has any.
Lanes = tuple[tuple[int, ...], ...]


def move_batch_dims(
    xs: Sequence[Any], dims: Sequence[int | None], wanted: Sequence[int | None], size: int
) -> list[Any]:
    """Returns arrays with their batch dimensions at the wanted axes; None for no batch dimension."""
    return [place_batch_dim(x, dim, to, size) for x, dim, to in zip(xs, dims, wanted, strict=True)]


def select_lanes(going: Any, after: Sequence[Any], before: Sequence[Any]) -> list[Any]:
    """Returns, for each lane, what comes after a turn if it goes on, and else what was before."""
    lanes = tuple(range(get_aval(going).ndim))
    return [
        x if y is x else select_n(broadcast_in_dim(going, get_aval(x).shape, lanes), x, y)
        for x, y in zip(before, after, strict=True)
    ]


def with_turns(turns: Any, arrays: Sequence[Any], lanes: Lanes) -> list[Any]:
    """Returns arrays in which lanes that make no turn have what the lane with the most turns has.

    What a body computes from such a lane's own values may be infinite. That times the zero cotangent of the lane would
    be NaN, also in a sum with other lanes.

    Args:
      turns: how many turns each lane makes.
      arrays: what a body is given.
      lanes: for each array, which dimensions of ``turns`` are its first ones.
    """
    shape = get_aval(turns).shape
    if not math.prod(shape):
        return list(arrays)
    longest = argmax(reshape(turns, (math.prod(shape),)), 0, np.int64)
    places = [
        rem(div(longest, np.int64(math.prod(shape[axis + 1 :]))), np.int64(size)) for axis, size in enumerate(shape)
    ]
    idle = eq(turns, np.int64(0))

    def replaced(x: Any, own: tuple[int, ...]) -> Any:
        if not own:
            return x
        idle_here = reduce_and(idle, tuple([axis for axis in range(len(shape)) if axis not in own]))
        of_longest = x
        for axis in own:
            of_longest = dynamic_index_in_dim(of_longest, places[axis], 0, keepdims=False, allow_negative_indices=False)
        aval = get_aval(x)
        others = broadcast_in_dim(of_longest, aval.shape, tuple(range(len(own), aval.ndim)))
        return select_n(broadcast_in_dim(idle_here, aval.shape, tuple(range(len(own)))), x, others)

    return [replaced(x, own) for x, own in zip(arrays, lanes, strict=True)]
