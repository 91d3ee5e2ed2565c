"""Cumulative reductions along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, as_dtype, get_aval
from lawful.numpy._eager import eager
from lawful.ops import canonical_axis, is_axis_of_scalar

__all__ = ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod"]


#: Whether any element up to each position is true, and whether all are.
_OF_BOOL = {ops.cumsum: ops.cummax, ops.cumprod: ops.cummin}


def _cumulative(function: Callable[..., Any], a: Any, axis: int | None, dtype: Any) -> Any:
    aval, name = get_aval(a), function.__name__
    if dtype is None:
        dtypes = {"b": numpy.int64, "i": numpy.int64, "u": numpy.uint64}
        dtype = dtypes.get(aval.dtype.kind, aval.dtype)
    dtype = as_dtype(dtype)
    if dtype.kind == "b":  # as of `sum` and `prod`
        function = _OF_BOOL[function]
    x = ops.convert_element_type(a, dtype)
    if axis is None or is_axis_of_scalar(axis, aval.ndim):
        return function(ops.reshape(x, (aval.size,)), 0)
    return function(x, canonical_axis(name, axis, aval.ndim))


@eager(numpy.cumsum)
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Returns the sum of all elements up to each position.

    Args:
      a: an array.
      axis: the dimension along which they are added; by default along the flattened array.
      dtype: the dtype to which the elements are converted first, as in :func:`sum`.
      out: None only.

    Raises:
      AxisError: there is no such dimension.

    >>> cumsum(numpy.array([1.0, 2.0, 3.0]))
    array([1., 3., 6.])

    Source: ``numpy.cumsum``.
    """
    return _cumulative(ops.cumsum, a, axis, dtype)


@eager(numpy.cumprod)
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Returns the product of all elements up to each position; arguments are those of :func:`cumsum`.

    >>> cumprod(numpy.array([1.0, 2.0, 3.0]))
    array([1., 2., 6.])
    """
    return _cumulative(ops.cumprod, a, axis, dtype)


def _with_initial(function: Callable[..., Any], x: Any, axis: int | None, dtype: Any, unit: int | None) -> Any:
    """Returns a cumulative reduction, preceded by a unit if one is given; ``axis`` may be None for a vector."""
    name = f"cumulative_{function.__name__.removeprefix('cum')}"
    x = x if get_aval(x).ndim else ops.reshape(x, (1,))
    aval = get_aval(x)
    if axis is None and aval.ndim > 1:
        raise ArgumentValueError(f"{name}: expected an axis of an array with several dimensions, got {aval}; give one")
    axis = canonical_axis(name, 0 if axis is None else axis, aval.ndim)
    result = function(x, axis=axis, dtype=dtype)
    if unit is None:
        return result
    shape = (*aval.shape[:axis], 1, *aval.shape[axis + 1 :])
    return ops.concatenate([ops.full(shape, unit, get_aval(result).dtype), result], axis)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Returns the sum of all elements up to each position.

    Args:
      x: an array.
      axis: the dimension along which they are added; it may be left out of a vector only.
      dtype: the dtype to which the elements are converted first, as in `cumsum`.
      include_initial: whether the sum of no elements comes first: the result is longer by one.

    Raises:
      ArgumentValueError: there are several dimensions, and no axis.
      AxisError: there is no such dimension.

    >>> cumulative_sum(numpy.array([1.0, 2.0, 3.0]), include_initial=True)
    array([0., 1., 3., 6.])

    Source: ``numpy.cumulative_sum``.
    """
    return _with_initial(cumsum, x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Returns the product of all elements up to each position; arguments are those of :func:`cumulative_sum`.

    >>> cumulative_prod(numpy.array([1.0, 2.0, 3.0]), include_initial=True)
    array([1., 1., 2., 6.])
    """
    return _with_initial(cumprod, x, axis, dtype, 1 if include_initial else None)
