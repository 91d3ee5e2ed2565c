"""Medians, also those that ignore NaNs."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval, is_inexact
from lawful.numpy._eager import eager
from lawful.numpy._statistics.lines import counted, in_front, kept_dims, take_lines

__all__ = ["median", "nanmedian"]


def _median(name: str, a: Any, axis: Any, keepdims: bool, skip_nan: bool) -> Any:
    aval = get_aval(a)
    dtype = aval.dtype if is_inexact(aval.dtype) else numpy.dtype(numpy.float64)
    x, axes = in_front(name, ops.convert_element_type(a, dtype), axis)
    n, *rest = get_aval(x).shape
    if not n:
        out = ops.full(tuple(rest), numpy.nan, dtype)
    else:
        x = ops.sort(x, 0)
        if skip_nan:
            count = ops.reshape(ops.max(counted(x), 1), (1, *rest))
            low = ops.getitem(take_lines(x, (count - 1) // 2), 0) if rest else ops.getitem(x, (count[0] - 1) // 2)
            high = ops.getitem(take_lines(x, count // 2), 0) if rest else ops.getitem(x, count[0] // 2)
        else:
            low, high = ops.getitem(x, (n - 1) // 2), ops.getitem(x, n // 2)
        out = low if n == 1 or (n % 2 and not skip_nan) else ops.div(ops.add(low, high), 2)
        if not skip_nan:
            last = ops.getitem(x, n - 1)
            out = ops.where(ops.ne(last, last), numpy.nan, out)
    return kept_dims(out, axes, aval.ndim, 0) if keepdims else out


@eager(numpy.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """Returns the middle element of the sorted array, or the mean of both; NaN if one is.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      out: None only.
      overwrite_input: has no effect.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      AxisError: there is no such dimension.

    >>> median(numpy.array([[1.0, 7.0, 3.0], [4.0, 2.0, 9.0]]), axis=1)
    array([3., 4.])

    Source: ``numpy.median``.
    """
    return _median("median", a, axis, keepdims, False)


@eager(numpy.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """Returns the median of the elements that are not NaN; arguments are those of `median`.

    >>> nanmedian(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(2.0)
    """
    return _median("nanmedian", a, axis, keepdims, True)
