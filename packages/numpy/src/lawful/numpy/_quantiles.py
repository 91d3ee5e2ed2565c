"""Medians, quantiles and percentiles, with all of NumPy's methods, and those that leave out NaNs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    Tracer,
    get_aval,
    is_inexact,
    promote_dtypes,
    to_numpy,
)
from lawful.numpy._eager import eager
from lawful.ops import canonical_axes

Virtual = Callable[[Any, Any], Any]

# The functions of NumPy below take tracers too, and compute at once with what is known.


def _between(alpha: float, beta: float) -> Virtual:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _midpoint(n: Any, q: Any) -> Any:
    return 0.5 * (numpy.floor((n - 1) * q) + numpy.ceil((n - 1) * q))


def _next_unless(is_exact: Callable[[Any], Any], index: Any) -> Any:
    low = numpy.floor(index)
    return numpy.maximum(numpy.where(is_exact(index), low, low + 1), 0)


#: Where in the sorted array a method looks, of the number of elements and the quantile; whether that is a position.
_METHODS: dict[str, tuple[Virtual, bool]] = {
    "inverted_cdf": (lambda n, q: _next_unless(lambda i: i == numpy.floor(i), n * q - 1), True),
    "averaged_inverted_cdf": (lambda n, q: n * q - 1, False),
    "closest_observation": (
        lambda n, q: _next_unless(lambda i: (i == numpy.floor(i)) & (numpy.floor(i) % 2 == 1), n * q - 1.5),
        True,
    ),
    "interpolated_inverted_cdf": (_between(0, 1), False),
    "hazen": (_between(0.5, 0.5), False),
    "weibull": (_between(0, 0), False),
    "linear": (lambda n, q: (n - 1) * q, False),
    "median_unbiased": (_between(1 / 3.0, 1 / 3.0), False),
    "normal_unbiased": (_between(3 / 8.0, 3 / 8.0), False),
    "lower": (lambda n, q: numpy.floor((n - 1) * q), True),
    "higher": (lambda n, q: numpy.ceil((n - 1) * q), True),
    "midpoint": (_midpoint, False),
    "nearest": (lambda n, q: numpy.round((n - 1) * q), True),
}


def _in_front(name: str, a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Returns an array with the dimensions that are reduced as the first one, and which they were."""
    aval = get_aval(a)
    axes = tuple(range(aval.ndim)) if axis is None else tuple(sorted(canonical_axes(name, axis, aval.ndim)))
    kept = [i for i in range(aval.ndim) if i not in axes]
    size = int(numpy.prod([aval.shape[i] for i in axes], dtype=numpy.int64))
    turned = ops.transpose(a, (*axes, *kept))
    return ops.reshape(turned, (size, *[aval.shape[i] for i in kept])), axes


def _counted(x: Any) -> Any:
    """Returns how many elements of each line along the first dimension are not NaN."""
    return ops.reduce_sum(ops.convert_element_type(ops.eq(x, x), numpy.int64), (0,))


def _take(x: Any, index: Any) -> Any:
    """Returns elements along the first dimension, at the same positions in all lines or at others in each."""
    if get_aval(index).ndim < max(get_aval(x).ndim, 2):
        return ops.getitem(x, index)
    return ops.take_along_dimension(x, index, 0)


def _known(q: Any) -> bool:
    return not isinstance(q, Tracer)


def _quantile(name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool) -> Any:
    if method not in _METHODS:
        raise ArgumentValueError(f"{name}: expected one of the methods {', '.join(_METHODS)}, got {method!r}")
    aval, of_q = get_aval(a), get_aval(q)
    virtual, is_position = _METHODS[method]
    is_position |= method == "linear" and of_q.dtype.kind in "iu"  # the first or last element
    if aval.dtype.kind == "c" or (aval.dtype.kind == "b" and not is_position):
        raise ArgumentTypeError(f"{name}: expected an array of real numbers, got {aval}; convert with astype")
    if of_q.ndim > 2 or (_known(q) and not numpy.all((to_numpy(q) >= 0) & (to_numpy(q) <= 1))):
        raise ArgumentValueError(f"{name}: expected quantiles in the range [0, 1], of at most 2 dimensions, got {q!r}")
    common, _ = promote_dtypes((aval.dtype, False), (of_q.dtype, of_q.weak_type))
    if not is_inexact(common):
        common = numpy.dtype(numpy.float64)
    precision = common if of_q.weak_type else (of_q.dtype if is_inexact(of_q.dtype) else numpy.dtype(numpy.float64))
    q = numpy.asarray(to_numpy(q)).astype(precision) if _known(q) else ops.convert_element_type(q, precision)
    x, axes = _in_front(name, a, axis)
    n, *rest = get_aval(x).shape
    if not n:
        raise ArgumentIndexError(f"{name}: expected at least one element along {axes}, got {aval}")
    x = ops.sort(x, 0)
    flat = q.reshape((-1,)) if of_q.size else q.reshape((0,))
    skip_nan = skip_nan and is_inexact(aval.dtype)
    count: Any = n
    if skip_nan:
        count = ops.convert_element_type(ops.max(_counted(x), 1), precision)
        flat = flat.reshape((-1,) + (1,) * len(rest))
    found = virtual(count, flat)
    low, last = numpy.floor(found), count - 1
    index = numpy.clip(low, 0, last).astype(numpy.int64)
    left = _take(x, index)
    if is_position:
        out = left
    else:
        right = _take(x, numpy.clip(low + 1, 0, last).astype(numpy.int64))
        weight = found - low
        if method == "averaged_inverted_cdf":
            weight = numpy.where(weight == 0, 0.5, 1.0)
        elif method == "midpoint":
            weight = numpy.where(weight == 0, 0.0, 0.5)
        weight = weight.astype(precision)
        if not skip_nan:
            weight = weight.reshape((-1,) + (1,) * len(rest))
        gap = ops.sub(right, left)  # in the dtype of the array, as NumPy has it
        left, right, gap = (ops.convert_element_type(y, common) for y in (left, right, gap))
        out = _between_neighbours(left, right, gap, weight)
    if is_inexact(aval.dtype):
        missing = ops.getitem(x, -1 if not skip_nan else 0)  # NaNs are last; the first is one if all are
        out = ops.where(ops.ne(missing, missing), numpy.nan, out)
    out = ops.reshape(out, (*of_q.shape, *rest))
    return _kept(out, axes, aval.ndim, of_q.ndim) if keepdims else out


