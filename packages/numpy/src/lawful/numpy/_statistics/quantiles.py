"""Quantiles and percentiles, with all of NumPy's methods, also those that ignore NaNs."""

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
from lawful.numpy._reductions.lines import counted, in_front, kept_dims, take_lines
from lawful.numpy._reductions.nan_reductions import nanmean
from lawful.numpy._statistics.weighted_quantiles import weighted_quantile

__all__ = ["nanpercentile", "nanquantile", "percentile", "quantile"]

Virtual = Callable[[Any, Any], Any]

# These NumPy functions take tracers too, and evaluate known values eagerly.


def _between(alpha: float, beta: float) -> Virtual:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _midpoint(n: Any, q: Any) -> Any:
    return 0.5 * (numpy.floor((n - 1) * q) + numpy.ceil((n - 1) * q))


def _next_unless(is_exact: Callable[[Any], Any], index: Any) -> Any:
    low = numpy.floor(index)
    return numpy.maximum(numpy.where(is_exact(index), low, low + 1), 0)


#: For each method, the position in the sorted array from the number of elements and the quantile; whether it is exact.
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


def _known(q: Any) -> bool:
    return not isinstance(q, Tracer)


def _quantile(name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool, weights: Any) -> Any:
    if method not in _METHODS:
        raise ArgumentValueError(f"{name}: expected one of the methods {', '.join(_METHODS)}, got {method!r}")
    aval, of_q = get_aval(a), get_aval(q)
    virtual, is_position = _METHODS[method]
    is_position |= method == "linear" and of_q.dtype.kind in "iu"  # the first or last element
    is_empty = skip_nan and not aval.size
    if aval.dtype.kind == "c" or (aval.dtype.kind == "b" and not is_position and not is_empty):
        raise ArgumentTypeError(f"{name}: expected an array of real numbers, got {aval}; convert with astype")
    if of_q.ndim > 2 or (_known(q) and not numpy.all((to_numpy(q) >= 0) & (to_numpy(q) <= 1))):
        raise ArgumentValueError(f"{name}: expected quantiles in the range [0, 1], of at most 2 dimensions, got {q!r}")
    if is_empty:  # as in NumPy, for any quantiles
        return nanmean(a, axis, keepdims=keepdims)
    if weights is not None:
        if method != "inverted_cdf":
            raise ArgumentValueError(f"{name}: expected method='inverted_cdf' with weights, got {method!r}; give it")
        return weighted_quantile(name, a, q, axis, weights, keepdims, skip_nan)
    common, _ = promote_dtypes((aval.dtype, False), (of_q.dtype, of_q.weak_type))
    if not is_inexact(common):
        common = numpy.dtype(numpy.float64)
    precision = common if of_q.weak_type else (of_q.dtype if is_inexact(of_q.dtype) else numpy.dtype(numpy.float64))
    q = numpy.asarray(to_numpy(q)).astype(precision) if _known(q) else ops.convert_element_type(q, precision)
    x, axes = in_front(name, a, axis)
    n, *rest = get_aval(x).shape
    if not n:
        raise ArgumentIndexError(f"{name}: expected at least one element along {axes}, got {aval}")
    x = ops.sort(x, 0)
    flat = q.reshape((-1,)) if of_q.size else q.reshape((0,))
    skip_nan = skip_nan and is_inexact(aval.dtype)
    count: Any = n
    if skip_nan:
        count = ops.convert_element_type(ops.max(counted(x), 1), precision)
        flat = flat.reshape((-1,) + (1,) * len(rest))
    found = virtual(count, flat)
    low, last = numpy.floor(found), count - 1
    index = numpy.clip(low, 0, last).astype(numpy.int64)
    left = take_lines(x, index)
    if is_position:
        out = left
    else:
        right = take_lines(x, numpy.clip(low + 1, 0, last).astype(numpy.int64))
        weight = found - low
        if method == "averaged_inverted_cdf":
            weight = numpy.where(weight == 0, 0.5, 1.0)
        elif method == "midpoint":
            weight = numpy.where(weight == 0, 0.0, 0.5)
        weight = weight.astype(precision)
        if not skip_nan:
            weight = weight.reshape((-1,) + (1,) * len(rest))
        gap = ops.sub(right, left)  # in the dtype of the array, as in NumPy
        left, right, gap = (ops.convert_element_type(y, common) for y in (left, right, gap))
        out = _between_neighbours(left, right, gap, weight)
    if is_inexact(aval.dtype):
        missing = ops.getitem(x, -1 if not skip_nan else 0)  # NaNs are last; the first is one if all are
        out = ops.where(ops.ne(missing, missing), numpy.nan, out)
    out = ops.reshape(out, (*of_q.shape, *rest))
    return kept_dims(out, axes, aval.ndim, of_q.ndim) if keepdims else out


