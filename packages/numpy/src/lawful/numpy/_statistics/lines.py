"""Lines of an array: what is reduced of it, brought into one dimension, the first."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval
from lawful.ops import canonical_axes


def in_front(name: str, a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Returns an array with the dimensions that are reduced as the first one, and which they were."""
    aval = get_aval(a)
    axes = tuple(range(aval.ndim)) if axis is None else tuple(sorted(canonical_axes(name, axis, aval.ndim)))
    kept = [i for i in range(aval.ndim) if i not in axes]
    size = int(numpy.prod([aval.shape[i] for i in axes], dtype=numpy.int64))
    turned = ops.transpose(a, (*axes, *kept))
    return ops.reshape(turned, (size, *[aval.shape[i] for i in kept])), axes


def counted(x: Any) -> Any:
    """Returns how many elements of each line along the first dimension are not NaN."""
    return ops.reduce_sum(ops.convert_element_type(ops.eq(x, x), numpy.int64), (0,))


def take_lines(x: Any, index: Any) -> Any:
    """Returns elements along the first dimension, at the same positions in all lines or at others in each."""
    if get_aval(index).ndim < max(get_aval(x).ndim, 2):
        return ops.getitem(x, index)
    return ops.take_along_dimension(x, index, 0)


def kept_dims(x: Any, axes: tuple[int, ...], ndim: int, leading: int) -> Any:
    """Returns a result with the dimensions that were reduced, of length 1; a scalar stays one if there are none."""
    return ops.expand_dims(x, tuple(leading + axis for axis in axes)) if axes or ndim else x
