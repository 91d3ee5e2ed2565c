"""Medians, also those that ignore NaNs."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval, is_inexact
from lawful.numpy._eager import eager
from lawful.numpy._reductions.lines import counted, in_front, kept_dims, take_lines
from lawful.numpy._sorting.sorting import sort

__all__ = ["median", "nanmedian"]


def _median(name: str, a: Any, axis: Any, keepdims: bool, skip_nan: bool) -> Any:
    aval = get_aval(a)
    dtype = aval.dtype if is_inexact(aval.dtype) else numpy.dtype(numpy.float64)
    x, axes = in_front(name, ops.convert_element_type(a, dtype), axis)
    n, *rest = get_aval(x).shape
    if not n:
        out = ops.full(tuple(rest), _empty_mean(dtype))
    elif skip_nan:
        out = _of_numbers(x, rest)
    else:
        out = _with_nan(sort(x, 0), n)
    return kept_dims(out, axes, aval.ndim, 0) if keepdims else out


def _empty_mean(dtype: numpy.dtype[Any]) -> Any:
    """Returns the quotient of two zeros, of which both parts are NaN."""
    return dtype.type(complex(numpy.nan, numpy.nan) if dtype.kind == "c" else numpy.nan)


def _middle(low: Any, high: Any, is_odd: Any) -> Any:
    """Returns the mean of the middle numbers, where of an odd count both are one.

    A complex one is divided by 1, which makes a part beside an infinite one NaN, as in NumPy.
    """
    one = ops.div(low, 1) if get_aval(low).dtype.kind == "c" else low
    return one if is_odd is True else ops.where(is_odd, one, ops.div(ops.add(low, high), 2))


def _with_nan(x: Any, n: int) -> Any:
    """Returns the medians of sorted lines: the last element where that is NaN, or a part of it."""
    low, high, last = (ops.getitem(x, i) for i in ((n - 1) // 2, n // 2, n - 1))
    return ops.where(ops.ne(last, last), last, _middle(low, high, n % 2 == 1))


#: From this length on ``numpy.nanmedian`` computes one line after the other.
_LONG = 600


def _of_numbers(lines: Any, rest: list[int]) -> Any:
    """Returns the medians of what is not NaN in each line; NaN if there is nothing.

    For complex numbers that is NumPy's result: the last element of a single or a long line, a real NaN for others.
    """
    x = sort(lines, 0)
    found = counted(x)
    count = ops.reshape(ops.max(found, 1), (1, *rest))
    low, high = (
        ops.getitem(take_lines(x, i), 0) if rest else ops.getitem(x, i[0]) for i in ((count - 1) // 2, count // 2)
    )
    out = _middle(low, high, ops.eq(count[0] % 2, 1))
    missing = numpy.nan if rest and get_aval(lines).shape[0] < _LONG else ops.getitem(lines, -1)
    return ops.where(ops.eq(found, 0), missing, out)


@eager(numpy.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """Returns the middle element of the sorted array, or the mean of both; NaN if one is, of complex ones the last.

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
