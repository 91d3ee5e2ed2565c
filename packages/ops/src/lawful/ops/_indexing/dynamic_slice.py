"""The primitives that read and write a slice at a dynamic position."""

from __future__ import annotations

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
)
from lawful.ops._indexing.gather_scatter.gather import gather_p
from lawful.ops._indexing.gather_scatter.scatter import scatter_p
from lawful.ops._shape.reshape import broadcast_in_dim
from lawful.ops._support.batch_dimensions import add_batch_dim, move_batch_dim
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.structural import Shape, cotangent, instantiate, zeros_of

__all__ = ["dynamic_slice_p", "dynamic_update_slice_p"]

dynamic_slice_p = Primitive("dynamic_slice", pure_rules=True)
dynamic_slice_p.def_rule("operations", no_operations)
dynamic_update_slice_p = Primitive("dynamic_update_slice", pure_rules=True)
dynamic_update_slice_p.def_rule("operations", no_operations)

# Reading


def _clamped(starts: Sequence[Any], shape: Shape, sizes: Shape) -> tuple[Any, ...]:
    slices: list[Any] = []
    for given, whole, size in zip(starts, shape, sizes, strict=True):
        start, last = int(given), whole - size
        if not 0 <= start <= last:
            start = 0 if start < 0 else last
        slices.append(slice(start, start + size))
    return (*slices, ...)


def _index_for(shape: Shape, sizes: Shape) -> Callable[[Sequence[Any]], Any] | None:
    """Returns the function from starts to the index of a slice, if at most one dimension of it has a choice of starts.

    Law: the index chooses the elements of ``_clamped``.
    """
    chosen = [dim for dim, (whole, size) in enumerate(zip(shape, sizes, strict=True)) if whole > size]
    if len(chosen) > 1 or not shape:
        return None
    if not chosen:
        return lambda starts: ...
    (dim,) = chosen
    size, last = sizes[dim], shape[dim] - sizes[dim]
    before = (slice(None),) * dim

    def index(starts: Sequence[Any]) -> Any:
        start = int(starts[dim])
        if not 0 <= start <= last:
            start = 0 if start < 0 else last
        chosen = slice(start, start + size)
        return (*before, chosen) if before else chosen

    return index


def check_sizes_within(name: str, x: ShapedArray, sizes: Shape) -> None:
    """Raises ArgumentTypeError if a slice has another number of dimensions than an array, or is longer."""
    if len(sizes) != x.ndim or any(not 0 <= size <= whole for size, whole in zip(sizes, x.shape, strict=True)):
        raise ArgumentTypeError(
            f"{name}: expected a slice with the dimensions of the operand, and not longer, got the shape {sizes} for "
            f"{x}; make it shorter"
        )


def check_update(x: ShapedArray, update: ShapedArray) -> None:
    """Raises ArgumentTypeError if an update has another dtype than an array, or does not fit into it."""
    if update.dtype != x.dtype:
        raise ArgumentTypeError(
            f"dynamic_update_slice: expected an update of the operand's dtype, got {x} and {update}; "
            "convert with astype"
        )
    check_sizes_within("dynamic_update_slice", x, update.shape)


def _check_starts(name: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    same = all(start.dtype == starts[0].dtype for start in starts)
    if len(starts) != x.ndim or not same or any(start.shape or start.dtype.kind not in "iu" for start in starts):
        raise ArgumentTypeError(
            f"{name}_p: expected an integer scalar for each dimension, all of one dtype, got "
            f"{', '.join(map(str, starts)) or 'none'} for {x}; call lawful.ops.{name}, which converts"
        )


@dynamic_slice_p.def_impl
def _slice_impl(x: Any, *starts: Any, slice_sizes: Shape) -> Any:
    x = np.asarray(x)
    return x[_clamped(starts, x.shape, slice_sizes)]


@dynamic_slice_p.def_rule_as("numpy")
def _slice_numpy(avals: Sequence[ShapedArray], compile: Any, *, slice_sizes: Shape) -> Callable[..., Any]:
    impl, index = dynamic_slice_p.rule("impl"), _index_for(avals[0].shape, slice_sizes)
    if impl is not _slice_impl or index is None:
        return partial(impl, slice_sizes=slice_sizes)
    return lambda x, *starts: x[index(starts)]


@dynamic_slice_p.def_abstract_eval
def _slice_abstract_eval(x: ShapedArray, *starts: ShapedArray, slice_sizes: Shape) -> ShapedArray:
    check_sizes_within("dynamic_slice", x, slice_sizes)
    _check_starts("dynamic_slice", x, starts)
    return ShapedArray(slice_sizes, x.dtype)


@dynamic_slice_p.def_jvp
def _slice_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, slice_sizes: Shape) -> tuple[Any, Any]:
    ans = dynamic_slice_p.bind(*primals, slice_sizes=slice_sizes)
    if type(tangents[0]) is Zero:
        return ans, Zero(get_aval(ans).to_tangent_aval())
    return ans, dynamic_slice_p.bind(tangents[0], *primals[1:], slice_sizes=slice_sizes)


