"""Elements at static positions along a dimension, concatenated from slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval


def pieces(x: Any, indices: Any, axis: int) -> Any:
    """Returns the elements at static positions along a dimension.

    Args:
      x: an array.
      indices: the positions, a NumPy vector of integers.
      axis: the dimension.

    Each run of consecutive ascending or descending positions is one slice; if there are many runs, one gather.
    """
    runs = list(_runs([int(i) for i in indices]))
    if len(runs) > _MOST_RUNS:
        return ops.take(x, numpy.asarray(indices, numpy.int64), axis)
    parts = [_run(x, start, step, count, axis) for start, step, count in runs]
    if not parts:
        return ops.slice_in_dim(x, 0, 0, axis=axis)
    return ops.concatenate(parts, axis) if len(parts) > 1 else parts[0]


_MOST_RUNS = 16


def _runs(indices: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yields (start, step, count) of consecutive positions whose step is 1, -1 or 0."""
    begin = 0
    while begin < len(indices):
        end, step = begin + 1, 1
        if end < len(indices) and abs(indices[end] - indices[begin]) <= 1:
            step = indices[end] - indices[begin]
            while end < len(indices) and indices[end] - indices[end - 1] == step:
                end += 1
        yield indices[begin], step, end - begin
        begin = end


def _run(x: Any, start: int, step: int, count: int, axis: int) -> Any:
    if step == 0:
        one = ops.squeeze(ops.slice_in_dim(x, start, start + 1, axis=axis), (axis,))
        shape = get_aval(one).shape
        whole = (*shape[:axis], count, *shape[axis:])
        return ops.broadcast_in_dim(one, whole, [dim for dim in range(len(whole)) if dim != axis])
    low = start if step > 0 else start - count + 1
    part = ops.slice_in_dim(x, low, low + count, axis=axis)
    return part if step > 0 else ops.rev(part, (axis,))
