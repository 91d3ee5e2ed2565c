"""Reductions that leave out NaNs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import ml_dtypes

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, as_dtype, get_aval, is_inexact, to_numpy
from lawful.numpy._eager import eager
from lawful.numpy._integers import assigned
from lawful.numpy._reductions import averages, cumulative
from lawful.numpy._reductions import reductions as reduction
from lawful.numpy._reductions.arguments import require_initial, require_mask
from lawful.numpy._reductions.lines import in_front, kept_dims
from lawful.ops import is_axis_of_scalar, reduced_axes

# fmt: off
__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd",
    "nansum", "nanvar",
]
# fmt: on


def _is_nan(a: Any) -> Any:
    return ops.ne(a, a)


def _filled(a: Any, value: Any) -> Any:
    """Returns an array with a value in place of NaNs."""
    aval = get_aval(a)
    if not is_inexact(aval.dtype):
        return ops.convert_element_type(a, aval.dtype)
    return ops.where(_is_nan(a), aval.dtype.type(value), a)


def _chosen(name: str, a: Any, where: Any) -> Any:
    """Returns a mask of the elements that count: they are chosen by ``where`` and not NaN."""
    require_mask(name, where)
    valid = ops.eq(a, a)
    return valid if where is None else ops.bitwise_and(valid, where)


@eager(numpy.nansum)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Returns the sum of the elements that are not NaN; arguments and dtypes are those of `sum`.

    >>> nansum(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(4.0)

    Source: ``numpy.nansum``.
    """
    return reduction.sum(_filled(a, 0), axis, dtype, None, keepdims, initial, where)


@eager(numpy.nanprod)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Returns the product of the elements that are not NaN; arguments and dtypes are those of `sum`.

    >>> nanprod(numpy.array([2.0, numpy.nan, 3.0]))
    np.float64(6.0)
    """
    return reduction.prod(_filled(a, 1), axis, dtype, None, keepdims, initial, where)


def _worst(dtype: Any, largest: bool) -> Any:
    """Returns a value that is never the extremum."""
    infinity = _infinity(dtype, largest)
    return complex(infinity, infinity) if dtype.kind == "c" else infinity


def _infinity(dtype: Any, largest: bool) -> float:
    """Returns the infinity that is not the extremum; the largest float of a float8 without infinities."""
    sign = -1 if largest else 1
    has_infinity = dtype.isbuiltin == 1 or not numpy.isnan(numpy.asarray(numpy.inf).astype(dtype))
    return sign * numpy.inf if has_infinity else sign * float(ml_dtypes.finfo(dtype).max)


def _extremum(largest: bool, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    reduce = reduction.max if largest else reduction.min
    where = None if where is True else where  # NumPy's default
    if not is_inexact(get_aval(a).dtype):
        return reduce(a, axis, None, keepdims, initial, where)
    dtype, name = get_aval(a).dtype, reduce.__name__
    worst = dtype.type(_worst(dtype, largest))
    if initial is not None:
        require_initial(name, initial)
        first = assigned(name, initial, dtype)
        start = ops.where(_is_nan(first), worst, first)
    else:
        first, start = _first(name, a, axis, keepdims), None
    out = reduce(_filled(a, worst), axis, None, keepdims, start, where)
    left_out = _is_nan(a) if where is None else ops.bitwise_or(_is_nan(a), ops.bitwise_not(where))
    only_nan = reduction.all(left_out, axis, None, keepdims)
    return ops.where(only_nan if initial is None else ops.bitwise_and(only_nan, _is_nan(first)), first, out)


def _first(name: str, a: Any, axis: Any, keepdims: bool) -> Any:
    """Returns the first element of each line of complex numbers, which NumPy's result of NaNs is; of floats NaN."""
    aval = get_aval(a)
    if aval.dtype.kind != "c" or not aval.size:
        return numpy.nan
    lines, axes = in_front(name, a, reduced_axes(name, axis, aval.ndim))
    first = ops.getitem(lines, 0)
    return kept_dims(first, axes, aval.ndim, 0) if keepdims else first


