"""Loops with a batched predicate: each batch element stops when its own predicate is false.

A batched array has some or all dimensions of the predicate as its leading dimensions.
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

#: For each constant of a body, which dimensions of the predicate are its leading dimensions; empty if none is batched.
PredDims = tuple[tuple[int, ...], ...]


def move_batch_dims(
    xs: Sequence[Any], dims: Sequence[int | None], wanted: Sequence[int | None], size: int
) -> list[Any]:
    """Returns arrays with their batch dimensions at the wanted axes; None for no batch dimension."""
    return [place_batch_dim(x, dim, to, size) for x, dim, to in zip(xs, dims, wanted, strict=True)]


def select_running(going: Any, after: Sequence[Any], before: Sequence[Any]) -> list[Any]:
    """Returns, for each batch element, the carry after an iteration if the element is running, else the one before.

    A rule of `while_p` in a user's transformation calls it.

    Args:
      going: a boolean array, the predicate of the batch elements.
      after: arrays with the dimensions of ``going`` in front.
      before: the same before the iteration.

    >>> import numpy as np
    >>> select_running(np.array([True, False]), [np.array([1.0, 2.0])], [np.array([-1.0, -2.0])])
    [array([ 1., -2.])]
    """
    pred_dims = tuple(range(get_aval(going).ndim))
    return [
        x if y is x else select_n(broadcast_in_dim(going, get_aval(x).shape, pred_dims), x, y)
        for x, y in zip(before, after, strict=True)
    ]


def replace_idle(trip_counts: Any, arrays: Sequence[Any], pred_dims: Sequence[tuple[int, ...]]) -> list[Any]:
    """Returns arrays in which idle batch elements (trip count 0) have the values of the one with the most iterations.

    The body may be infinite at the values of an idle element. Infinity times its zero cotangent would be NaN, also in
    sums over batch elements. A rule of `while_p` in a user's transformation calls it.

    Args:
      trip_counts: the trip count of each batch element, an int64 array.
      arrays: the operands of the body.
      pred_dims: for each array, which dimensions of ``trip_counts`` are its leading dimensions.

    >>> replace_idle(np.array([0, 2, 1]), [np.array([5.0, 6.0, 7.0]), np.array(3.0)], [(0,), ()])
    [array([6., 6., 7.]), array(3.)]
    """
    shape = get_aval(trip_counts).shape
    if not math.prod(shape):
        return list(arrays)
    longest = argmax(reshape(trip_counts, (math.prod(shape),)), 0, np.int64)
    indices = [
        rem(div(longest, np.int64(math.prod(shape[axis + 1 :]))), np.int64(size)) for axis, size in enumerate(shape)
    ]
    idle = eq(trip_counts, np.int64(0))

    def replaced(x: Any, dims: tuple[int, ...]) -> Any:
        if not dims:
            return x
        all_idle = reduce_and(idle, tuple([axis for axis in range(len(shape)) if axis not in dims]))
        of_longest = x
        for axis in dims:
            of_longest = dynamic_index_in_dim(
                of_longest, indices[axis], 0, keepdims=False, allow_negative_indices=False
            )
        aval = get_aval(x)
        others = broadcast_in_dim(of_longest, aval.shape, tuple(range(len(dims), aval.ndim)))
        return select_n(broadcast_in_dim(all_idle, aval.shape, tuple(range(len(dims)))), x, others)

    return [replaced(x, dims) for x, dims in zip(arrays, pred_dims, strict=True)]
