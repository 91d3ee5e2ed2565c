"""Dimensions of length 1: dropping them, and inserting new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import MOST_DIMENSIONS, ArgumentValueError, Call, Choose, ShapedArray, get_aval
from lawful.ops._shape.reshape import broadcast_in_dim, reshape
from lawful.ops._support.eager import is_eager_array
from lawful.ops._support.structural import Shape, canonical_axes, check_sizes, static_integers, strong, structural

__all__ = ["expand_dims", "squeeze", "squeeze_p"]


def squeeze(array: Any, dimensions: Any) -> Any:
    """Returns ``array`` without some of its dimensions of length 1.

    Args:
      array: an array.
      dimensions: which to drop, counted from the end if negative.

    Raises:
      ArgumentValueError: one of them has another length, or does not exist.

    >>> squeeze(np.ones((1, 3, 1)), (0,)).shape
    (3, 1)

    Source: ``jax.lax.squeeze``.
    """
    eager = is_eager_array(array)
    shape = array.shape if eager else get_aval(array).shape
    dimensions = tuple(sorted(canonical_axes("squeeze", dimensions, len(shape))))
    new_sizes = _infer_squeeze(shape, dimensions=dimensions)
    if not dimensions:
        return array if eager else strong(array)
    return array.reshape(new_sizes) if eager else squeeze_p.bind(array, dimensions=dimensions)


def _infer_squeeze(operand: Shape, *, dimensions: Shape) -> Shape:
    if any(not 0 <= dim < len(operand) or operand[dim] != 1 for dim in dimensions):
        raise ArgumentValueError(
            f"squeeze: expected dimensions of length 1, got {dimensions} of the shape {operand}; "
            "drop others by indexing or by a reduction"
        )
    return tuple(size for dim, size in enumerate(operand) if dim not in dimensions)


def _batch_squeeze(x: Any, dim: int, *, dimensions: Shape) -> tuple[Any, int]:
    shifted = tuple(dropped + (dropped >= dim) for dropped in dimensions)
    return squeeze_p.bind(x, dimensions=shifted), dim - sum(dropped < dim for dropped in shifted)


def _sample_squeeze(choose: Choose) -> Call:
    shape = list(choose.shape())
    dimensions = tuple(dim for dim in range(len(shape)) if choose.one_of((True, False)))
    for dim in dimensions:
        shape[dim] = 1
    return (ShapedArray(tuple(shape), choose.dtype("fiubc")),), {"dimensions": dimensions}


squeeze_p = structural(
    "squeeze",
    compute=lambda x, *, dimensions: x.squeeze(dimensions),
    infer=_infer_squeeze,
    inverse=lambda ct, aval, *, dimensions: reshape(ct, aval.shape),
    batch=_batch_squeeze,
    lower=lambda ctx, x, *, dimensions: ctx.hlo.reshape(ctx.tensor_type(ctx.avals_out[0]), x),
    sample=_sample_squeeze,
    reference=lambda x, *, dimensions: np.squeeze(x, dimensions),
)


def expand_dims(array: Any, dimensions: Any) -> Any:
    """Returns ``array`` with new dimensions of length 1.

    Args:
      array: an array.
      dimensions: where in the result's shape they stand, counted from its end if negative.

    Raises:
      ArgumentValueError: one of them is outside of the result's shape, or repeated, or there are more than 64.

    >>> expand_dims(np.ones(3), (0, -1)).shape
    (1, 3, 1)

    Source: ``jax.lax.expand_dims``.
    """
    dimensions = static_integers("expand_dims", "dimensions", dimensions)
    sizes = array.shape if is_eager_array(array) else get_aval(array).shape
    ndim = len(sizes) + len(dimensions)
    new = set(canonical_axes("expand_dims", dimensions, ndim))
    kept = tuple(dim for dim in range(ndim) if dim not in new)
    shape = [1] * ndim
    for size, dim in zip(sizes, kept, strict=True):
        shape[dim] = size
    if ndim > MOST_DIMENSIONS:
        check_sizes("expand_dims", tuple(shape))
    # A broadcast is batched without a transposition; eagerly a reshape is cheaper.
    return reshape(array, tuple(shape)) if is_eager_array(array) else broadcast_in_dim(array, tuple(shape), kept)
