"""Counts of samples in intervals and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, get_aval, is_inexact, to_numpy
from lawful.numpy._creation.ranges import linspace
from lawful.numpy._manipulation.joining import stack
from lawful.numpy._signal.differences import diff
from lawful.numpy._sorting.searching import searchsorted
from lawful.ops import static_integers

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def _is_known(*args: Any) -> bool:
    """Whether NumPy can compute with all arguments."""
    given = [x for x in args if x is not None]
    flat = [x for arg in given for x in (arg if isinstance(arg, list | tuple) else (arg,))]
    flat = [x for arg in flat for x in (arg if isinstance(arg, list | tuple) else (arg,))]
    return all([ops.is_eager(x) for x in flat if x is not None and not isinstance(x, str)])


def _check_weights(name: str, weights: Any, aval: Any) -> None:
    if weights is not None and get_aval(weights).shape != aval.shape:
        raise ArgumentValueError(f"{name}: expected a weight for each, got {get_aval(weights)} for {aval}")


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Returns the ends of the intervals of a histogram; arguments and errors are those of `histogram`.

    >>> histogram_bin_edges(numpy.array([0.0, 0.5, 1.0, 4.0]), 2)
    array([0., 2., 4.])

    Source: ``numpy.histogram_bin_edges``.
    """
    return _edges("histogram_bin_edges", a, bins, range, weights)


def _edges(name: str, a: Any, bins: Any, limits: Any, weights: Any) -> Any:
    """Returns the ends of intervals, in the dtype of the samples; in several directions, in that of the limits."""
    aval = get_aval(a)
    _check_weights(name, weights, aval)
    if isinstance(bins, str) and not _is_known(a, limits, weights):
        raise ArgumentTypeError(f"{name}: expected a number of intervals or their ends, got {bins!r}; give one")
    if isinstance(bins, str):
        return numpy.histogram_bin_edges(a, bins, limits, weights)
    if get_aval(bins).ndim:
        if get_aval(bins).ndim != 1:
            raise ArgumentValueError(f"{name}: expected ends in one dimension, got {get_aval(bins)}; reshape them")
        if not isinstance(bins, Tracer) and numpy.any(numpy.diff(to_numpy(bins)) < 0):
            raise ArgumentValueError(f"{name}: expected ends that increase, got others; sort them")
        return bins
    (count,) = static_integers(name, "bins", bins)
    if count < 1:
        raise ArgumentValueError(f"{name}: expected at least one interval, got {count}")
    low, high = _limits(name, a, limits)
    is_point = ops.eq(low, high)
    ends = linspace(
        ops.where(is_point, ops.sub(low, 0.5), low), ops.where(is_point, ops.add(high, 0.5), high), count + 1
    )
    keeps_dtype = limits is None or name.startswith("histogram_") or name == "histogram"
    return ops.convert_element_type(ends, aval.dtype) if keeps_dtype and is_inexact(aval.dtype) else ends


def _limits(name: str, a: Any, limits: Any) -> tuple[Any, Any]:
    """Returns the first and the last end."""
    aval = get_aval(a)
    if limits is None:
        if not aval.size:
            return numpy.float64(0), numpy.float64(1)
        flat = ops.reshape(a, (aval.size,))
        return ops.reduce_min(flat, (0,)), ops.reduce_max(flat, (0,))
    low, high = limits
    known = not isinstance(low, Tracer) and not isinstance(high, Tracer)
    if known and not (numpy.isfinite(low) and numpy.isfinite(high) and low <= high):
        raise ArgumentValueError(f"{name}: expected a finite range whose end is not before its start, got {limits}")
    return low, high


