"""Quantiles of weighted elements, by the inverse of the distribution function."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, Tracer, get_aval, is_inexact, to_numpy
from lawful.numpy._reductions.averages import aligned_weights
from lawful.numpy._reductions.lines import in_front, kept_dims
from lawful.ops import canonical_axes


def weighted_quantile(name: str, a: Any, q: Any, axis: Any, weights: Any, keepdims: bool, skip_nan: bool) -> Any:
    """Returns, for each share, the first element in order up to which elements weigh at least as much.

    Raises:
      ArgumentValueError: a known weight is negative, or the weights do not fit.
      ArgumentTypeError: they have another shape, and there is no ``axis``.
    """
    aval, of_q = get_aval(a), get_aval(q)
    axes = None if axis is None else canonical_axes(name, axis, aval.ndim)
    weights = aligned_weights(name, weights, aval, axes)
    if not isinstance(weights, Tracer) and numpy.any(to_numpy(weights) < 0):
        raise ArgumentValueError(f"{name}: expected weights that are not negative, got negative ones; correct them")
    x, reduced = in_front(name, a, axis)
    weight, _ = in_front(name, ops.convert_element_type(weights, numpy.float64), axis)
    count, *rest = get_aval(x).shape
    is_nan = ops.ne(x, x)
    if skip_nan:
        weight = ops.where(is_nan, 0.0, weight)
    ordered, weight = ops.sort((x, weight), 0)
    below = ops.cumsum(weight, 0)
    total = ops.slice_in_dim(below, count - 1, count)
    share = ops.div(below, total)
    if of_q.dtype.kind == "f":
        share = ops.convert_element_type(share, of_q.dtype)
    share = ops.where(ops.eq(share, 0), -1, share)  # an element with weight zero is never chosen
    shares = ops.reshape(q, (of_q.size, *(1,) * get_aval(x).ndim))
    index = ops.reduce_sum(ops.convert_element_type(ops.lt(share, shares), numpy.int64), (1,))
    last: Any = count - 1
    if skip_nan:
        valid = ops.reduce_sum(ops.convert_element_type(ops.bitwise_not(is_nan), numpy.int64), (0,))
        last = ops.max(ops.sub(valid, 1), 0)
    found = (
        ops.take_along_dimension(ordered, ops.min(index, last), 0)
        if rest
        else ops.getitem(ordered, ops.min(index, last))
    )
    if is_inexact(aval.dtype) and not skip_nan:
        largest = ops.getitem(ordered, -1)
        found = ops.where(ops.ne(largest, largest), numpy.nan, found)
    out = ops.reshape(found, (*of_q.shape, *rest))
    return kept_dims(out, reduced, aval.ndim, of_q.ndim) if keepdims else out
