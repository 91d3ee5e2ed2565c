"""Reductions over dimensions: sums, counts, extrema, averages and positions.

The names shadow the built-in ``sum``, ``max``, ``min``, ``all`` and ``any``, which this module must not use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._integers import assigned
from lawful.numpy._reductions.arguments import require_initial, require_mask
from lawful.ops import numpy_reduction as reduction
from lawful.ops import reduced_axes

__all__ = ["sum", "prod", "count_nonzero", "max", "min", "amax", "amin", "all", "any", "argmax", "argmin"]

# Sums and products


def _chosen(name: str, a: Any, where: Any, unit: Any) -> Any:
    """Returns the array with the unit of a reduction in place of the elements that ``where`` excludes."""
    require_mask(name, where)
    return a if where is None else ops.where(where, a, ops.convert_element_type(unit, get_aval(a).dtype))


def _from(name: str, initial: Any, function: Callable[[Any, Any], Any], result: Any) -> Any:
    """Returns the result of a reduction combined with an initial value."""
    require_initial(name, initial)
    return result if initial is None else function(assigned(name, initial, get_aval(result).dtype), result)


@eager(numpy.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Returns the sum over some dimensions.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      dtype: the dtype to which the elements are converted before they are added. By default floats keep theirs, and
        booleans and integers become int64, unsigned ones uint64.
      out: None only.
      keepdims: whether the dimensions stay, with length 1.
      initial: a number that is added.
      where: booleans that broadcast to the shape of ``a``: which elements count.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: a dimension is named twice, or ``initial`` is no scalar.
      ArgumentTypeError: ``where`` is not boolean.

    >>> sum(numpy.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([4., 6.])

    Source: ``numpy.sum``.
    """
    return _from("sum", initial, ops.add, reduction.sum(_chosen("sum", a, where, 0), axis, dtype, keepdims))


@eager(numpy.prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Returns the product over some dimensions; arguments, dtypes and errors are those of :func:`sum`.

    >>> prod(numpy.array([2.0, 3.0]))
    np.float64(6.0)
    """
    return _from("prod", initial, ops.mul, reduction.prod(_chosen("prod", a, where, 1), axis, dtype, keepdims))


def _numpy_count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    count = numpy.count_nonzero(a, axis, keepdims=keepdims)
    return count if axis is not None or keepdims else numpy.int64(count)


# Before NumPy 2.3 a count of all elements is a Python integer.
@eager(numpy.count_nonzero if hasattr(numpy.count_nonzero(()), "dtype") else _numpy_count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Returns how many elements over some dimensions are not zero, int64; arguments are those of :func:`sum`.

    >>> count_nonzero(numpy.array([[1, 0], [2, 3]]), axis=0)
    array([2, 1])

    Source: ``numpy.count_nonzero``.
    """
    return reduction.sum(ops.convert_element_type(a, bool), axis, numpy.int64, keepdims)


# Extrema


def _extremum(
    reduce: Callable[..., Any],
    strict: Callable[..., Any],
    function: Callable[[Any, Any], Any],
    a: Any,
    axis: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Any:
    name = reduce.__name__
    where = None if where is True else where  # NumPy's default
    if initial is None:
        if where is not None:
            raise ArgumentValueError(
                f"{name}: expected initial= with where=, got where= alone: there may be no element at all"
            )
        return reduce(a, axis, keepdims)
    axes = reduced_axes(name, axis, get_aval(a).ndim)
    require_initial(name, initial)
    first = assigned(name, initial, get_aval(a).dtype)
    result = _from(name, first, function, strict(_chosen(name, a, where, first), axes))
    return ops.expand_dims(result, axes) if keepdims and axes else result


@eager(numpy.max)
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Returns the largest element over some dimensions, NaN if one is.

    Args:
      a: an array of bool, integer or floating dtype.
      axis: the dimension, or a tuple of them; all of them if None.
      out: None only.
      keepdims: whether the dimensions stay, with length 1.
      initial: the smallest result, which an empty array has.
      where: booleans that broadcast to the shape of ``a``: which elements count. It needs ``initial``.

    Raises:
      ArgumentValueError: there is no element to choose from.
      AxisError: there is no such dimension.

    Equal elements share the derivative equally.

    >>> max(numpy.array([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    array([5., 4.])

    Source: ``numpy.max``.
    """
    return _extremum(reduction.max, ops.reduce_max, ops.max, a, axis, keepdims, initial, where)


@eager(numpy.min)
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Returns the smallest element over some dimensions, NaN if one is; all else is as in :func:`max`.

    >>> min(numpy.array([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    array([1., 3.])
    """
    return _extremum(reduction.min, ops.reduce_min, ops.min, a, axis, keepdims, initial, where)


amax, amin = max, min

# Logic


@eager(numpy.all)
def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Returns whether all elements over some dimensions are true, that is, not zero.

    Args:
      a: an array.
      axis: the dimension, or a tuple of them; all of them if None.
      out: None only.
      keepdims: whether the dimensions stay, with length 1.
      where: booleans that broadcast to the shape of ``a``: which elements count.

    Raises:
      AxisError: there is no such dimension.

    >>> all(numpy.array([[1, 0], [2, 3]]), axis=1)
    array([False,  True])

    Source: ``numpy.all``.
    """
    return reduction.all(_chosen("all", a, where, 1), axis, keepdims)


@eager(numpy.any)
def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Returns whether any element over some dimensions is not zero; arguments are those of :func:`all`.

    >>> any(numpy.array([[1, 0], [0, 0]]), axis=1)
    array([ True, False])
    """
    return reduction.any(_chosen("any", a, where, 0), axis, keepdims)


# Positions


@eager(numpy.argmax)
def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Returns the position of the largest element, the first of equal ones; that of a NaN if there is one.

    Args:
      a: an array of bool, integer or floating dtype.
      axis: the dimension along which to look; None to look in all elements in row-major order.
      out: None only.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      ArgumentValueError: there is no element to choose from.
      AxisError: there is no such dimension.

    >>> argmax(numpy.array([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    array([1, 1])

    Source: ``numpy.argmax``.
    """
    return reduction.argmax(a, axis, keepdims)


@eager(numpy.argmin)
def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Returns the position of the smallest element; all else is as in :func:`argmax`.

    >>> argmin(numpy.array([[1.0, 5.0], [3.0, 4.0]]))
    np.int64(0)
    """
    return reduction.argmin(a, axis, keepdims)
