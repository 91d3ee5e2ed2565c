"""Positions of the elements of windows: as arrays for NumPy, and as index vectors for StableHLO."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import ShapedArray, cached_function, record
from lawful.ops._indexing.gather_scatter.windows import Windows
from lawful.ops._support.structural import Shape


@record
class Layout:
    """The layout of the elements of windows in NumPy arrays, for any indices.

    Attributes:
      partial: the dimensions of the operand that windows do not cover.
      full: the dimensions that windows cover, in which no position is looked up.
      order: ``partial`` and ``full``.
      restored: the permutation from ``order`` to the dimensions of the operand.
      upper: for each component of an index vector the last position at which a window is inside.
      columns: for each of ``partial`` the component of the index vector at which windows begin, or None.
      steps: for each of ``partial`` the offsets from there: an array that broadcasts to ``looked_up``, or None.
      batch: the shape of the array of windows, with a 1 for each dimension of ``partial`` that windows have.
      looked_up: the shape of all positions: ``(*batch, *partial windows)``.
      shape: the shape of the windows with the dimensions ``(*batch, *partial windows, *full windows)``.
      axes: for each dimension of a gather's result, its position in ``shape``.
      inverse_axes: the inverse of ``axes``.
      width: how many elements the dimensions ``full`` have.
      is_in_order: whether ``order`` and ``axes`` change nothing.
    """

    partial: Shape
    full: Shape
    order: Shape
    restored: Shape
    upper: Any
    columns: tuple[int | None, ...]
    steps: tuple[Any, ...]
    batch: Shape
    looked_up: Shape
    shape: Shape
    axes: Shape
    inverse_axes: Shape
    width: int
    is_in_order: bool


@cached_function("window layouts", 4096)
def layout(name: str, windows: Windows) -> Layout:
    """Returns the layout of windows; raises ArgumentTypeError, in the name of an op, if they are not well formed."""
    windows.check(name)
    _, _, index_map, batching, index_batching = windows.numbers
    kept, batch = windows.window_dims, windows.batch
    full = tuple([dim for dim in kept if windows.sizes[dim] == windows.operand[dim]])
    partial = tuple([dim for dim in range(len(windows.operand)) if dim not in full])
    window = [dim for dim in kept if dim not in full]
    ndim = len(batch) + len(window)
    steps: list[Any] = []
    for dim in partial:
        step = None
        if dim in batching:
            step = _along(index_batching[batching.index(dim)], ndim, windows.operand[dim])
        if dim in window:
            step = _along(len(batch) + window.index(dim), ndim, windows.sizes[dim])
        steps.append(step)
    window_axes = {dim: len(batch) + position for position, dim in enumerate([*window, *full])}
    offsets, counted = iter(kept), iter(range(len(batch)))
    axes = tuple(
        [
            window_axes[next(offsets)] if dim in windows.numbers.offset_dims else next(counted)
            for dim in range(len(batch) + len(kept))
        ]
    )
    looked_up = (*batch, *[windows.sizes[dim] for dim in window])
    order = partial + full
    return Layout(
        partial=partial,
        full=full,
        order=order,
        restored=_inverse(order),
        upper=np.array(windows.upper, np.int64),
        columns=tuple([index_map.index(dim) if dim in index_map else None for dim in partial]),
        steps=tuple(steps),
        batch=batch + (1,) * len(window),
        looked_up=looked_up,
        shape=(*looked_up, *[windows.sizes[dim] for dim in full]),
        axes=axes,
        inverse_axes=_inverse(axes),
        width=math.prod([windows.operand[dim] for dim in full]),
        is_in_order=order == tuple(range(len(order))) and axes == tuple(range(len(axes))),
    )


def _inverse(order: Shape) -> Shape:
    """Returns the inverse of a permutation."""
    return tuple([order.index(i) for i in range(len(order))])


def reads_rows(layout: Layout) -> bool:
    """Returns whether each window is a row: one position of one dimension, and all of the others, as in numpy.take."""
    return layout.columns == (0,) and layout.steps[0] is None


def rows_inside(layout: Layout, indices: Any) -> Any:
    """Returns the flat positions of windows that are rows; None if one is outside, or the dtype is not int64."""
    rows = indices.reshape(-1)
    if rows.dtype == np.int64 and rows.size:
        largest = np.maximum.reduce(rows.view(np.uint64))  # a negative number is a large one
        return rows if largest <= layout.upper.item(0) else None
    return None


def positions(layout: Layout, indices: Any, *, clip: bool) -> tuple[list[Any], Any]:
    """Returns the positions of the elements of windows in a NumPy array, and which windows are inside.

    Args:
      layout: the layout of the windows.
      indices: integers, of any dtype.
      clip: whether windows that are partly outside are moved inside.

    Returns:
      For each dimension of ``layout.partial`` a flat array of positions, one for every window and position in it. And
      booleans of the shape of the batch of windows that say which are inside; None if all are, or have been moved.
    """
    starts = _signed(indices)
    clipped = np.minimum(np.maximum(starts, 0), layout.upper)
    inside = None
    if not clip:
        same = clipped == starts
        inside = None if same.all() else same.all(axis=-1)
    found = []
    for column, step in zip(layout.columns, layout.steps, strict=True):
        where: Any = np.int64(0) if column is None else clipped[..., column].reshape(layout.batch)
        where = where if step is None else where + step
        found.append((where if where.shape == layout.looked_up else np.broadcast_to(where, layout.looked_up)).ravel())
    return found, inside


def _signed(indices: Any) -> Any:
    """Returns indices as int64, clamped to its largest value."""
    indices = np.asarray(indices)
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64, copy=False)


def _along(axis: int, ndim: int, size: int) -> Any:
    return np.arange(size).reshape([size if dim == axis else 1 for dim in range(ndim)])


# Lowering


def lowered_indices(ctx: Any, windows: Windows, indices: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
    """Returns indices as int32, or as int64 if positions of the operand need it, and their type."""
    dtype = aval.dtype
    if dtype == np.uint64:  # larger values than int64 holds are outside in any case
        most = ctx.full(aval, np.iinfo(np.int64).max)
        indices = ctx.hlo.minimum(indices, most)
    fits = dtype.itemsize < 4 or dtype == np.int32
    small = fits and max(windows.operand, default=0) <= np.iinfo(np.int32).max
    wide = aval.update(dtype=np.int32 if small else np.int64, weak_type=False)
    return (indices if dtype == wide.dtype else ctx.hlo.convert(ctx.tensor_type(wide), indices)), wide


def lowered_bounds(ctx: Any, windows: Windows, aval: ShapedArray) -> tuple[Any, Any]:
    """Returns the first and last positions at which windows are inside, as arrays of the type of the indices."""
    upper = ctx.constant(np.array(windows.upper, aval.dtype))
    last = ctx.hlo.broadcast_in_dim(ctx.tensor_type(aval), upper, ctx.i64_array((aval.ndim - 1,)))
    return ctx.zeros(aval), last
