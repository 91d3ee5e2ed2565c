"""Convolutions in NumPy: the elements under the kernel at each position are the rows of a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.ops._conv_dimensions import Specs
from lawful.ops._conv_sizes import ConvSizes
from lawful.ops._sliding_window import Pads, dilated
from lawful.ops._structural import Shape


def convolve(
    lhs: Any,
    rhs: Any,
    sizes: ConvSizes,
    *,
    window_strides: Shape,
    padding: Pads,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: Specs,
    batch_group_count: int,
    **_: Any,
) -> Any:
    """Returns the result with batch, features and spatial dimensions in this order: a product of matrices a group.

    A row of the first matrix holds the elements under the kernel at one position.
    """
    lhs_spec, rhs_spec = dimension_numbers[:2]
    spatial = range(2, 2 + len(sizes.spatial))
    x = _padded(lhs.transpose(lhs_spec), padding, lhs_dilation)
    window = [dilated(size, step) for size, step in zip(sizes.kernel, rhs_dilation, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(x, window, tuple(spatial)) if window else x
    every = [slice(None, None, step) for step in (*window_strides, *rhs_dilation)]
    windows = windows[(slice(None), slice(None), *every)]
    # The group stands before the batch, or between the batch and its own features.
    if batch_group_count > 1:
        windows = windows.reshape(sizes.groups, sizes.batch, *windows.shape[1:])
    else:
        windows = windows.reshape(sizes.batch, sizes.groups, sizes.inputs, *windows.shape[2:]).swapaxes(0, 1)
    # group, batch, spatial dimensions; features, kernel
    n = len(sizes.spatial)
    windows = windows.transpose(0, 1, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n))
    rows, terms = sizes.batch * math.prod(sizes.spatial), sizes.inputs * math.prod(sizes.kernel)
    kernel = rhs.transpose(rhs_spec).reshape(sizes.groups, sizes.outputs, terms).swapaxes(1, 2)
    out = np.matmul(windows.reshape(sizes.groups, rows, terms), kernel)
    out = out.reshape(sizes.groups, sizes.batch, *sizes.spatial, sizes.outputs)
    out = out.transpose(1, 0, 2 + n, *range(2, 2 + n))
    return out.reshape(sizes.batch, sizes.groups * sizes.outputs, *sizes.spatial)


def _padded(x: Any, padding: Pads, dilation: Shape) -> Any:
    """Returns a NumPy array with zeros around and between the elements of its last dimensions."""
    first = x.ndim - len(padding)
    for axis, ((low, high), step) in enumerate(zip(padding, dilation, strict=True), start=first):
        if not (low or high or step > 1):
            continue
        size = x.shape[axis]
        length = dilated(size, step) + low + high
        out = np.zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype)
        # Element i comes to low + i * step, if that is inside.
        start = max(0, -(low // step))
        stop = min(size, -(-(length - low) // step))
        if stop > start:
            places = (slice(None),) * axis
            to = slice(low + start * step, low + (stop - 1) * step + 1, step)
            out[(*places, to)] = x[(*places, slice(start, stop))]
        x = out
    return x
