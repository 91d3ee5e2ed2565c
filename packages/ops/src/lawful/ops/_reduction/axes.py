"""Helpers for the axes of reductions: typing, batching and samples."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentTypeError, Choose, Primitive, ShapedArray
from lawful.ops._shape.reshape import broadcast_in_dim

Shape = tuple[int, ...]


def kept_axes(ndim: int, axes: Shape) -> Shape:
    """Returns the dimensions that are not reduced."""
    return tuple(axis for axis in range(ndim) if axis not in axes)


def check_axes(name: str, aval: ShapedArray, axes: Shape) -> None:
    """Raises ArgumentTypeError if a primitive's ``axes`` are not different dimensions of its operand."""
    if len(set(axes)) < len(axes) or not set(axes) <= set(range(aval.ndim)):
        raise ArgumentTypeError(
            f"{name}_p: expected axes that are different and in 0 to {aval.ndim - 1}, got {axes} for {aval}; "
            f"call lawful.ops.{name}, which takes negative axes too"
        )


def batch_reduced(primitive: Primitive, x: Any, dim: int, axes: Shape, **params: Any) -> tuple[Any, int]:
    """Applies a primitive that removes ``axes`` to an array with one more dimension: returns ``(out, out_dim)``."""
    shifted = tuple([axis + (axis >= dim) for axis in axes])
    return primitive.bind(x, axes=shifted, **params), dim - len([axis for axis in axes if axis < dim])


def sample_axes(choose: Choose, ndim: int) -> Shape:
    """Draws a subset of the dimensions."""
    return tuple(axis for axis in range(ndim) if choose.one_of((True, False)))


def repeat(x: Any, aval: ShapedArray, axes: Shape) -> Any:
    """Broadcasts a reduction of an operand over ``axes`` back to the operand's shape."""
    return broadcast_in_dim(x, aval.shape, kept_axes(aval.ndim, axes))