def _between_neighbours(left: Any, right: Any, gap: Any, weight: Any) -> Any:
    """Returns what lies between two numbers, by the formula that NumPy has."""
    from_left = ops.add(left, ops.mul(gap, weight))
    between = ops.where(weight >= 0.5, ops.sub(right, ops.mul(gap, 1 - weight)), from_left)
    return ops.where(ops.eq(left, right), left, between)  # also where both are infinite


def _kept(x: Any, axes: tuple[int, ...], ndim: int, leading: int) -> Any:
    """Returns a result with the dimensions that were reduced, of length 1; a scalar stays one if there are none."""
    return ops.expand_dims(x, tuple(leading + axis for axis in axes)) if axes or ndim else x


def _percent(a: Any, q: Any) -> Any:
    """Returns percentiles as quantiles, in the dtype that NumPy divides them in."""
    hundred = get_aval(a).dtype.type(100) if get_aval(a).dtype.kind == "f" else 100
    if type(q) in (int, float):
        return float(q / numpy.asarray(hundred)) if get_aval(a).dtype.kind != "f" else _weak(q, hundred)
    return q / hundred


def _weak(q: float, hundred: Any) -> float:
    return float(hundred.dtype.type(q) / hundred)


def _median(name: str, a: Any, axis: Any, keepdims: bool, skip_nan: bool) -> Any:
    aval = get_aval(a)
    dtype = aval.dtype if is_inexact(aval.dtype) else numpy.dtype(numpy.float64)
    x, axes = _in_front(name, ops.convert_element_type(a, dtype), axis)
    n, *rest = get_aval(x).shape
    if not n:
        out = ops.full(tuple(rest), numpy.nan, dtype)
    else:
        x = ops.sort(x, 0)
        if skip_nan:
            count = ops.reshape(ops.max(_counted(x), 1), (1, *rest))
            low = ops.getitem(_take(x, (count - 1) // 2), 0) if rest else ops.getitem(x, (count[0] - 1) // 2)
            high = ops.getitem(_take(x, count // 2), 0) if rest else ops.getitem(x, count[0] // 2)
        else:
            low, high = ops.getitem(x, (n - 1) // 2), ops.getitem(x, n // 2)
        out = low if n == 1 or (n % 2 and not skip_nan) else ops.div(ops.add(low, high), 2)
        if not skip_nan:
            last = ops.getitem(x, n - 1)
            out = ops.where(ops.ne(last, last), numpy.nan, out)
    return _kept(out, axes, aval.ndim, 0) if keepdims else out


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


@eager(numpy.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """Returns what a share of the elements lies below; NaN if one is.

    Args:
      a: an array of real numbers.
      q: the share, from 0 to 1, or an array of at most 2 dimensions of them, which the result has first.
      axis: the dimension, or a tuple of them; all of them if None.
      out: None only.
      overwrite_input: has no effect.
      method: how to choose between two elements, by NumPy's names, all thirteen of them. Some jump where a share is
        just that of an element; there a compiled program, for a traced share, may round to the other side.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      AxisError: there is no such dimension.
      ArgumentIndexError: there are no elements.
      ArgumentTypeError: the array is complex, or of booleans between which there is nothing.
      ArgumentValueError: there is no such method, or a share is known and not between 0 and 1.

    >>> quantile(numpy.array([0.0, 1.0, 2.0, 3.0]), numpy.array([0.25, 1.0]))
    array([0.75, 3.  ])

    Source: ``numpy.quantile``.
    """
    return _quantile("quantile", a, q, axis, method, keepdims, False)


@eager(numpy.percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """Returns quantiles of shares in percent; arguments are those of `quantile`.

    >>> percentile(numpy.array([0.0, 1.0, 2.0, 3.0]), 50)
    np.float64(1.5)
    """
    return _quantile("percentile", a, _percent(a, q), axis, method, keepdims, False)


@eager(numpy.nanquantile)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """Returns quantiles of the elements that are not NaN; arguments are those of `quantile`.

    >>> nanquantile(numpy.array([0.0, numpy.nan, 2.0]), 0.5)
    np.float64(1.0)
    """
    return _quantile("nanquantile", a, q, axis, method, keepdims, True)


@eager(numpy.nanpercentile)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """Returns quantiles, of shares in percent, of the elements that are not NaN; arguments are those of `quantile`.

    >>> nanpercentile(numpy.array([0.0, numpy.nan, 2.0]), 50)
    np.float64(1.0)
    """
    return _quantile("nanpercentile", a, _percent(a, q), axis, method, keepdims, True)