def _between_neighbours(left: Any, right: Any, gap: Any, weight: Any) -> Any:
    """Interpolates between two numbers, by NumPy's formula."""
    from_left = ops.add(left, ops.mul(gap, weight))
    return ops.where(weight >= 0.5, ops.sub(right, ops.mul(gap, 1 - weight)), from_left)


def _percent(a: Any, q: Any) -> Any:
    """Returns percentiles as quantiles, divided in the same dtype as in NumPy."""
    if type(q) in (int, float):
        dtype = get_aval(a).dtype
        return float(dtype.type(q) / dtype.type(100)) if dtype.kind == "f" else float(q / 100)
    return ops.true_divide(q, 100)


def _of_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns NumPy's quantiles, for `eager`, without those that NumPy takes from the array by integer positions."""

    def quantiles(a: Any, q: Any, axis: Any = None, out: Any = None, *args: Any, **kwargs: Any) -> Any:
        method = args[1] if len(args) > 1 else kwargs.get("method", "linear")
        if type(q) is not float and numpy.asarray(q).dtype.kind in ("biu" if method in _WITH_INTEGERS else "b"):
            raise ValueError("the algorithm here computes them")
        return function(a, q, axis, out, *args, **kwargs)

    return quantiles


def _percentiles_of_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns NumPy's percentiles, for `eager`: versions of NumPy divide by 100 in different dtypes."""
    quantiles = _of_numpy(function)

    def percentiles(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
        return quantiles(a, _percent(a, numpy.asarray(q) if isinstance(q, list | tuple) else q), *args, **kwargs)

    return percentiles


#: NumPy takes elements by position for these methods and integer quantiles in arrays, but not for Python integers.
_WITH_INTEGERS = {"averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull"}


@eager(_of_numpy(numpy.quantile))
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
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
      weights: how much each element counts, with ``method="inverted_cdf"`` only: of the shape of ``a``, or of that of
        its dimensions ``axis``.

    Raises:
      AxisError: there is no such dimension.
      ArgumentIndexError: there are no elements.
      ArgumentTypeError: the array is complex, or of booleans between which there is nothing.
      ArgumentValueError: there is no such method, it takes no weights, or a share is known and not between 0 and 1.

    >>> quantile(numpy.array([0.0, 1.0, 2.0, 3.0]), numpy.array([0.25, 1.0]))
    array([0.75, 3.  ])

    Source: ``numpy.quantile``.
    """
    return _quantile("quantile", a, q, axis, method, keepdims, False, weights)


@eager(_percentiles_of_numpy(numpy.quantile))
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Returns quantiles of shares in percent; arguments are those of `quantile`.

    >>> percentile(numpy.array([0.0, 1.0, 2.0, 3.0]), 50)
    np.float64(1.5)
    """
    return _quantile("percentile", a, _percent(a, q), axis, method, keepdims, False, weights)


@eager(_of_numpy(numpy.nanquantile))
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Returns quantiles of the elements that are not NaN; arguments are those of `quantile`.

    >>> nanquantile(numpy.array([0.0, numpy.nan, 2.0]), 0.5)
    np.float64(1.0)
    """
    return _quantile("nanquantile", a, q, axis, method, keepdims, True, weights)


@eager(_percentiles_of_numpy(numpy.nanquantile))
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Returns quantiles, of shares in percent, of the elements that are not NaN; arguments are those of `quantile`.

    >>> nanpercentile(numpy.array([0.0, numpy.nan, 2.0]), 50)
    np.float64(1.0)
    """
    return _quantile("nanpercentile", a, _percent(a, q), axis, method, keepdims, True, weights)
