"""Elements at positions along dimensions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from lawful.core import ArgumentIndexError, get_aval
from lawful.ops._indexing.gather_scatter.gather import gather
from lawful.ops._indexing.gather_scatter.windows import GatherDimensionNumbers
from lawful.ops._shape.joining import concatenate
from lawful.ops._shape.slicing import slice_in_dim
from lawful.ops._shape.squeeze import expand_dims, squeeze
from lawful.ops._support.structural import canonical_axis

__all__ = ["index_in_dim", "index_take"]


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Returns the slice at a position, known before the program runs, along a dimension.

    Args:
      operand: an array.
      index: the position, counted from the end if negative.
      axis: the dimension.
      keepdims: whether it stays, with length 1.

    Raises:
      ArgumentIndexError: there is no such position.

    >>> import numpy as np
    >>> index_in_dim(np.arange(6).reshape(2, 3), -1, axis=1, keepdims=False)
    array([2, 5])

    Source: ``jax.lax.index_in_dim``.
    """
    shape = get_aval(operand).shape
    axis = canonical_axis("index_in_dim", axis, len(shape))
    position = operator.index(index)
    if not -shape[axis] <= position < shape[axis]:
        raise ArgumentIndexError(
            f"index_in_dim: expected a position in a dimension of length {shape[axis]}, got {index}; give a valid one"
        )
    position %= shape[axis]
    result = slice_in_dim(operand, position, position + 1, 1, axis)
    return result if keepdims else squeeze(result, (axis,))


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Returns the elements at vectors of positions in some dimensions, with the other dimensions behind.

    Args:
      src: an array.
      idxs: for each dimension in ``axes`` a vector of positions, all of one length.
      axes: the dimensions.

    >>> import numpy as np
    >>> index_take(np.arange(6).reshape(2, 3), (np.array([0, 1]), np.array([2, 0])), (0, 1))
    array([2, 3])

    Source: ``jax.lax.index_take``.
    """
    shape, axes = get_aval(src).shape, tuple(axes)
    columns = [expand_dims(index, (1,)) for index in idxs]
    numbers = GatherDimensionNumbers(tuple(range(1, len(shape) - len(axes) + 1)), axes, axes)
    sizes = tuple(1 if i in axes else size for i, size in enumerate(shape))
    return gather(src, concatenate(columns, 1), numbers, sizes)
