"""Elements along one dimension, at different positions for each line: for sorting and searching."""

from __future__ import annotations

from typing import Any

from lawful.core import ShapedArray, get_aval
from lawful.ops._indexing.gather_scatter.gather import gather
from lawful.ops._indexing.gather_scatter.windows import GatherDimensionNumbers
from lawful.ops._shape.reshape import reshape

__all__ = ["take_along_dimension"]


def take_along_dimension(x: Any, indices: Any, dimension: int, *, unique_indices: bool = False) -> Any:
    """Returns ``x[…, indices[…, j, …], …]``: for each line along a dimension, the elements at positions of its own.

    Args:
      x: an array.
      indices: integers of the shape of ``x`` but for the dimension, all of them positions in it, from 0.
      dimension: which, from 0.
      unique_indices: a promise that no line names a position twice, which the derivative uses.

    >>> import numpy as np
    >>> take_along_dimension(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2, 0], [1, 1]]), 1)
    array([[3, 1],
           [5, 5]])

    Source: ``numpy.take_along_axis``.
    """
    aval: ShapedArray = get_aval(indices)
    others = tuple(axis for axis in range(aval.ndim) if axis != dimension)
    numbers = GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(dimension,),
        start_index_map=(dimension,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return gather(
        x,
        reshape(indices, (*aval.shape, 1)),
        numbers,
        (1,) * aval.ndim,
        unique_indices=unique_indices,
        mode="promise_in_bounds",
    )
