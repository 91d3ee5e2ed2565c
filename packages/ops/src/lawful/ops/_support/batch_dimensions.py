"""Batch dimensions: helpers for batching rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import ops
from lawful.core import get_aval

__all__ = ["add_batch_dim", "align_to_front", "move_batch_dim"]


def move_batch_dim(x: Any, dim: int, to: int = 0) -> Any:
    """Returns ``x`` with its batch dimension moved to another position."""
    if dim == to:
        return x
    order = [axis for axis in range(get_aval(x).ndim) if axis != dim]
    order.insert(to, dim)
    return ops.transpose(x, tuple(order))


def add_batch_dim(x: Any, size: int, to: int = 0) -> Any:
    """Returns an unbatched ``x`` repeated along a new batch dimension: a view in NumPy, fused away by XLA."""
    shape = get_aval(x).shape
    kept = (*range(to), *range(to + 1, len(shape) + 1))
    return ops.broadcast_in_dim_p.bind(x, shape=(*shape[:to], size, *shape[to:]), broadcast_dimensions=kept)


def align_to_front(args: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
    """Returns operands that all have the batch dimension in front, the unbatched ones repeated."""
    size = next(get_aval(x).shape[dim] for x, dim in zip(args, dims, strict=True) if dim is not None)
    return [
        add_batch_dim(x, size) if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)
    ]
