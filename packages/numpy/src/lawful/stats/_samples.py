"""Statistics of the elements along a dimension, mostly by their order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import canonical_axis
from lawful.special._arguments import silent


class ModeResult(NamedTuple):
    """The result of `mode`.

    >>> mode(np.array([3, 1, 1, 3])).count
    np.int64(2)
    """

    mode: Any
    count: Any


def mode(a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """Returns the most frequent element along a dimension, the least of several, and how often it is there.

    Args:
      a: a real array. NaNs count as equal elements, after all others.
      axis: the dimension; None for the flattened array.
      nan_policy: ``"propagate"`` only.
      keepdims: whether the result has a dimension of length 1 in its place.

    Returns:
      A pair ``(mode, count)``; where there are no elements NaN, which only a floating array can hold, and 0.

    Raises:
      ArgumentValueError: there is another policy, or there are no elements of integers.
      AxisError: there is no such dimension.

    >>> mode(np.array([3, 1, 1, 3]))
    ModeResult(mode=np.int64(1), count=np.int64(2))

    Source: ``scipy.stats.mode``.
    """
    _require_propagation("mode", nan_policy)
    x, axis = _along("mode", a, axis)
    aval = get_aval(x)
    if not aval.shape[axis]:
        shape = tuple(1 if i == axis else size for i, size in enumerate(aval.shape))
        if aval.dtype.kind in "biu":
            raise ArgumentValueError(f"mode: expected at least one integer, got {get_aval(a)}; convert it to floats")
        found, count = np.full(shape, numpy.nan, aval.dtype), np.zeros(shape, int)
    else:
        ordered = np.sort(x, axis=axis)
        first, last = _runs(ordered, axis)
        best = np.argmax(last - first, axis=axis, keepdims=True)
        found, count = (np.take_along_axis(y, best, axis) for y in (ordered, last - first + 1))
    if not keepdims:
        found, count = np.max(found, axis=axis), np.max(count, axis=axis)  # of one element each
    elif axis == 0 and get_aval(a).ndim != aval.ndim:
        found, count = (np.reshape(y, (1,) * get_aval(a).ndim) for y in (found, count))
    return ModeResult(found, count)


_METHODS = ("average", "min", "max", "dense", "ordinal")


def rankdata(a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate") -> Any:
    """Returns the ranks of elements along a dimension, from 1, as float64.

    Args:
      a: a real array.
      method: the rank of equal elements: the ``"average"``, ``"min"`` or ``"max"`` of the ranks that they share, the
        number of less values and 1 (``"dense"``), or all ranks in the order of their positions (``"ordinal"``).
      axis: the dimension; by default the flattened array, and a flat result.
      nan_policy: ``"propagate"`` only: where there is a NaN along the dimension, all ranks are NaN.

    Raises:
      ArgumentValueError: there is no such method or policy.
      AxisError: there is no such dimension.

    >>> rankdata(np.array([5, 2, 5, 9]), "min")
    array([2., 1., 2., 4.])

    Source: ``scipy.stats.rankdata``.
    """
    _require_propagation("rankdata", nan_policy)
    if method not in _METHODS:
        raise ArgumentValueError(f"rankdata: expected a method of {', '.join(_METHODS)}, got {method!r}; choose one")
    x, axis = _along("rankdata", a if axis is not None else np.ravel(a), axis)
    if not get_aval(x).size:
        return np.zeros(get_aval(x).shape)
    order = np.argsort(x, axis=axis, stable=True)
    position = np.argsort(order, axis=axis)
    first, last = _runs(np.take_along_axis(x, order, axis), axis)
    if method == "ordinal":
        ranks = position
    elif method == "dense":
        index = _positions(x, axis)
        ranks = np.take_along_axis(np.cumsum(first == index, axis=axis) - 1, position, axis)
    else:
        shared = {"min": first, "max": last, "average": np.true_divide(first + last, 2)}[method]
        ranks = np.take_along_axis(shared, position, axis)
    ranks = ops.convert_element_type(ranks, numpy.float64) + 1
    if get_aval(x).dtype.kind in "biu":
        return ranks
    return np.where(np.any(np.isnan(x), axis=axis, keepdims=True), numpy.nan, ranks)


@silent
def sem(a: Any, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """Returns the standard error of the mean along a dimension: the standard deviation by the root of the number.

    Args:
      a: an array; integers become floats.
      axis: the dimension; None for all of them.
      ddof: what is subtracted from the number of elements in the variance.
      nan_policy: ``"propagate"``, or ``"omit"`` for the statistics of the elements that are not NaN.
      keepdims: whether the result has dimensions of length 1 in place of those.

    Raises:
      ArgumentValueError: there is another policy.
      AxisError: there is no such dimension.

    >>> sem(np.array([1.0, 2.0, 5.0]))
    np.float64(1.2018504251546631)

    Source: ``scipy.stats.sem``.
    """
    if nan_policy not in ("propagate", "omit"):
        raise ArgumentValueError(f"sem: expected nan_policy='propagate' or 'omit', got {nan_policy!r}; choose one")
    [x] = inexact("sem", a, linear_algebra=False)
    aval = get_aval(x)
    axis = None if axis is None else canonical_axis("sem", axis, aval.ndim)
    real = np.finfo(aval.dtype).dtype
    if aval.dtype.itemsize == 2:  # squares overflow there
        x = ops.convert_element_type(x, numpy.float32)
    counted = np.ones(aval.shape, bool) if nan_policy == "propagate" else ~np.isnan(x)
    number = ops.convert_element_type(np.sum(counted, axis=axis, keepdims=True), np.finfo(get_aval(x).dtype).dtype)
    x = ops.where(counted, x, 0)
    residuals = ops.where(counted, x - np.sum(x, axis=axis, keepdims=True) / number, 0)
    squares = np.real(residuals * np.conj(residuals))
    variance = np.sum(squares, axis=axis, keepdims=True) / np.maximum(number - ddof, 0)
    error = ops.convert_element_type(np.sqrt(variance / number), real)
    return error if keepdims else np.sum(error, axis=axis)


def _require_propagation(name: str, nan_policy: str) -> None:
    if nan_policy != "propagate":
        raise ArgumentValueError(
            f"{name}: expected nan_policy='propagate', got {nan_policy!r}: compiled programs neither raise nor change "
            "shapes; look for NaN before"
        )


def _along(name: str, a: Any, axis: int | None) -> tuple[Any, int]:
    """Returns a real array, flattened without an axis, and the dimension."""
    x = np.asarray(a)
    if get_aval(x).dtype.kind == "c":
        raise ArgumentValueError(f"{name}: expected real numbers, got {get_aval(x)}; they have an order")
    if axis is None or not get_aval(x).ndim:
        x, axis = np.ravel(x), 0
    return x, canonical_axis(name, axis, get_aval(x).ndim)


def _positions(x: Any, axis: int) -> Any:
    shape = get_aval(x).shape
    return numpy.broadcast_to(numpy.arange(shape[axis]).reshape(-1, *(1,) * (len(shape) - axis - 1)), shape)


def _runs(ordered: Any, axis: int) -> tuple[Any, Any]:
    """Returns for each element of an ordered array the positions of the first and the last one that equal it."""
    size = get_aval(ordered).shape[axis]
    low, high = (ops.slice_in_dim(ordered, start, start + size - 1, axis=axis) for start in (0, 1))
    changes = ops.ne(low, high)
    if get_aval(ordered).dtype.kind not in "biu":
        changes = ops.bitwise_and(changes, ops.bitwise_not(np.isnan(low)))
    edge = np.ones(tuple(1 if i == axis else n for i, n in enumerate(get_aval(ordered).shape)), bool)
    index = _positions(ordered, axis)
    first = ops.cummax(ops.where(np.concatenate([edge, changes], axis), index, 0), axis)
    last = ops.cummin(ops.where(np.concatenate([changes, edge], axis), index, size), axis, reverse=True)
    return first, last
