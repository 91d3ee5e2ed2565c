"""Extrema of complex numbers, ordered by real, then by imaginary part; StableHLO does not order them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import get_aval
from lawful.ops._reduction.axes import kept_axes, repeat
from lawful.ops._support.dtypes import highest, lowest

Shape = tuple[int, ...]


def extremum_of_complex(z: Any, axes: Shape, *, largest: bool) -> Any:
    """Returns the largest or smallest elements over ``axes``, or the first NaN."""
    aval = get_aval(z)
    kept = kept_axes(aval.ndim, axes)
    shape = tuple([aval.shape[axis] for axis in kept])
    if not aval.size:
        return ops.full(shape, (lowest if largest else highest)(aval.dtype), aval.dtype)
    z = ops.reshape(ops.transpose(z, (*kept, *axes)), (*shape, -1))
    aval, last = get_aval(z), len(kept)
    position = repeat(position_of_complex(z, last, np.dtype(np.int64), largest=largest), aval, (last,))
    return ops.reduce_sum(ops.where(ops.eq(ops.broadcasted_iota(np.int64, aval.shape, last), position), z, 0), (last,))


def position_of_complex(z: Any, axis: int, index_dtype: np.dtype[Any], *, largest: bool) -> Any:
    """Returns the position of the first NaN, or of the first extremum by real parts, then by imaginary parts."""
    aval, re, im = get_aval(z), ops.real(z), ops.imag(z)
    extremum, worst = (ops.reduce_max, lowest) if largest else (ops.reduce_min, highest)
    unit, is_nan = worst(get_aval(re).dtype), ops.ne(z, z)

    def is_extremum(x: Any, among: Any) -> Any:
        best = extremum(ops.where(among, x, unit), (axis,))
        return ops.bitwise_and(among, ops.eq(x, repeat(best, aval, (axis,))))

    found = is_extremum(im, is_extremum(re, ops.bitwise_not(is_nan)))
    has_nan = repeat(ops.reduce_or(is_nan, (axis,)), aval, (axis,))
    found = ops.bitwise_or(is_nan, ops.bitwise_and(found, ops.bitwise_not(has_nan)))
    position = ops.broadcasted_iota(index_dtype, aval.shape, axis)
    return ops.reduce_min(ops.where(found, position, index_dtype.type(aval.shape[axis] - 1)), (axis,))
