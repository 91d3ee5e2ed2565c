"""Where the elements of windows are: as arrays of positions for NumPy, and as index vectors for StableHLO."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ShapedArray, record
from lawful.ops._structural import Shape
from lawful.ops._windows import Windows


@record
class Positions:
    """Where the elements of windows are in a NumPy array.

    Attributes:
      partial: the dimensions of the operand that windows do not cover.
      full: those that they cover, in which there is nothing to look up.
      index: for each of ``partial`` an array of positions; one for every window and position in it.
      inside: which windows are inside, or None if they have all been moved there.
      shape: the shape of the windows with the dimensions ``(*batch, *partial windows, *full windows)``.
      axes: for each dimension of the windows, as gather gives them, its place in ``shape``.
    """

    partial: Shape
    full: Shape
    index: tuple[Any, ...]
    inside: Any
    shape: Shape
    axes: Shape


def positions(windows: Windows, indices: Any, *, clip: bool) -> Positions:
    """Returns where the elements of windows are.

    Args:
      windows: the windows.
      indices: integers, of any dtype.
      clip: whether windows that are partly outside are all moved inside; if not, it is said which are inside.
    """
    _, _, index_map, batching, index_batching = windows.numbers
    kept, batch = windows.window_dims, windows.batch
    full = tuple([dim for dim in kept if windows.sizes[dim] == windows.operand[dim]])
    partial = tuple([dim for dim in range(len(windows.operand)) if dim not in full])
    window = [dim for dim in kept if dim not in full]
    starts = _signed(indices)
    clipped = np.clip(starts, 0, np.array(windows.upper, np.int64))
    inside = None if clip else (clipped == starts).all(axis=-1)
    ndim = len(batch) + len(window)
    shape = (*batch, *[windows.sizes[dim] for dim in window])
    index = []
    for dim in partial:
        where: Any = np.int64(0)
        if dim in index_map:
            where = clipped[..., index_map.index(dim)].reshape(batch + (1,) * len(window))
        if dim in batching:
            where = where + _along(index_batching[batching.index(dim)], ndim, windows.operand[dim])
        if dim in window:
            where = where + _along(len(batch) + window.index(dim), ndim, windows.sizes[dim])
        index.append(np.broadcast_to(where, shape).reshape(-1))
    places = {dim: len(batch) + place for place, dim in enumerate([*window, *full])}
    offsets, counted = iter(kept), iter(range(len(batch)))
    axes = tuple(
        [
            places[next(offsets)] if dim in windows.numbers.offset_dims else next(counted)
            for dim in range(len(batch) + len(kept))
        ]
    )
    return Positions(partial, full, tuple(index), inside, (*shape, *[windows.sizes[dim] for dim in full]), axes)


def _signed(indices: Any) -> Any:
    """Returns indices as int64; those that are too large for it as its largest."""
    indices = np.asarray(indices)
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64)


def _along(axis: int, ndim: int, size: int) -> Any:
    return np.arange(size).reshape([size if dim == axis else 1 for dim in range(ndim)])


# Lowering


def lowered_indices(ctx: Any, windows: Windows, indices: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
    """Returns indices as int32 or int64 in which every position of the operand can be written, and their type."""
    dtype = aval.dtype
    if dtype == np.uint64:  # what int64 cannot hold is outside in any case
        most = ctx.full(aval, np.iinfo(np.int64).max)
        indices = ctx.hlo.minimum(indices, most)
    fits = dtype.itemsize < 4 or dtype == np.int32
    small = fits and max(windows.operand, default=0) <= np.iinfo(np.int32).max
    wide = aval.update(dtype=np.int32 if small else np.int64, weak_type=False)
    return (indices if dtype == wide.dtype else ctx.hlo.convert(ctx.tensor_type(wide), indices)), wide


def lowered_bounds(ctx: Any, windows: Windows, aval: ShapedArray) -> tuple[Any, Any]:
    """Returns the first and last position of windows that are inside, as arrays of the type of the indices."""
    upper = ctx.constant(np.array(windows.upper, aval.dtype))
    last = ctx.hlo.broadcast_in_dim(ctx.tensor_type(aval), upper, ctx.i64_array((aval.ndim - 1,)))
    return ctx.zeros(aval), last
