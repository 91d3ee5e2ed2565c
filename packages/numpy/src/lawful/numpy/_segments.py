"""Reductions of the rows of an array by groups.

They are no functions of NumPy's: `lawful.nn` and `lawful.jax` have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, Tracer, get_aval, kind
from lawful.numpy._creation.arrays import full

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _segments(
    name: str, update: str, neutral: Callable[[numpy.dtype[Any]], Any], what: str, example: list[int]
) -> Callable[..., Any]:
    def reduce(
        data: Any,
        segment_ids: Any,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
    ) -> Any:
        aval = get_aval(data)
        if num_segments is None:
            if isinstance(segment_ids, Tracer):
                raise ArgumentValueError(f"{name}: expected num_segments where segment_ids is traced; give it")
            num_segments = int(numpy.max(numpy.asarray(segment_ids), initial=-1)) + 1
        start = full((num_segments, *aval.shape[get_aval(segment_ids).ndim :]), neutral(aval.dtype), dtype=aval.dtype)
        options = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
        found = ops.at(start)[segment_ids]
        return getattr(found, update)(
            data, **options, mode="drop" if mode is None else mode, wrap_negative_indices=False
        )

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"""Returns the {what} of the rows of each segment, of those that have none its neutral element.

    Args:
      data: an array; its first dimensions are those of ``segment_ids``.
      segment_ids: the segment of each row; a row of a segment that does not exist counts nowhere.
      num_segments: how many segments there are; by default one more than the largest id.
      indices_are_sorted: a promise that may make it faster.
      unique_indices: the same.
      bucket_size: has no effect.
      mode: as for ``x.at[...]``.

    Raises:
      ArgumentValueError: ``num_segments`` is missing where ids are traced.

    >>> import numpy as np
    >>> {name}(np.array([1, 2, 3]), np.array([0, 0, 1])).tolist()
    {example}

    Source: ``jax.ops.{name}``.
    """
    return reduce


def _lowest(dtype: numpy.dtype[Any]) -> Any:
    return False if dtype.kind == "b" else numpy.iinfo(dtype).min if kind(dtype) in "iu" else -numpy.inf


def _highest(dtype: numpy.dtype[Any]) -> Any:
    return True if dtype.kind == "b" else numpy.iinfo(dtype).max if kind(dtype) in "iu" else numpy.inf


segment_sum = _segments("segment_sum", "add", lambda dtype: 0, "sum", [3, 3])
segment_prod = _segments("segment_prod", "multiply", lambda dtype: 1, "product", [2, 3])
segment_max = _segments("segment_max", "max", _lowest, "largest", [2, 3])
segment_min = _segments("segment_min", "min", _highest, "smallest", [1, 3])
