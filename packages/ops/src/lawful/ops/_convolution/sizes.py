"""The lengths of a convolution's dimensions, and checks of its arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lawful.core import ArgumentValueError, record
from lawful.ops._convolution.dimension_numbers import Specs
from lawful.ops._convolution.sliding_window import Pads, dilated, padtype_to_pads
from lawful.ops._support.structural import Shape, static_integers


def spatial_sizes(shape: Sequence[int], spec: Sequence[int]) -> Shape:
    return tuple([shape[dim] for dim in spec[2:]])


def check_steps(count: int, strides: Shape, lhs_dilation: Shape, rhs_dilation: Shape) -> None:
    for name, steps in (("window_strides", strides), ("lhs_dilation", lhs_dilation), ("rhs_dilation", rhs_dilation)):
        if len(steps) != count or any(step < 1 for step in steps):
            raise ArgumentValueError(
                f"conv_general_dilated: expected {name} of at least 1 for each of {count} spatial dimensions, got "
                f"{steps}; give {count} positive integers"
            )


def conv_pads(padding: Any, lhs: Shape, rhs: Shape, strides: Shape, rhs_dilation: Shape) -> Pads:
    if isinstance(padding, str):
        window = [dilated(size, step) for size, step in zip(rhs, rhs_dilation, strict=True)]
        return tuple(padtype_to_pads(lhs, window, strides, padding))
    try:
        pairs = [static_integers("conv_general_dilated", "an entry of padding", pair) for pair in padding]
    except TypeError as error:
        raise ArgumentValueError(
            f"conv_general_dilated: expected 'VALID', 'SAME', 'SAME_LOWER' or pairs of integers as padding, got "
            f"{padding!r}; give a pair for each spatial dimension"
        ) from error
    if len(pairs) != len(lhs) or any(len(pair) != 2 for pair in pairs):
        raise ArgumentValueError(
            f"conv_general_dilated: expected a pair as padding for each of {len(lhs)} spatial dimensions, got "
            f"{padding!r}; give {len(lhs)} pairs (low, high)"
        )
    return tuple([(low, high) for low, high in pairs])


@record
class ConvSizes:
    """The lengths of a convolution's dimensions.

    Attributes:
      groups: the number of groups, of features or of the batch.
      batch: the batch of the result; that of each group, if the batch is divided.
      inputs: the input features of each group.
      outputs: the output features of each group.
      spatial: the spatial dimensions of the result.
      kernel: the spatial dimensions of the kernel.
    """

    groups: int
    batch: int
    inputs: int
    outputs: int
    spatial: Shape
    kernel: Shape

    @property
    def is_zero(self) -> bool:
        """Whether the result is empty, or all of its sums are."""
        return not math.prod((self.batch, self.outputs * self.groups, self.inputs, *self.spatial, *self.kernel))

    def result(self, out_spec: Shape) -> Shape:
        """Returns the shape of the result."""
        sizes = (self.batch, self.groups * self.outputs, *self.spatial)
        return tuple([sizes[out_spec.index(dim)] for dim in range(len(sizes))])


def conv_sizes(
    lhs: Shape,
    rhs: Shape,
    *,
    window_strides: Shape,
    padding: Pads,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: Specs,
    feature_group_count: int,
    batch_group_count: int,
    **_: Any,
) -> ConvSizes:
    """Checks the shapes of the operands and returns the lengths of all dimensions.

    Raises:
      ArgumentValueError: they do not fit.
    """
    where = f"for the shapes {lhs} and {rhs}"
    lhs_spec, rhs_spec = dimension_numbers[:2]
    if min(feature_group_count, batch_group_count) != 1 or max(feature_group_count, batch_group_count) < 1:
        raise ArgumentValueError(
            f"conv_general_dilated: expected groups of features or of the batch, got {feature_group_count=} and "
            f"{batch_group_count=}; let one be 1 and the other positive"
        )
    groups = max(feature_group_count, batch_group_count)
    batch, features = lhs[lhs_spec[0]], lhs[lhs_spec[1]]
    outputs, inputs = rhs[rhs_spec[0]], rhs[rhs_spec[1]]
    if batch % batch_group_count or features != inputs * feature_group_count or outputs % groups:
        raise ArgumentValueError(
            f"conv_general_dilated: expected a kernel with lhs features / feature_group_count = {features} / "
            f"{feature_group_count} input features, and a batch and output features that are multiples of the groups, "
            f"got {inputs} input features, {outputs} output features, a batch of {batch}, {batch_group_count=} "
            f"{where}; correct dimension_numbers or the groups"
        )
    spatial = []
    for i, (size, window) in enumerate(zip(spatial_sizes(lhs, lhs_spec), spatial_sizes(rhs, rhs_spec), strict=True)):
        padded = dilated(size, lhs_dilation[i]) + sum(padding[i])
        if padded < 0:
            raise ArgumentValueError(
                f"conv_general_dilated: expected to drop at most the {dilated(size, lhs_dilation[i])} elements of "
                f"spatial dimension {i}, got padding={padding} {where}; drop fewer"
            )
        spatial.append(max(0, (padded - dilated(window, rhs_dilation[i])) // window_strides[i] + 1))
    return ConvSizes(
        groups, batch // batch_group_count, inputs, outputs // groups, tuple(spatial), spatial_sizes(rhs, rhs_spec)
    )
