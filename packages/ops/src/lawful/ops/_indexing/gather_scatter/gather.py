"""Gather: windows of an array, read at dynamic positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Declaration,
    Interval,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    get_aval,
    is_inexact,
)
from lawful.ops._indexing.gather_scatter.window_positions import (
    Layout,
    layout,
    lowered_bounds,
    lowered_indices,
    positions,
    reads_rows,
)
from lawful.ops._indexing.gather_scatter.windows import (
    DimensionNumbers,
    GatherDimensionNumbers,
    GatherScatterMode,
    Windows,
    check_indices,
    draw_windows,
    has_one_window,
    plain_dimension_numbers,
    shifted,
    window_start,
)
from lawful.ops._support.batch_dimensions import move_batch_dim
from lawful.ops._support.dtypes import highest, lowest
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.promotion import cast
from lawful.ops._support.structural import Shape, cotangent, static_integers, strong, zeros_of

__all__ = ["gather", "gather_p"]

gather_p = Primitive("gather", pure_rules=True)
gather_p.def_rule("operations", no_operations)


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Any,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Any:
    """Returns windows of ``operand`` that begin at the positions which index vectors name.

    Most programs index with ``x[...]``, which is made of this.

    Args:
      operand: an array.
      start_indices: integers, of which the last dimension is the index vector.
      dimension_numbers: how the dimensions belong together.
      slice_sizes: the shape of each window, a length for each dimension of the operand.
      unique_indices: a promise that windows do not overlap, which the derivative uses.
      indices_are_sorted: a promise that may make it faster.
      mode: what a window that is partly outside gives: ``"clip"`` moves it inside, ``"fill"`` gives ``fill_value``
        everywhere in it; ``"promise_in_bounds"``, the default, says that there is none.
      fill_value: by default NaN; of integers the smallest, of unsigned ones the largest, and True.

    Raises:
      ArgumentTypeError: the shapes and dimension numbers do not fit together, or the indices are not integers.
      ArgumentValueError: there is no such mode.

    >>> numbers = GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(), start_index_map=(0,))
    >>> gather(np.array([10, 11, 12, 13]), np.array([[2], [0]]), numbers, (2,))
    array([[12, 13],
           [10, 11]])

    Source: ``jax.lax.gather``.
    """
    chosen = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else GatherScatterMode.from_any(mode)
    operand, start_indices = strong(operand), strong(start_indices)
    check_indices("gather", get_aval(start_indices))
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=plain_dimension_numbers("gather", dimension_numbers),
        slice_sizes=static_integers("gather", "slice_sizes", slice_sizes),
        unique_indices=bool(unique_indices),
        indices_are_sorted=bool(indices_are_sorted),
        mode=chosen.value,
        fill_value=_plain_fill_value(get_aval(operand).dtype, fill_value) if chosen.value == "fill_or_drop" else None,
    )


def _plain_fill_value(dtype: np.dtype[Any], fill_value: Any) -> Any:
    """Returns a fill value as a Python scalar, converted to an array's dtype; None for the default."""
    if fill_value is None:
        return None
    aval = get_aval(fill_value)
    if aval.shape:
        raise ArgumentTypeError(f"gather: expected a number as fill_value, got {aval}; give one for all windows")
    value = cast(fill_value, dtype)
    return None if value != value and is_inexact(dtype) and value.real != value.real else value.item()


def _fill_value(dtype: np.dtype[Any], fill_value: Any) -> Any:
    if fill_value is not None:
        return np.asarray(fill_value).astype(dtype)
    if is_inexact(dtype):
        return np.asarray(np.nan).astype(dtype)
    return np.asarray(lowest(dtype) or highest(dtype))


def _windows(operand: Shape, indices: Shape, numbers: DimensionNumbers, sizes: Shape) -> Windows:
    return Windows(operand, indices, sizes, GatherDimensionNumbers(*numbers))


@gather_p.def_impl
def _impl(
    x: Any,
    indices: Any,
    *,
    dimension_numbers: DimensionNumbers,
    slice_sizes: Shape,
    mode: str,
    fill_value: Any,
    **_: Any,
) -> Any:
    x, indices = np.asarray(x), np.asarray(indices)
    of_windows = layout("gather", _windows(x.shape, indices.shape, dimension_numbers, slice_sizes))
    return _read(x, indices, of_windows, mode, fill_value)


