"""Merging two dimensions into one and back: a batch of convolutions is one convolution with groups."""

from __future__ import annotations

from typing import Any

from lawful.core import get_aval
from lawful.ops._shape.reshape import reshape
from lawful.ops._support.batch_dimensions import move_batch_dim


def merge(x: Any, source: int, target: int) -> Any:
    """Returns ``x`` with a dimension merged into another one, as the outer part.

    Args:
      x: an array.
      source: the dimension.
      target: the position of the other one after ``source`` is removed.
    """
    x = move_batch_dim(x, source, target)
    shape = get_aval(x).shape
    return reshape(x, (*shape[:target], shape[target] * shape[target + 1], *shape[target + 2 :]))


def merge_inside(x: Any, source: int, target: int, outer: int) -> Any:
    """Returns ``x`` with a dimension merged into another one, after an outer part of length ``outer``."""
    divided = unmerge(move_batch_dim(x, source), target + 1, outer)
    between = move_batch_dim(divided, 0, target + 1)
    return merge(merge(between, target, target), target, target)


def unmerge(x: Any, axis: int, outer: int) -> Any:
    """Returns ``x`` with a dimension divided into two, the outer one of length ``outer``."""
    shape = get_aval(x).shape
    return reshape(x, (*shape[:axis], outer, shape[axis] // outer, *shape[axis + 1 :]))
