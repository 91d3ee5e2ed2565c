"""Dimension numbers: the roles of the dimensions of a convolution's operands and result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lawful.core import ArgumentTypeError, InvalidArgumentError
from lawful.ops._support.structural import Shape, static_integers

__all__ = ["ConvDimensionNumbers", "conv_dimension_numbers"]

#: The parameter ``dimension_numbers``: `ConvDimensionNumbers` as a tuple.
Specs = tuple[Shape, Shape, Shape]


class ConvDimensionNumbers(NamedTuple):
    """The positions of the dimensions of a convolution.

    Attributes:
      lhs_spec: those of the batch, of the features and of each spatial dimension of the first operand.
      rhs_spec: those of the output features, of the input features and of each spatial dimension of the kernel.
      out_spec: those of the batch, of the features and of each spatial dimension of the result.

    >>> conv_dimension_numbers((1, 5, 5, 3), (2, 2, 3, 4), ("NHWC", "HWIO", "NHWC")).lhs_spec
    (0, 3, 1, 2)

    Source: ``jax.lax.ConvDimensionNumbers``.
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


_LETTERS = (("N", "C"), ("O", "I"), ("N", "C"))


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Returns the dimension numbers of a convolution, of any notation.

    Args:
      lhs_shape: the shape of the first operand.
      rhs_shape: the shape of the kernel.
      dimension_numbers: None for batch, features and spatial dimensions in this order, and output features, input
        features, spatial dimensions of the kernel; three strings such as ``("NHWC", "HWIO", "NHWC")`` with ``N``
        for the batch, ``C`` for features, ``O`` and ``I`` for output and input features, and any other letters for
        the spatial dimensions, in the order in which the kernel has them; or three sequences of integers, such as
        `ConvDimensionNumbers`.

    Raises:
      ArgumentTypeError: they are not such, or do not fit the shapes.

    >>> conv_dimension_numbers((1, 5, 5, 3), (2, 2, 3, 4), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))

    Source: ``jax.lax.conv_dimension_numbers``.
    """
    ndim = len(lhs_shape)
    if ndim != len(rhs_shape) or ndim < 2:
        raise InvalidArgumentError(
            "conv_general_dilated: expected two arrays with as many dimensions, at least two, got the shapes "
            f"{tuple(lhs_shape)} and {tuple(rhs_shape)}; give both a batch or output dimension and one of features"
        )
    if dimension_numbers is None:
        order = tuple(range(ndim))
        return ConvDimensionNumbers(order, order, order)
    if not isinstance(dimension_numbers, list | tuple) or len(dimension_numbers) != 3:
        raise ArgumentTypeError(
            f"conv_general_dilated: expected three dimension_numbers, got {dimension_numbers!r}; give those of lhs, "
            "rhs and the result, such as ('NHWC', 'HWIO', 'NHWC')"
        )
    if all(isinstance(spec, str) for spec in dimension_numbers):
        specs = _positions_of_letters(tuple(dimension_numbers))
    else:
        lhs, rhs, out = (static_integers("conv_general_dilated", "dimension_numbers", x) for x in dimension_numbers)
        specs = lhs, rhs, out
    if any(sorted(spec) != list(range(ndim)) for spec in specs):
        raise ArgumentTypeError(
            f"conv_general_dilated: expected dimension_numbers that name each of {ndim} dimensions once, got "
            f"{dimension_numbers!r} for the shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}; give {ndim} of each"
        )
    return ConvDimensionNumbers(*specs)


def _positions_of_letters(specs: tuple[str, ...]) -> Specs:
    for spec, letters in zip(specs, _LETTERS, strict=True):
        if len(set(spec)) < len(spec) or not set(letters) <= set(spec):
            raise ArgumentTypeError(
                f"conv_general_dilated: expected dimension_numbers with {letters[0]!r}, {letters[1]!r} and other "
                f"letters once each, got {spec!r} of {specs}; correct it"
            )
    spatial = [frozenset(spec) - frozenset(letters) for spec, letters in zip(specs, _LETTERS, strict=True)]
    if len(set(spatial)) > 1:
        raise ArgumentTypeError(
            f"conv_general_dilated: expected dimension_numbers with the same spatial letters, got {specs}; name the "
            "dimensions that belong together alike"
        )
    order = [letter for letter in specs[1] if letter in spatial[1]]
    lhs, rhs, out = (
        tuple([spec.index(letter) for letter in (*letters, *order)])
        for spec, letters in zip(specs, _LETTERS, strict=True)
    )
    return lhs, rhs, out
