"""Windows as features, convolutions with a kernel for each position, and the shapes of results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import get_aval
from lawful.ops._convolution.convolution import conv_general_dilated
from lawful.ops._convolution.dimension_numbers import ConvDimensionNumbers, conv_dimension_numbers
from lawful.ops._convolution.sizes import conv_pads, conv_sizes, spatial_sizes
from lawful.ops._products.dot_general import dot_general
from lawful.ops._shape.reshape import transpose

__all__ = [
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_general_shape_tuple",
    "conv_shape_tuple",
    "conv_transpose_shape_tuple",
]


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Returns the windows that a convolution multiplies with its kernel, each as the features of a position.

    Args:
      lhs: as for `conv_general_dilated`.
      filter_shape: the lengths of a window.
      window_strides: as for `conv_general_dilated`.
      padding: the same.
      lhs_dilation: the same.
      rhs_dilation: the same.
      dimension_numbers: the same; those of a kernel too.
      precision: the same.
      preferred_element_type: the same.

    Returns:
      The result of the convolution, whose features are those of ``lhs``, and of each one the elements of the window.

    >>> conv_general_dilated_patches(np.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID")
    array([[[0., 1., 2.],
            [1., 2., 3.]]])

    Source: ``jax.lax.conv_general_dilated_patches``.
    """
    window, aval = tuple(filter_shape), get_aval(lhs)
    kernel_shape = (1, 1, *window)
    numbers = conv_dimension_numbers(aval.shape, kernel_shape, dimension_numbers)
    features = aval.shape[numbers.lhs_spec[1]]
    count = math.prod(window)
    # A kernel of the identity picks each element of the window.
    kernel = np.eye(count, dtype=aval.dtype).reshape(count, 1, *window)
    kernel = np.tile(kernel, (features, *[1] * (len(window) + 1)))
    kernel = np.moveaxis(kernel, range(kernel.ndim), numbers.rhs_spec)
    return conv_general_dilated(
        lhs,
        kernel,
        window_strides,
        padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=numbers,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """Returns a convolution whose kernel is another one at each position of the result.

    Args:
      lhs: as for `conv_general_dilated`.
      rhs: the kernels: output features, input features times elements of the window, and the spatial dimensions of
        the result, in the order of ``dimension_numbers``.
      window_strides: as for `conv_general_dilated`.
      padding: the same.
      filter_shape: the lengths of a window.
      lhs_dilation: as for `conv_general_dilated`.
      rhs_dilation: the same.
      dimension_numbers: the same.
      precision: the same.

    >>> kernels = np.array([[[1.0, 1.0], [1.0, 5.0]]])
    >>> conv_general_dilated_local(np.arange(3.0).reshape(1, 1, 3), kernels, (1,), "VALID", (2,))
    array([[[ 1., 11.]]])

    Source: ``jax.lax.conv_general_dilated_local``.
    """
    numbers = conv_dimension_numbers(get_aval(lhs).shape, get_aval(rhs).shape, dimension_numbers)
    first = tuple(range(len(numbers.lhs_spec)))
    patches = conv_general_dilated_patches(
        lhs,
        filter_shape,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        ConvDimensionNumbers(numbers.lhs_spec, numbers.rhs_spec, first),
        precision,
    )
    kernels = transpose(rhs, tuple(numbers.rhs_spec))
    spatial = first[2:]
    out = dot_general(kernels, patches, (((1,), (1,)), (spatial, spatial)), precision=precision)
    # Spatial dimensions come first, then output features, then the batch.
    order = [0] * len(first)
    count = len(spatial)
    for axis, dim in zip(numbers.out_spec, (count + 1, count, *range(count)), strict=True):
        order[axis] = dim
    return transpose(out, tuple(order))


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """Returns the shape of a convolution. Source: ``jax.lax.conv_general_shape_tuple``.

    >>> conv_general_shape_tuple((1, 5, 5, 3), (2, 2, 3, 4), (1, 1), "VALID", ("NHWC", "HWIO", "NHWC"))
    (1, 4, 4, 4)
    """
    lhs, rhs = tuple(lhs_shape), tuple(rhs_shape)
    numbers = conv_dimension_numbers(lhs, rhs, dimension_numbers)
    ones = (1,) * (len(lhs) - 2)
    strides = tuple(window_strides)
    pads = conv_pads(padding, spatial_sizes(lhs, numbers.lhs_spec), spatial_sizes(rhs, numbers.rhs_spec), strides, ones)
    sizes = conv_sizes(
        lhs,
        rhs,
        window_strides=strides,
        padding=pads,
        lhs_dilation=ones,
        rhs_dilation=ones,
        dimension_numbers=(tuple(numbers.lhs_spec), tuple(numbers.rhs_spec), tuple(numbers.out_spec)),
        feature_group_count=1,
        batch_group_count=1,
    )
    return sizes.result(tuple(numbers.out_spec))


def conv_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], strides: Sequence[int], pads: Any, batch_group_count: int = 1
) -> tuple[int, ...]:
    """Returns the shape of a convolution with batch and features in front. Source: ``jax.lax.conv_shape_tuple``.

    >>> conv_shape_tuple((1, 3, 5, 5), (4, 3, 2, 2), (1, 1), "VALID")
    (1, 4, 4, 4)
    """
    lhs = (lhs_shape[0] // batch_group_count, *lhs_shape[1:])
    return conv_general_shape_tuple(lhs, rhs_shape, strides, pads, None)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """Returns the shape of a transposed convolution. Source: ``jax.lax.conv_transpose_shape_tuple``.

    >>> conv_transpose_shape_tuple((1, 3, 5), (4, 3, 2), (2,), "VALID", None)
    (1, 4, 10)
    """
    numbers = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    lhs, rhs = (spatial_sizes(s, spec) for s, spec in ((lhs_shape, numbers.lhs_spec), (rhs_shape, numbers.rhs_spec)))
    if isinstance(padding, str):
        pads = [(0, 0) if padding == "VALID" else (k - 1, 0) for k in rhs]
        grown = {
            "SAME": [size * stride for size, stride in zip(lhs, window_strides, strict=True)],
            "VALID": [
                size * stride + max(k - stride, 0) for size, stride, k in zip(lhs, window_strides, rhs, strict=True)
            ],
        }
        spatial = grown[padding]
    else:
        pads = list(padding)
        spatial = [
            (size - 1) * stride + 1 + sum(pad) - k + 1
            for size, stride, pad, k in zip(lhs, window_strides, pads, rhs, strict=True)
        ]
    found = [lhs_shape[numbers.lhs_spec[0]], rhs_shape[numbers.rhs_spec[0]], *spatial]
    out = [0] * len(found)
    for axis, size in zip(numbers.out_spec, found, strict=True):
        out[axis] = size
    return tuple(out)