@dynamic_slice_p.def_transpose
def _slice_transpose(ct: Any, x: Any, *starts: Any, slice_sizes: Shape) -> list[Any]:
    assert isinstance(x, UndefinedPrimal), "dynamic_slice is linear in its operand"
    none = [None] * len(starts)
    if type(ct) is Zero:
        return [Zero(x.aval), *none]
    written = dynamic_update_slice_p.bind(zeros_of(x.aval.update(weak_type=False)), ct, *starts)
    return [cotangent(written, x.aval), *none]


@dynamic_slice_p.def_batch
def _slice_batch(args: Sequence[Any], dims: Sequence[int | None], *, slice_sizes: Shape) -> tuple[Any, int]:
    x, *starts = args
    dim, *start_dims = dims
    if all(start_dim is None for start_dim in start_dims):
        assert dim is not None
        starts.insert(dim, _first(starts))
        sizes = (*slice_sizes[:dim], get_aval(x).shape[dim], *slice_sizes[dim:])
        return dynamic_slice_p.bind(x, *starts, slice_sizes=sizes), dim
    indices = _index_vectors(starts, start_dims)
    every = tuple(range(len(slice_sizes)))
    batched = gather_p.rule("batch")(
        (x, indices),
        (dim, 0),
        dimension_numbers=(every, (), every, (), ()),
        slice_sizes=slice_sizes,
        unique_indices=True,
        indices_are_sorted=True,
        mode="clip",
        fill_value=None,
    )
    return batched  # type: ignore[no-any-return]


def _first(starts: Sequence[Any]) -> Any:
    """Returns the position 0 in the dtype of other positions."""
    return (get_aval(starts[0]).dtype if starts else np.dtype(np.int64)).type(0)


def _index_vectors(starts: Sequence[Any], dims: Sequence[int | None]) -> Any:
    """Returns an index vector for each element of a batch, from scalars of which some are batched."""
    size = next(get_aval(start).shape[dim] for start, dim in zip(starts, dims, strict=True) if dim is not None)
    columns = [
        broadcast_in_dim(start, (size, 1), () if dim is None else (0,)) for start, dim in zip(starts, dims, strict=True)
    ]
    return ops.concatenate(columns, 1)


@dynamic_slice_p.def_lowering
def _slice_lower(ctx: Any, x: Any, *starts: Any, slice_sizes: Shape) -> Any:
    return ctx.hlo.dynamic_slice(x, starts, ctx.i64_array(slice_sizes))


def _slice_reference(x: Any, *starts: Any, slice_sizes: Shape) -> Any:
    for dim, (start, size) in enumerate(zip(starts, slice_sizes, strict=True)):
        last = x.shape[dim] - size
        x = np.take(x, np.clip(float(start), 0, last).astype(int) + np.arange(size), axis=dim)
    return x


def _draw_slice(choose: Choose) -> tuple[Shape, Shape, ShapedArray]:
    shape = choose.shape()
    return shape, tuple([choose.integer(0, size) for size in shape]), ShapedArray((), choose.dtype("iu"))


def _slice_sample(choose: Choose) -> Call:
    shape, sizes, start = _draw_slice(choose)
    return (ShapedArray(shape, choose.dtype("fiubc")), *[start] * len(shape)), {"slice_sizes": sizes}


dynamic_slice_p.declaration = Declaration(
    sample=_slice_sample,
    reference=_slice_reference,
    domain=(Interval(), Interval(-2.0, 4.0)),
    kinds="fiubc",
    linear=((0,),),
)


# Writing


