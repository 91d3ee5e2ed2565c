"""Ops that select elements of an array by static positions, or reverse their order."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, Call, Choose, ShapedArray, get_aval
from lawful.ops._shape.joining import pad
from lawful.ops._support.eager import is_eager_array
from lawful.ops._support.structural import Shape, canonical_axes, canonical_axis, static_integers, strong, structural

__all__ = ["rev", "rev_p", "slice", "slice_in_dim", "slice_p"]

# Slices


def slice(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Any:
    """Returns the elements of ``operand`` between two corners.

    Args:
      operand: an array.
      start_indices: for each dimension, the first index.
      limit_indices: for each dimension, the index before which it ends.
      strides: for each dimension, the step, at least 1; None for all 1.

    Raises:
      ArgumentTypeError: a corner is outside of the array, or they are in the wrong order.

    >>> slice(np.arange(10), (2,), (9,), (3,))
    array([2, 5, 8])

    Source: ``jax.lax.slice``.
    """
    start_indices = static_integers("slice", "start_indices", start_indices)
    limit_indices = static_integers("slice", "limit_indices", limit_indices)
    if strides is not None:
        strides = static_integers("slice", "strides", strides)
        if all(stride == 1 for stride in strides) and len(strides) == len(start_indices):
            strides = None
    eager = is_eager_array(operand)
    shape = operand.shape if eager else get_aval(operand).shape
    params = {"start_indices": start_indices, "limit_indices": limit_indices, "strides": strides}
    if _infer_slice(shape, **params) == shape:
        return operand if eager else strong(operand)
    return _compute_slice(operand, **params) if eager else slice_p.bind(operand, **params)


def slice_in_dim(operand: Any, start_index: Any, limit_index: Any, stride: int = 1, axis: int = 0) -> Any:
    """Returns the elements of ``operand`` between two indices of one dimension.

    Args:
      operand: an array.
      start_index: the first index, counted from the end if negative; None for the beginning.
      limit_index: the index before which it ends, counted from the end if negative; None for the end.
      stride: the step.
      axis: the dimension.

    Raises:
      ArgumentTypeError: an index is outside of the array.

    >>> slice_in_dim(np.arange(10), -3, None)
    array([7, 8, 9])

    Source: ``jax.lax.slice_in_dim``.
    """
    shape = get_aval(operand).shape
    axis = canonical_axis("slice_in_dim", axis, len(shape))
    size = shape[axis]
    start, limit = (
        default if index is None else operator.index(index) + (size if operator.index(index) < 0 else 0)
        for index, default in ((start_index, 0), (limit_index, size))
    )
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], limits[axis], strides[axis] = start, limit, operator.index(stride)
    return slice(operand, starts, limits, strides)


def _infer_slice(operand: Shape, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None) -> Shape:
    steps = (1,) * len(operand) if strides is None else strides
    if not len(operand) == len(start_indices) == len(limit_indices) == len(steps):
        raise ArgumentTypeError(
            f"slice: expected an index for each of the operand's {len(operand)} dimensions, got "
            f"start_indices={start_indices}, limit_indices={limit_indices}, strides={strides}; give as many of each"
        )
    sizes = []
    for size, start, limit, step in zip(operand, start_indices, limit_indices, steps, strict=True):
        if not 0 <= start <= limit <= size or step < 1:
            raise ArgumentTypeError(
                f"slice: expected 0 <= start <= limit <= length and a step of at least 1, got start_indices="
                f"{start_indices}, limit_indices={limit_indices}, strides={strides} of the shape {operand}; "
                "index with x[...] for NumPy's rules"
            )
        sizes.append(-(-(limit - start) // step))
    return tuple(sizes)


def _compute_slice(x: Any, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None) -> Any:
    steps = (1,) * len(start_indices) if strides is None else strides
    # The ellipsis makes the result for a scalar an array too.
    return x[(*map(builtins.slice, start_indices, limit_indices, steps), ...)]


def _slice_of(aval: ShapedArray, **params: Any) -> Callable[[Any], Any]:
    """Returns the function that slices arrays of a type, with a precomputed index."""
    steps = (1,) * aval.ndim if params["strides"] is None else params["strides"]
    index = tuple(map(builtins.slice, params["start_indices"], params["limit_indices"], steps))
    return (lambda x: x[index]) if index else lambda x: np.asarray(x)


def _unslice(ct: Any, aval: ShapedArray, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None) -> Any:
    config = []
    steps = (1,) * aval.ndim if strides is None else strides
    for size, start, step, kept in zip(aval.shape, start_indices, steps, get_aval(ct).shape, strict=True):
        end = start + (kept - 1) * step + 1 if kept else start
        config.append((start, size - end, step - 1))
    return pad(ct, aval.dtype.type(0), config)


def _batch_slice(
    x: Any, dim: int, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None
) -> tuple[Any, int]:
    params = {
        "start_indices": _insert(start_indices, dim, 0),
        "limit_indices": _insert(limit_indices, dim, get_aval(x).shape[dim]),
        "strides": None if strides is None else _insert(strides, dim, 1),
    }
    return slice_p.bind(x, **params), dim


def _insert(values: tuple[Any, ...], position: int, value: Any) -> tuple[Any, ...]:
    return (*values[:position], value, *values[position:])


def _lower_slice(ctx: Any, x: Any, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None) -> Any:
    steps = (1,) * len(start_indices) if strides is None else strides
    return ctx.hlo.slice(x, *map(ctx.i64_array, (start_indices, limit_indices, steps)))


def _sample_slice(choose: Choose) -> Call:
    shape = choose.shape()
    start = tuple(choose.integer(0, size) for size in shape)
    limit = tuple(choose.integer(first, size) for first, size in zip(start, shape, strict=True))
    strides = tuple(choose.integer(1, 3) for _ in shape) if choose.one_of((True, False)) else None
    params = {"start_indices": start, "limit_indices": limit, "strides": strides}
    return (ShapedArray(shape, choose.dtype("fiubc")),), params


slice_p = structural(
    "slice",
    compute=_compute_slice,
    infer=_infer_slice,
    inverse=_unslice,
    batch=_batch_slice,
    lower=_lower_slice,
    sample=_sample_slice,
    reference=_compute_slice,
    specialise=_slice_of,
)

# The order of elements


def rev(operand: Any, dimensions: Any) -> Any:
    """Returns ``operand`` with the order of its elements reversed along some dimensions.

    Args:
      operand: an array.
      dimensions: which, counted from the end if negative.

    Raises:
      ArgumentValueError: one of them does not exist, or is repeated.

    >>> rev(np.array([[1, 2], [3, 4]]), (1,))
    array([[2, 1],
           [4, 3]])

    Source: ``jax.lax.rev``.
    """
    eager = is_eager_array(operand)
    dimensions = tuple(sorted(canonical_axes("rev", dimensions, operand.ndim if eager else get_aval(operand).ndim)))
    if not dimensions:
        return operand if eager else strong(operand)
    return np.flip(operand, dimensions) if eager else rev_p.bind(operand, dimensions=dimensions)


def _infer_rev(operand: Shape, *, dimensions: Shape) -> Shape:
    if len(set(dimensions)) < len(dimensions) or not set(dimensions) <= set(range(len(operand))):
        raise ArgumentValueError(
            f"rev: expected different dimensions below {len(operand)}, got {dimensions}; name each once"
        )
    return operand


def _batch_rev(x: Any, dim: int, *, dimensions: Shape) -> tuple[Any, int]:
    return rev_p.bind(x, dimensions=tuple(reversed_dim + (reversed_dim >= dim) for reversed_dim in dimensions)), dim


def _sample_rev(choose: Choose) -> Call:
    shape = choose.shape()
    dimensions = tuple(dim for dim in range(len(shape)) if choose.one_of((True, False)))
    return (ShapedArray(shape, choose.dtype("fiubc")),), {"dimensions": dimensions}


rev_p = structural(
    "rev",
    compute=lambda x, *, dimensions: np.flip(x, dimensions),
    infer=_infer_rev,
    inverse=lambda ct, aval, *, dimensions: rev(ct, dimensions),
    batch=_batch_rev,
    lower=lambda ctx, x, *, dimensions: ctx.hlo.reverse(x, ctx.i64_array(dimensions)),
    sample=_sample_rev,
    reference=lambda x, *, dimensions: np.flip(x, dimensions),
)
