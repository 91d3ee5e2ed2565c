"""Convolutions in NumPy: products with a matrix whose rows are the elements under the kernel at each position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.ops._convolution.dimension_numbers import Specs
from lawful.ops._convolution.sizes import ConvSizes
from lawful.ops._convolution.sliding_window import Pads, dilated
from lawful.ops._support.structural import Shape


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
    """Returns the result with dimensions in the order batch, features, spatial: a product of matrices for each group.

    A row of the first matrix has the elements under the kernel at one position. Padding and the holes of a dilated
    array are not multiplied, so that they give no NaN where the kernel is not finite.
    """
    lhs_spec, rhs_spec = dimension_numbers[:2]

    def rows_of(x: Any) -> Any:
        x = _padded(x, padding, lhs_dilation)
        return _windows(x, sizes, window_strides, rhs_dilation, in_batch=batch_group_count > 1)

    x, n = lhs.transpose(lhs_spec), len(sizes.spatial)
    kernel = rhs.transpose(rhs_spec).reshape(sizes.groups, sizes.outputs, -1).swapaxes(1, 2)
    if np.isfinite(kernel).all():
        out = np.matmul(rows_of(x), kernel)
    else:
        out = _sum_of_products(rows_of(x), rows_of(np.ones(x.shape, bool)), kernel)
    out = out.reshape(sizes.groups, sizes.batch, *sizes.spatial, sizes.outputs)
    out = out.transpose(1, 0, 2 + n, *range(2, 2 + n))
    return out.reshape(sizes.batch, sizes.groups * sizes.outputs, *sizes.spatial)


def _windows(x: Any, sizes: ConvSizes, strides: Shape, dilation: Shape, *, in_batch: bool) -> Any:
    """Returns for each group a matrix whose rows are the elements under the kernel at each position."""
    n = len(sizes.spatial)
    window = [dilated(size, step) for size, step in zip(sizes.kernel, dilation, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(x, window, tuple(range(2, 2 + n))) if window else x
    every = [slice(None, None, step) for step in (*strides, *dilation)]
    windows = windows[(slice(None), slice(None), *every)]
    # The group comes before the batch, or between the batch and the features.
    if in_batch:
        windows = windows.reshape(sizes.groups, sizes.batch, *windows.shape[1:])
    else:
        windows = windows.reshape(sizes.batch, sizes.groups, sizes.inputs, *windows.shape[2:]).swapaxes(0, 1)
    # group, batch, spatial dimensions; features, kernel
    windows = windows.transpose(0, 1, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n))
    rows, terms = sizes.batch * math.prod(sizes.spatial), sizes.inputs * math.prod(sizes.kernel)
    return windows.reshape(sizes.groups, rows, terms)


def _sum_of_products(rows: Any, is_element: Any, kernel: Any) -> Any:
    """Returns the product of matrices, without the terms of padding and holes."""
    out = np.zeros((*rows.shape[:2], kernel.shape[2]), rows.dtype)
    for term in range(rows.shape[2]):
        out += rows[:, :, term, None] * np.where(is_element[:, :, term, None], kernel[:, term, None, :], 0)
    return out


def _padded(x: Any, padding: Pads, dilation: Shape) -> Any:
    """Returns a NumPy array with zeros around and between the elements along its last dimensions."""
    first = x.ndim - len(padding)
    for axis, ((low, high), step) in enumerate(zip(padding, dilation, strict=True), start=first):
        if not (low or high or step > 1):
            continue
        size = x.shape[axis]
        length = dilated(size, step) + low + high
        out = np.zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype)
        # Element i moves to low + i * step, if that is inside.
        start = max(0, -(low // step))
        stop = min(size, -(-(length - low) // step))
        if stop > start:
            whole = (slice(None),) * axis
            to = slice(low + start * step, low + (stop - 1) * step + 1, step)
            out[(*whole, to)] = x[(*whole, slice(start, stop))]
        x = out
    return x