@dynamic_update_slice_p.def_impl
def _update_impl(x: Any, update: Any, *starts: Any) -> Any:
    out = np.array(x)
    out[_clamped(starts, out.shape, np.shape(update))] = update
    return out


@dynamic_update_slice_p.def_rule_as("numpy")
def _update_numpy(avals: Sequence[ShapedArray], compile: Any) -> Callable[..., Any]:
    impl, index = dynamic_update_slice_p.rule("impl"), _index_for(avals[0].shape, avals[1].shape)
    if impl is not _update_impl or index is None:
        return impl

    def updated(x: Any, update: Any, *starts: Any) -> Any:
        out = np.array(x)
        out[index(starts)] = update
        return out

    return updated


@dynamic_update_slice_p.def_abstract_eval
def _update_abstract_eval(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    check_update(x, update)
    _check_starts("dynamic_update_slice", x, starts)
    return ShapedArray(x.shape, x.dtype)


@dynamic_update_slice_p.def_jvp
def _update_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    ans = dynamic_update_slice_p.bind(*primals)
    x_dot, update_dot, *_ = tangents
    if type(x_dot) is Zero and type(update_dot) is Zero:
        return ans, Zero(get_aval(ans).to_tangent_aval())
    return ans, dynamic_update_slice_p.bind(instantiate(x_dot), instantiate(update_dot), *primals[2:])


@dynamic_update_slice_p.def_transpose
def _update_transpose(ct: Any, x: Any, update: Any, *starts: Any) -> list[Any]:
    none = [None] * len(starts)
    if type(ct) is Zero:
        return [*[Zero(arg.aval) if isinstance(arg, UndefinedPrimal) else None for arg in (x, update)], *none]
    aval = (update.aval if isinstance(update, UndefinedPrimal) else get_aval(update)).update(weak_type=False)
    x_bar = update_bar = None
    if isinstance(x, UndefinedPrimal):
        x_bar = cotangent(dynamic_update_slice_p.bind(ct, zeros_of(aval), *starts), x.aval)
    if isinstance(update, UndefinedPrimal):
        update_bar = cotangent(dynamic_slice_p.bind(ct, *starts, slice_sizes=aval.shape), update.aval)
    return [x_bar, update_bar, *none]


@dynamic_update_slice_p.def_batch
def _update_batch(args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int]:
    x, update, *starts = args
    dim, update_dim, *start_dims = dims
    if all(start_dim is None for start_dim in start_dims):
        size = next(get_aval(arg).shape[d] for arg, d in ((x, dim), (update, update_dim)) if d is not None)
        x = add_batch_dim(x, size) if dim is None else move_batch_dim(x, dim)
        update = add_batch_dim(update, size) if update_dim is None else move_batch_dim(update, update_dim)
        return dynamic_update_slice_p.bind(x, update, _first(starts), *starts), 0
    indices = _index_vectors(starts, start_dims)
    every = tuple(range(len(starts)))
    batched = scatter_p.rule("batch")(
        (x, indices, update),
        (dim, 0, update_dim),
        dimension_numbers=(every, (), every, (), ()),
        indices_are_sorted=True,
        unique_indices=True,
        mode="clip",
    )
    return batched  # type: ignore[no-any-return]


@dynamic_update_slice_p.def_lowering
def _update_lower(ctx: Any, x: Any, update: Any, *starts: Any) -> Any:
    return ctx.hlo.dynamic_update_slice(x, update, starts)


def _update_reference(x: Any, update: Any, *starts: Any) -> Any:
    pairs = zip(starts, x.shape, update.shape, strict=True)
    first = [int(min(max(int(start), 0), whole - size)) for start, whole, size in pairs]
    out = np.array(x)
    for where in np.ndindex(update.shape):
        out[tuple(np.add(first, where).astype(int))] = update[where]
    return out


def _update_sample(choose: Choose) -> Call:
    shape, sizes, start = _draw_slice(choose)
    dtype = choose.dtype("fiubc")
    return (ShapedArray(shape, dtype), ShapedArray(sizes, dtype), *[start] * len(shape)), {}


dynamic_update_slice_p.declaration = Declaration(
    sample=_update_sample,
    reference=_update_reference,
    domain=(Interval(), Interval(), Interval(-2.0, 4.0)),
    kinds="fiubc",
    linear=((0, 1),),
)
