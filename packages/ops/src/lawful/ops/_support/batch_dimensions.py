"""Batch dimensions: helpers for batching rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import ops
from lawful.core import get_aval

__all__ = ["add_batch_dim", "align_scalars", "align_to_front", "move_batch_dim"]


def move_batch_dim(x: Any, dim: int, to: int = 0) -> Any:
    """Returns ``x`` with its batch dimension moved to another position.

    >>> import numpy as np
    >>> move_batch_dim(np.zeros((3, 5)), 1).shape
    (5, 3)
    """
    if dim == to:
        return x
    order = [axis for axis in range(get_aval(x).ndim) if axis != dim]
    order.insert(to, dim)
    return ops.transpose(x, tuple(order))


def add_batch_dim(x: Any, size: int, to: int = 0) -> Any:
    """Returns an unbatched ``x`` repeated along a new batch dimension: a view in NumPy, fused away by XLA.

    >>> import numpy as np
    >>> add_batch_dim(np.zeros(3), 5).shape
    (5, 3)
    """
    shape = get_aval(x).shape
    kept = (*range(to), *range(to + 1, len(shape) + 1))
    return ops.broadcast_in_dim_p.bind(x, shape=(*shape[:to], size, *shape[to:]), broadcast_dimensions=kept)


def align_to_front(args: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
    """Returns operands that all have the batch dimension in front, the unbatched ones repeated.

    >>> import numpy as np
    >>> [x.shape for x in align_to_front([np.zeros((3, 5)), np.zeros(3)], [1, None])]
    [(5, 3), (5, 3)]
    """
    size = next(get_aval(x).shape[dim] for x, dim in zip(args, dims, strict=True) if dim is not None)
    return [
        add_batch_dim(x, size) if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)
    ]


def align_scalars(
    args: Sequence[Any], dims: Sequence[int | None], may_be_scalar: Sequence[int]
) -> tuple[Sequence[Any], int]:
    """Returns operands that share a batch dimension, and that dimension; unbatched scalars stay scalars.

    Args:
      args: operands of one shape, or scalars beside them.
      dims: the batch dimension of each, None if it has none.
      may_be_scalar: the numbers of the operands that may be scalars.

    >>> import numpy as np
    >>> align_scalars([np.array([1, 2]), 3], [0, None], (0, 1))
    ([array([1, 2]), 3], 0)
    """
    ndims = [get_aval(x).ndim for x in args]
    first = dims[0]
    if first is not None and dims.count(first) == len(dims) and ndims.count(ndims[0]) == len(ndims):  # the common case
        return args, first
    ranks = [ndim - (dim is not None) for ndim, dim in zip(ndims, dims, strict=True)]
    rank = max(ranks)
    stays = [i in may_be_scalar and dims[i] is None and ranks[i] == 0 for i in range(len(args))]
    shared = {dim for dim, stay in zip(dims, stays, strict=True) if not stay}
    if len(shared) == 1 and all([stay or r == rank for r, stay in zip(ranks, stays, strict=True)]):
        (dim,) = shared
        assert dim is not None, "a batching rule has a batched operand"
        return args, dim
    moving = [i for i, stay in enumerate(stays) if not stay]
    aligned = [*args]
    for i, x in zip(moving, align_to_front([args[i] for i in moving], [dims[i] for i in moving]), strict=True):
        aligned[i] = x
    shape = next(get_aval(aligned[i]).shape for i in moving if ranks[i] == rank)
    for i in moving:
        if ranks[i] < rank:
            aligned[i] = ops.broadcast_in_dim(aligned[i], shape, (0,))
    return aligned, 0