def _read(x: Any, indices: Any, of_windows: Layout, mode: str, fill_value: Any) -> Any:
    index, inside = positions(of_windows, indices, clip=mode != "fill_or_drop")
    looked_up = x.transpose(of_windows.order)
    if len(index) == 1:
        out = looked_up.take(index[0], axis=0)
    elif index:
        out = looked_up[tuple(index)]
    else:
        out = np.repeat(looked_up[np.newaxis], math.prod(of_windows.batch), axis=0)
    out = out.reshape(of_windows.shape)
    if inside is not None:
        out[~inside] = _fill_value(x.dtype, fill_value)
    return out.transpose(of_windows.axes)


@gather_p.def_rule_as("numpy")
def _specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
    """Returns the function for operands of some types, with a precomputed layout of windows."""
    x, indices = avals
    impl, mode = gather_p.rule("impl"), params["mode"]
    if impl is not _impl or not x.shape:
        return partial(impl, **params)
    of_windows = layout("gather", _windows(x.shape, indices.shape, params["dimension_numbers"], params["slice_sizes"]))
    # Not for a result without dimensions, which NumPy would return as a scalar.
    if mode != "fill_or_drop" and reads_rows(of_windows) and of_windows.shape and indices.dtype.kind == "i":
        order, axes = of_windows.order, of_windows.axes
        if of_windows.is_in_order:
            return lambda x, indices: x.take(indices[..., 0], 0, None, "clip")
        return lambda x, indices: x.transpose(order).take(indices[..., 0], 0, None, "clip").transpose(axes)
    return partial(_read, of_windows=of_windows, mode=mode, fill_value=params["fill_value"])


@gather_p.def_abstract_eval
def _abstract_eval(
    x: ShapedArray, indices: ShapedArray, *, dimension_numbers: DimensionNumbers, slice_sizes: Shape, **_: Any
) -> ShapedArray:
    check_indices("gather", indices)
    windows = _windows(x.shape, indices.shape, dimension_numbers, slice_sizes)
    windows.check("gather")
    return ShapedArray(windows.gathered, x.dtype)


@gather_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    ans = gather_p.bind(*primals, **params)
    tangent = tangents[0]
    if type(tangent) is Zero:
        return ans, Zero(get_aval(ans).to_tangent_aval())
    return ans, gather_p.bind(tangent, primals[1], **{**params, "fill_value": _no_tangent(params["mode"])})


def _no_tangent(mode: str) -> Any:
    """Returns the fill value of the tangent: the fill value of the primal is a constant."""
    return 0 if mode == "fill_or_drop" else None


@gather_p.def_transpose
def _transpose(
    ct: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: DimensionNumbers,
    unique_indices: bool,
    indices_are_sorted: bool,
    mode: str,
    **_: Any,
) -> list[Any]:
    assert isinstance(x, UndefinedPrimal), "gather is linear in its operand"
    if type(ct) is Zero:
        return [Zero(x.aval), None]
    scattered = ops.scatter_add_p.bind(
        zeros_of(x.aval.update(weak_type=False)),
        indices,
        ct,
        dimension_numbers=dimension_numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    return [cotangent(scattered, x.aval), None]


@gather_p.def_batch
def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: DimensionNumbers,
    slice_sizes: Shape,
    unique_indices: bool,
    indices_are_sorted: bool,
    **params: Any,
) -> tuple[Any, int]:
    (x, indices), (dim, index_dim) = args, dims
    offset, collapsed, index_map, batching, index_batching = dimension_numbers
    if dim is not None:
        x = move_batch_dim(x, dim)
        size = get_aval(x).shape[0]
        collapsed, index_map, batching = shifted(collapsed), shifted(index_map), shifted(batching)
        slice_sizes = (size if index_dim is None else min(size, 1), *slice_sizes)
    offset = shifted(offset)
    if index_dim is None:
        offset = (0, *offset)  # each window is read from the whole batch
    else:
        indices = move_batch_dim(indices, index_dim)
        index_batching = shifted(index_batching)
    if dim is not None and index_dim is not None:
        batching, index_batching = (0, *batching), (0, *index_batching)
    if dim is None:  # windows of different elements of the batch may overlap
        unique_indices = indices_are_sorted = False
    out = gather_p.bind(
        x,
        indices,
        dimension_numbers=(offset, collapsed, index_map, batching, index_batching),
        slice_sizes=slice_sizes,
        unique_indices=unique_indices,
        # Index vectors are sorted within each batch element only.
        indices_are_sorted=indices_are_sorted and index_dim is None,
        **params,
    )
    return out, 0