def _bin_indices(x: Any, ends: Any) -> Any:
    """Returns the interval of each sample; the number of intervals for samples in none."""
    size = get_aval(ends).shape[0] - 1
    index = ops.sub(searchsorted(ends, x, "right"), 1)
    # The last interval includes its end.
    index = ops.where(ops.eq(x, ops.getitem(ends, size)), size - 1, index)
    return ops.where(ops.bitwise_or(ops.lt(index, 0), ops.ge(index, size)), size, index)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    """Returns how many elements lie in each of some intervals, and the ends of the intervals.

    Args:
      a: an array of real numbers.
      bins: the number of intervals of equal length, or their ends, which increase.
      range: the first and last end, if there is a number of intervals; by default the extrema of ``a``.
      density: whether to divide by the sum of all, and by the lengths of the intervals.
      weights: a number for each element, which counts in index of 1.

    Raises:
      ArgumentTypeError: ``bins`` names a rule, which needs values, and ``a`` is traced.
      ArgumentValueError: the ends decrease, or the weights have another shape than ``a``.

    >>> histogram(numpy.array([0.0, 0.5, 1.0, 4.0]), 2)
    (array([3, 1]), array([0., 2., 4.]))

    Source: ``numpy.histogram``.
    """
    aval = get_aval(a)
    if aval.dtype.kind == "b":
        a = ops.convert_element_type(a, numpy.uint8)
    if _is_known(a, bins, range, weights):
        try:
            return numpy.histogram(a, bins, range, weights=weights, density=density)
        except (TypeError, ValueError):
            pass  # the code below raises the error
    ends = _edges("histogram", a, bins, range, weights)
    size = get_aval(ends).shape[0] - 1
    index = _bin_indices(ops.reshape(a, (aval.size,)), ends)
    counted = ops.full((aval.size,), 1, "int64") if weights is None else ops.reshape(weights, (aval.size,))
    # Samples in no interval count behind the end.
    counts = ops.at(ops.full((size + 1,), 0, get_aval(counted).dtype))[index].add(counted)
    counts = ops.slice_in_dim(counts, 0, size)
    if density:
        lengths = ops.convert_element_type(diff(ends), numpy.float64)
        counts = ops.div(
            ops.div(ops.convert_element_type(counts, numpy.float64), lengths), ops.reduce_sum(counts, (0,))
        )
    return counts, ends


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Sequence[Any]]:
    """Returns how many points lie in each of some boxes, float64, and the ends of their sides in each direction.

    Args:
      sample: the points in rows, or a list of arrays of coordinates.
      bins: the number of intervals, or their ends, in all directions or in each.
      range: the first and last end in each direction, or None for the extrema there.
      density: whether to divide by the sum of all, and by the volumes of the boxes.
      weights: a number for each point, which counts in index of 1.

    Raises:
      ArgumentValueError: there are not as many ``bins`` or ranges as directions, ends decrease, or the weights have
        another shape.

    >>> histogramdd(numpy.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.2]]), 2)[0]
    array([[1., 0.],
           [1., 1.]])

    Source: ``numpy.histogramdd``.
    """
    return _boxes("histogramdd", sample, bins, range, density, weights)


def _boxes(name: str, sample: Any, bins: Any, limits: Any, density: Any, weights: Any) -> tuple[Any, Sequence[Any]]:
    if _is_known(sample, bins, limits, weights):
        try:
            return numpy.histogramdd(sample, bins, limits, density, weights)
        except (TypeError, ValueError):
            pass  # the code below raises the error
    points = stack(list(sample), 1) if isinstance(sample, list | tuple) else sample
    if get_aval(points).ndim != 2:
        points = ops.reshape(points, (get_aval(points).size, 1))
    count, directions = get_aval(points).shape
    each_bins = list(bins) if isinstance(bins, list | tuple) else [bins] * directions
    each_limits = [None] * directions if limits is None else list(limits)
    if len(each_bins) != directions or len(each_limits) != directions:
        raise ArgumentValueError(
            f"{name}: expected intervals and ranges for each of {directions} directions, got {len(each_bins)} and "
            f"{len(each_limits)}; give as many"
        )
    _check_weights(name, weights, get_aval(points).update(shape=(count,)))
    columns = [ops.squeeze(ops.slice_in_dim(points, i, i + 1, axis=1), (1,)) for i in numpy.arange(directions).tolist()]
    ends = [_edges(name, x, n, pair, None) for x, n, pair in zip(columns, each_bins, each_limits, strict=True)]
    shape = [get_aval(x).shape[0] - 1 for x in ends]
    indices = tuple([_bin_indices(x, end) for x, end in zip(columns, ends, strict=True)])
    counted = ops.full((count,), 1.0) if weights is None else ops.convert_element_type(weights, numpy.float64)
    boxes = ops.at(ops.full([size + 1 for size in shape], 0.0))[indices].add(counted)
    boxes = ops.getitem(boxes, tuple([slice(size) for size in shape]))
    if density:
        total = ops.reduce_sum(boxes, tuple(numpy.arange(directions).tolist()))
        for i, end in enumerate(ends):
            boxes = ops.div(boxes, ops.reshape(diff(end), [-1 if i == j else 1 for j in numpy.arange(directions)]))
        boxes = ops.div(boxes, total)
    return boxes, ends


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """Returns how many points lie in each of some rectangles, float64, and the ends of their sides.

    Args:
      x: the first coordinates, a vector.
      y: the second ones.
      bins: the number of intervals, or their ends, in both directions; or a pair of these.
      range: the first and last end in each direction.
      density: whether to divide by the sum of all, and by the areas of the rectangles.
      weights: a number for each point, which counts in index of 1.

    Raises:
      ArgumentValueError: there are not as many coordinates of both; and as `histogramdd`.

    >>> histogram2d(numpy.array([0.0, 1.0, 1.0]), numpy.array([0.0, 1.0, 0.2]), 2)[0]
    array([[1., 0.],
           [1., 1.]])

    Source: ``numpy.histogram2d``.
    """
    avals = get_aval(x), get_aval(y)
    if avals[0].ndim != 1 or avals[0].shape != avals[1].shape:
        raise ArgumentValueError(f"histogram2d: expected vectors of one length, got {avals[0]} and {avals[1]}")
    if not isinstance(bins, list | tuple) and get_aval(bins).ndim:
        size = get_aval(bins).shape[0]
        bins = [bins[0], bins[1]] if size == 2 else [bins, bins]
    boxes, ends = _boxes("histogram2d", [x, y], bins, range, density, weights)
    return boxes, ends[0], ends[1]