def _of_arrays[F: Callable[..., Any]](function: F) -> F:
    """Returns NumPy's function for `eager`, given arrays: of scalars it does not combine NaN with ``initial``."""

    def extreme(a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(a if type(a) is numpy.ndarray else numpy.asarray(a), *args, **kwargs)

    return cast(F, extreme)


@eager(_of_arrays(numpy.nanmax))
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Returns the largest of the elements that are not NaN, NaN where all are; arguments are those of `max`.

    >>> nanmax(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(3.0)

    Source: ``numpy.nanmax``.
    """
    return _extremum(True, a, axis, keepdims, initial, where)


@eager(_of_arrays(numpy.nanmin))
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Returns the smallest of the elements that are not NaN, NaN where all are; arguments are those of `max`.

    >>> nanmin(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(1.0)
    """
    return _extremum(False, a, axis, keepdims, initial, where)


# Averages


def _averaged(a: Any, axis: Any) -> Any:
    """Returns the axis of an average. For inexact dtypes, NumPy accepts axis 0 of a scalar."""
    aval = get_aval(a)
    return () if is_inexact(aval.dtype) and is_axis_of_scalar(axis, aval.ndim) else axis


def _require_inexact(name: str, a: Any, dtype: Any) -> None:
    aval = get_aval(a)
    if dtype is not None and is_inexact(aval.dtype) and not is_inexact(as_dtype(dtype)):
        raise ArgumentTypeError(
            f"{name}: expected a floating dtype for {aval}, got {as_dtype(dtype)}; convert the result"
        )


@eager(numpy.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Returns the mean of the elements that are not NaN, NaN where there are none; arguments are those of `mean`.

    >>> nanmean(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(2.0)

    Source: ``numpy.nanmean``.
    """
    _require_inexact("nanmean", a, dtype)
    axis = _averaged(a, axis)
    return averages.mean(a, axis, dtype, None, keepdims, where=_chosen("nanmean", a, where))


@eager(numpy.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """Returns the variance of the elements that are not NaN, NaN where there are too few; arguments as `var`.

    >>> nanvar(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(1.0)

    Source: ``numpy.nanvar``.
    """
    if not is_inexact(get_aval(a).dtype):
        return averages.var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    _require_inexact("nanvar", a, dtype)
    chosen, axis = _chosen("nanvar", a, where), _averaged(a, axis)
    out = averages.var(a, axis, dtype, None, ddof, keepdims, where=chosen, mean=mean, correction=correction)
    # With at most ``ddof`` elements, NumPy's result is NaN here, and infinity in `var`.
    count = reduction.sum(chosen, axis, None, None, keepdims)
    return ops.where(ops.le(count, ddof if correction is None else correction), numpy.nan, out)


@eager(numpy.nanstd)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """Returns the standard deviation of the elements that are not NaN; arguments are those of `var`.

    >>> nanstd(numpy.array([1.0, numpy.nan, 3.0]))
    np.float64(1.0)
    """
    variance = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    out = ops.sqrt(variance)
    return out if dtype is None else ops.convert_element_type(out, get_aval(variance).dtype)


# Positions


def _position(largest: bool, a: Any, axis: Any, keepdims: bool) -> Any:
    find = reduction.argmax if largest else reduction.argmin
    found = find(_filled(a, _infinity(get_aval(a).dtype, largest)), axis, None, keepdims=keepdims)
    if (
        not isinstance(a, Tracer)
        and is_inexact(get_aval(a).dtype)
        and numpy.any(numpy.all(numpy.isnan(to_numpy(a)), axis))
    ):
        name = "nanargmax" if largest else "nanargmin"
        raise ArgumentValueError(f"{name}: expected a number that is not NaN, got an All-NaN slice; leave it out")
    return found


@eager(numpy.nanargmax)
def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Returns the position of the largest of the elements that are not NaN; arguments are those of `argmax`.

    Where all are NaN, NumPy raises ValueError; traced or compiled it is 0.

    >>> nanargmax(numpy.array([1.0, numpy.nan, 3.0]))
    np.int64(2)

    Source: ``numpy.nanargmax``.
    """
    return _position(True, a, axis, keepdims)


@eager(numpy.nanargmin)
def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Returns the position of the smallest of the elements that are not NaN; all else is as in `nanargmax`.

    >>> nanargmin(numpy.array([1.0, numpy.nan, 3.0]))
    np.int64(0)
    """
    return _position(False, a, axis, keepdims)


# Cumulative reductions


@eager(numpy.nancumsum)
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Returns the sum of all elements up to each position, NaNs left out; arguments are those of `cumsum`.

    >>> nancumsum(numpy.array([1.0, numpy.nan, 3.0]))
    array([1., 1., 4.])

    Source: ``numpy.nancumsum``.
    """
    return cumulative.cumsum(_filled(a, 0), axis, dtype)


@eager(numpy.nancumprod)
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Returns the product of all elements up to each position, NaNs left out; arguments are those of `cumsum`.

    >>> nancumprod(numpy.array([2.0, numpy.nan, 3.0]))
    array([2., 2., 6.])
    """
    return cumulative.cumprod(_filled(a, 1), axis, dtype)
