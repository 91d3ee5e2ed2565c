"""The reduced dimensions of an array, flattened into one leading dimension."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval
from lawful.ops import canonical_axes


def in_front(name: str, a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Returns an array with the reduced dimensions flattened into the first one, and their axes."""
    aval = get_aval(a)
    axes = tuple(range(aval.ndim)) if axis is None else tuple(sorted(canonical_axes(name, axis, aval.ndim)))
    remaining = [i for i in range(aval.ndim) if i not in axes]
    size = int(numpy.prod([aval.shape[i] for i in axes], dtype=numpy.int64))
    transposed = ops.transpose(a, (*axes, *remaining))
    return ops.reshape(transposed, (size, *[aval.shape[i] for i in remaining])), axes


def counted(x: Any) -> Any:
    """Returns the number of elements along the first dimension that are not NaN."""
    return ops.reduce_sum(ops.convert_element_type(ops.eq(x, x), numpy.int64), (0,))


def take_lines(x: Any, index: Any) -> Any:
    """Returns elements along the first dimension, at common positions, or at separate ones for each line."""
    if get_aval(index).ndim < max(get_aval(x).ndim, 2):
        return ops.getitem(x, index)
    return ops.take_along_dimension(x, index, 0)


def kept_dims(x: Any, axes: tuple[int, ...], ndim: int, leading: int) -> Any:
    """Returns a result with the reduced dimensions of length 1; a scalar if there are none."""
    return ops.expand_dims(x, tuple(leading + axis for axis in axes)) if axes or ndim else x
