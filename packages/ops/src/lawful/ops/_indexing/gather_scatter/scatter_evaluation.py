"""Evaluation of scatters by NumPy, and their lowering to StableHLO."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import ShapedArray
from lawful.ops._indexing.gather_scatter.window_positions import (
    Layout,
    lowered_bounds,
    lowered_indices,
    positions,
    rows_inside,
)
from lawful.ops._indexing.gather_scatter.windows import DimensionNumbers, shifted, windows_of_updates


def write_windows(x: Any, indices: Any, updates: Any, of_windows: Layout, ufunc: np.ufunc | None, *, clip: bool) -> Any:
    """Returns a copy of an array with windows written into it, in the order of their indices."""
    found, inside = positions(of_windows, indices, clip=clip)
    out = np.array(x.transpose(of_windows.order), order="C")
    width = of_windows.width
    target = out.reshape(-1, width) if out.size else out.reshape(0, 1)
    rows = found[0] if found else np.zeros(math.prod(of_windows.looked_up), np.intp)
    for dim, index in zip(of_windows.partial[1:], found[1:], strict=True):
        rows = rows * x.shape[dim] + index
    written = updates.transpose(of_windows.inverse_axes).reshape(rows.size, width)
    if inside is not None:
        chosen = np.repeat(inside.reshape(-1), rows.size // max(inside.size, 1))
        rows, written = rows[chosen], written[chosen]
    if written.size and ufunc is None:
        target[rows] = written
    elif written.size:
        assert ufunc is not None
        _combine(target, rows, written, width, ufunc)
    return out.transpose(of_windows.restored)


def _combine(target: Any, rows: Any, written: Any, width: int, ufunc: np.ufunc) -> None:
    # ufunc.at is fastest in one dimension.
    elements = rows if width == 1 else (rows[:, np.newaxis] * width + np.arange(width)).reshape(-1)
    ufunc.at(target.reshape(-1), elements, written.reshape(-1))


def write_rows(x: Any, indices: Any, updates: Any, of_windows: Layout, ufunc: np.ufunc, *, clip: bool) -> Any:
    """Returns what `write_windows` does, for windows that are rows, and dimensions in order."""
    rows = rows_inside(of_windows, indices) if updates.size else None
    if rows is None:
        return write_windows(x, indices, updates, of_windows, ufunc, clip=clip)
    out = x.copy()
    _combine(out, rows, updates, of_windows.width, ufunc)
    return out


def lower_scatter(
    ctx: Any,
    x: Any,
    indices: Any,
    updates: Any,
    hlo: str | None,
    *,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: str,
) -> Any:
    """Returns the MLIR value of a scatter that combines by a StableHLO op, or replaces elements if that is None."""
    aval, index_aval, updates_aval = ctx.avals_in
    if not updates_aval.size:
        return x
    windows = windows_of_updates(aval.shape, index_aval.shape, updates_aval.shape, dimension_numbers)
    indices, index_aval = lowered_indices(ctx, windows, indices, index_aval)
    offset, inserted, index_map, batching, index_batching = dimension_numbers
    whole = ctx.tensor_type(aval)
    if not index_map:
        # XLA (jaxlib 0.12) fails on empty index vectors: they get one component, a position in a new dimension.
        aval = aval.update(shape=(1, *aval.shape))
        x = ctx.hlo.reshape(ctx.tensor_type(aval), x)
        index_aval = index_aval.update(shape=(*index_aval.shape[:-1], 1))
        indices = ctx.zeros(index_aval)
        inserted, index_map, batching = (0, *shifted(inserted)), (0,), shifted(batching)
    elif mode == "clip":
        first, last = lowered_bounds(ctx, windows, index_aval)
        indices = ctx.hlo.clamp(first, indices, last)
    numbers = ctx.hlo.ScatterDimensionNumbers.get(
        update_window_dims=list(offset),
        inserted_window_dims=list(inserted),
        input_batching_dims=list(batching),
        scatter_indices_batching_dims=list(index_batching),
        scattered_dims_to_operand_dims=list(index_map),
        index_vector_dim=index_aval.ndim - 1,
    )

    def scatter_into(x: Any, updates: Any, dtype: Any, hlo: str | None = hlo) -> Any:
        op = ctx.hlo.ScatterOp(
            [ctx.tensor_type(aval.update(dtype=dtype, weak_type=False))],
            [x],
            indices,
            [updates],
            numbers,
            indices_are_sorted=ctx.ir.BoolAttr.get(indices_are_sorted),
            unique_indices=ctx.ir.BoolAttr.get(unique_indices),
        )
        scalar = ctx.tensor_type(ShapedArray((), dtype))
        with ctx.block(op.regions[0], [scalar, scalar]) as (there, update):
            ctx.hlo.return_([update if hlo is None else getattr(ctx.hlo, hlo)(there, update)])
        return op.results[0]

    if aval.dtype == np.complex128 and hlo in ("add", "subtract") and ctx.platform != "cpu":
        # A GPU has no atomic operation of 16 bytes.
        parts = [scatter_into(part(x), part(updates), np.float64) for part in (ctx.hlo.real, ctx.hlo.imag)]
        out = ctx.hlo.complex(*parts)
    elif hlo is None and not unique_indices and ctx.platform != "cpu":
        out = _scatter_last(ctx, x, aval, updates, updates_aval, offset, scatter_into)
    else:
        out = scatter_into(x, updates, aval.dtype)
    return out if out.type == whole else ctx.hlo.reshape(whole, out)


def _scatter_last(
    ctx: Any, x: Any, aval: ShapedArray, updates: Any, updates_aval: ShapedArray, offset: Sequence[int],
    scatter_into: Callable[[Any, Any, Any, str], Any],
) -> Any:  # fmt: skip
    """Returns ``x`` with elements replaced by the last update of each; a GPU writes them in any order.

    Updates are numbered in the order of NumPy's assignment. The greatest number that is scattered to an element chooses
    its update.
    """
    hlo, shape = ctx.hlo, updates_aval.shape
    order = [*(dim for dim in range(len(shape)) if dim not in offset), *offset]
    numbers_aval = updates_aval.update(dtype=np.dtype(np.int32 if updates_aval.size < 2**31 else np.int64))
    numbers, stride = ctx.full(numbers_aval, 0), 1
    for dim in reversed(order):
        position = hlo.iota(ctx.tensor_type(numbers_aval), ctx.i64(dim))
        numbers = hlo.add(numbers, hlo.multiply(position, ctx.full(numbers_aval, stride)))
        stride *= shape[dim]
    chosen_aval = aval.update(dtype=numbers_aval.dtype, weak_type=False)
    chosen = scatter_into(ctx.full(chosen_aval, -1), numbers, numbers_aval.dtype, "maximum")
    flat = updates_aval.update(shape=(updates_aval.size,), weak_type=False)
    values = hlo.reshape(ctx.tensor_type(flat), hlo.transpose(updates, ctx.i64_array(order)))
    column = hlo.reshape(ctx.tensor_type(chosen_aval.update(shape=(*aval.shape, 1))), chosen)
    first = hlo.GatherDimensionNumbers.get(
        offset_dims=[], collapsed_slice_dims=[0], operand_batching_dims=[], start_indices_batching_dims=[],
        start_index_map=[0], index_vector_dim=aval.ndim,
    )  # fmt: skip
    taken = hlo.gather(values, column, first, ctx.i64_array([1]))  # the number -1 counts as 0
    return hlo.select(ctx.compare(chosen, ctx.zeros(chosen_aval), "GE"), taken, x)