@gather_p.def_lowering
def _lower(
    ctx: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: DimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    mode: str,
    fill_value: Any,
    **_: Any,
) -> Any:
    (aval, index_aval), (out,) = ctx.avals_in, ctx.avals_out
    if not out.size:
        return ctx.zeros(out)
    windows = _windows(aval.shape, index_aval.shape, dimension_numbers, slice_sizes)
    indices, index_aval = lowered_indices(ctx, windows, indices, index_aval)
    offset, collapsed, index_map, batching, index_batching = dimension_numbers
    numbers = ctx.hlo.GatherDimensionNumbers.get(
        offset_dims=list(offset),
        collapsed_slice_dims=list(collapsed),
        operand_batching_dims=list(batching),
        start_indices_batching_dims=list(index_batching),
        start_index_map=list(index_map),
        index_vector_dim=index_aval.ndim - 1,
    )
    sorted_attribute = ctx.ir.BoolAttr.get(indices_are_sorted)
    gathered = ctx.hlo.gather(x, indices, numbers, ctx.i64_array(slice_sizes), indices_are_sorted=sorted_attribute)
    if mode != "fill_or_drop" or not index_map:
        return gathered
    first, last = lowered_bounds(ctx, windows, index_aval)
    inside = ctx.hlo.and_(ctx.compare(indices, first, "GE"), ctx.compare(indices, last, "LE"))
    inside = ctx.reduce(inside, True, (index_aval.ndim - 1,), "and_")
    mask = ctx.tensor_type(out.update(dtype=np.bool_))
    inside = ctx.hlo.broadcast_in_dim(mask, inside, ctx.i64_array(windows.batch_dims))
    return ctx.hlo.select(inside, gathered, ctx.full(out, _fill_value(out.dtype, fill_value)))


def _sample(choose: Choose) -> Call:
    windows, dtype = draw_windows(choose), choose.dtype("fiubc")
    mode = choose.one_of(("clip", "fill_or_drop"))
    fill_values = (0,) if is_inexact(dtype) else (0, 1)  # not linear with another fill value
    single = has_one_window(windows)
    params = {
        "dimension_numbers": tuple(windows.numbers),
        "slice_sizes": windows.sizes,
        "unique_indices": single and choose.one_of((False, True)),
        "indices_are_sorted": single and choose.one_of((False, True)),
        "mode": mode,
        "fill_value": choose.one_of(fill_values) if mode == "fill_or_drop" else None,
    }
    return (ShapedArray(windows.operand, dtype), ShapedArray(windows.indices, choose.dtype("iu"))), params


def _reference(
    x: Any,
    indices: Any,
    *,
    dimension_numbers: DimensionNumbers,
    slice_sizes: Shape,
    mode: str,
    fill_value: Any,
    **_: Any,
) -> Any:
    """Gathers window by window."""
    windows = _windows(x.shape, indices.shape, dimension_numbers, slice_sizes)
    out = np.zeros(windows.gathered, x.dtype)
    by_window = np.moveaxis(out, windows.batch_dims, range(len(windows.batch)))
    for where in np.ndindex(windows.batch):
        starts, last = window_start(windows, indices, where)
        if mode == "fill_or_drop" and any(not 0 <= a <= b for a, b in zip(starts, last, strict=True)):
            by_window[where] = _fill_value(x.dtype, fill_value)
            continue
        starts = [min(max(a, 0), b) for a, b in zip(starts, last, strict=True)]
        window = x[tuple([slice(a, a + n) for a, n in zip(starts, slice_sizes, strict=True)])]
        by_window[where] = window.reshape([slice_sizes[dim] for dim in windows.window_dims])
    return out


gather_p.declaration = Declaration(
    sample=_sample,
    reference=_reference,
    domain=(Interval(), Interval(-2.0, 4.0)),
    kinds="fiubc",
    linear=((0,),),
)
