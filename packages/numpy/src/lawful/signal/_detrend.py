"""Removal of a constant or of straight lines."""

from __future__ import annotations

import itertools
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import canonical_axis


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: None = None) -> Any:
    """Returns data without their mean, or without the straight line of least squares, along a dimension.

    Args:
      data: an array; integers become floats.
      axis: the dimension.
      type: ``"linear"``, or ``"constant"`` for the mean.
      bp: the positions between which a line each is fitted, known integers; from the first to the last by default.
      overwrite_data: None only.

    Raises:
      ArgumentValueError: the type is another one, a position is outside, or the data are to be overwritten.
      AxisError: there is no such dimension.

    Law: ``detrend(detrend(x)) = detrend(x)``.

    >>> detrend(np.array([1.0, 2.0, 4.0]), type="constant")
    array([-1.33333333, -0.33333333,  1.66666667])

    Source: ``scipy.signal.detrend``.
    """
    if overwrite_data is not None:
        raise ArgumentValueError(f"detrend: expected no overwrite_data, got {overwrite_data!r}; use the result")
    if type not in ("linear", "l", "constant", "c"):
        raise ArgumentValueError(f"detrend: expected type='linear' or 'constant', got {type!r}; choose one")
    [data] = inexact("detrend", data, linear_algebra=False)
    axis = canonical_axis("detrend", axis, get_aval(data).ndim)
    size = get_aval(data).shape[axis]
    if type in ("constant", "c"):
        return data - np.mean(data, axis=axis, keepdims=True)
    ends = numpy.unique(numpy.concatenate([[0], numpy.ravel(bp), [size]]).astype(int))
    if ends[0] < 0 or ends[-1] > size:
        raise ArgumentValueError(f"detrend: expected positions from 0 to {size} as bp, got {bp}; leave the others out")
    x = np.moveaxis(data, axis, -1)
    parts = [_without_line(x[..., start:end]) for start, end in itertools.pairwise(ends)]
    return np.moveaxis(np.concatenate(parts, -1), -1, axis) if parts else data


def _without_line(x: Any) -> Any:
    """Returns the residual of the line of least squares along the last dimension."""
    dtype, size = get_aval(x).dtype, get_aval(x).shape[-1]
    if dtype.itemsize == 2:  # sums of products overflow there
        x = ops.convert_element_type(x, numpy.float32)
    x = x - np.mean(x, axis=-1, keepdims=True)
    times = numpy.arange(size) - (size - 1) / 2
    times /= numpy.sqrt(numpy.sum(times**2)) if size > 1 else 1.0
    direction = ops.convert_element_type(times, get_aval(x).dtype)
    return ops.convert_element_type(x - np.sum(x * direction, axis=-1, keepdims=True) * direction, dtype)
