"""Ops that join arrays: padding and concatenation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    InvalidArgumentError,
    Primitive,
    ShapedArray,
    ShapeMismatchError,
    UndefinedPrimal,
    Zero,
    get_aval,
    promote_dtypes,
    require_size,
)
from lawful.ops._shape.reshape import broadcast_in_dim
from lawful.ops._support.batch_dimensions import add_batch_dim, align_to_front, move_batch_dim
from lawful.ops._support.eager import is_eager_array
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import (
    Shape,
    apply_to_tangents,
    canonical_axis,
    cotangent,
    static_integers,
    zeros_of,
)

__all__ = ["concatenate", "concatenate_p", "pad", "pad_p"]

#: For each dimension the numbers of values before, after and between the elements.
Config = tuple[tuple[int, int, int], ...]
Slices = tuple[slice, ...]

pad_p = Primitive("pad", pure_rules=True)
pad_p.def_rule("operations", no_operations)
concatenate_p = Primitive("concatenate", pure_rules=True)
concatenate_p.def_rule("operations", no_operations)

# Padding


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
    """Returns ``operand`` with copies of a value put around and between its elements.

    Args:
      operand: an array.
      padding_value: a scalar; both are promoted to one dtype.
      padding_config: for each dimension ``(low, high, interior)``: how many to put before the first element,
        after the last one, and between any two. A negative ``low`` or ``high`` drops elements.

    Raises:
      ArgumentTypeError: the value is no scalar.
      ArgumentValueError: the configuration does not fit the array.

    >>> pad(np.array([1, 2, 3]), 0, [(1, -1, 1)])
    array([0, 1, 0, 2, 0])

    Source: ``jax.lax.pad``.
    """
    config = tuple(_triple(entry) for entry in padding_config)
    avals = get_aval(operand), get_aval(padding_value)
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    operand = convert(operand, dtype)
    value = convert(padding_value, dtype)
    _infer_pad(avals[0].shape, avals[1].shape, config)
    if not any(map(any, config)):
        return operand
    return pad_p.bind(operand, value, padding_config=config)


def _triple(entry: Any) -> tuple[int, int, int]:
    integers = static_integers("pad", "an entry of padding_config", entry)
    if len(integers) != 3:
        raise ArgumentValueError(f"pad: expected (low, high, interior) for each dimension, got {entry!r}; give three")
    return integers[0], integers[1], integers[2]


def _infer_pad(operand: Shape, value: Shape, config: Config) -> Shape:
    if value:
        raise InvalidArgumentError(f"pad: expected a scalar as padding_value, got the shape {value}; index it first")
    if len(config) != len(operand):
        raise ArgumentValueError(
            f"pad: expected (low, high, interior) for each of the operand's {len(operand)} dimensions, got "
            f"padding_config={config}; give {len(operand)}"
        )
    sizes = []
    for size, (low, high, interior) in zip(operand, config, strict=True):
        padded = low + size + max(size - 1, 0) * interior + high
        if padded < 0 or interior < 0:
            raise ArgumentValueError(
                f"pad: expected an interior of at least 0 and a result of at least no elements, got padding_config="
                f"{config} of the shape {operand}; drop fewer elements"
            )
        sizes.append(padded)
    return tuple(sizes)


@pad_p.def_impl
def _pad_impl(x: Any, value: Any, *, padding_config: Config) -> Any:
    x = np.asarray(x)
    shape = _infer_pad(x.shape, np.shape(value), padding_config)
    require_size(shape, x.dtype)
    return _padded(x, value, shape, *_source_and_target(x.shape, shape, padding_config))


def _padded(x: Any, value: Any, shape: Shape, source: Slices, target: Slices) -> Any:
    out = np.empty(shape, x.dtype)
    out.fill(value)
    out[target] = x[source]
    return out


def _source_and_target(have: Shape, shape: Shape, padding_config: Config) -> tuple[Slices, Slices]:
    """Returns the slices of the elements that are copied, in the operand and in the result."""
    source, target = [], []
    for size, padded, (low, _, interior) in zip(have, shape, padding_config, strict=True):
        step = interior + 1
        # The first and last element whose new positions are inside.
        first = max(0, -(low // step))
        last = min(size, -((low - padded) // step))
        kept = first < last
        source.append(slice(first, last) if kept else slice(0))
        target.append(slice(low + first * step, low + (last - 1) * step + 1, step) if kept else slice(0))
    return tuple(source), tuple(target)


@pad_p.def_rule_as("numpy")
def _specialised_pad(avals: Sequence[ShapedArray], compile: Any, *, padding_config: Config) -> Callable[..., Any]:
    """Returns the function for operands of some types, with precomputed slices."""
    x, value = avals
    impl = pad_p.rule("impl")
    if impl is not _pad_impl or not x.shape:
        return partial(impl, padding_config=padding_config)
    shape = _infer_pad(x.shape, value.shape, padding_config)
    require_size(shape, x.dtype)
    source, target = _source_and_target(x.shape, shape, padding_config)
    return partial(_padded, shape=shape, source=source, target=target)


@pad_p.def_abstract_eval
def _pad_abstract_eval(x: ShapedArray, value: ShapedArray, *, padding_config: Config) -> ShapedArray:
    if x.dtype != value.dtype:
        raise ArgumentTypeError(
            f"pad_p: expected a padding_value of the operand's dtype, got {x} and {value}; "
            "call lawful.ops.pad, which promotes"
        )
    return ShapedArray(_infer_pad(x.shape, value.shape, padding_config), x.dtype)


apply_to_tangents(pad_p)


@pad_p.def_transpose
def _pad_transpose(ct: Any, x: Any, value: Any, *, padding_config: Config) -> list[Any]:
    if type(ct) is Zero:
        return [Zero(arg.aval) if isinstance(arg, UndefinedPrimal) else None for arg in (x, value)]
    cotangents: list[Any] = [None, None]
    if isinstance(x, UndefinedPrimal):
        cotangents[0] = cotangent(_unpad(ct, padding_config), x.aval)
    if isinstance(value, UndefinedPrimal):
        mask = _mask((x.aval if isinstance(x, UndefinedPrimal) else get_aval(x)).shape, padding_config)
        aval = get_aval(ct)
        outside = ops.select_n(mask, ct, zeros_of(aval))
        cotangents[1] = cotangent(ops.reduce_sum(outside, tuple(range(aval.ndim))), value.aval)
    return cotangents


def _unpad(ct: Any, config: Config) -> Any:
    whole = pad(ct, get_aval(ct).dtype.type(0), tuple((-low, -high, 0) for low, high, _ in config))
    shape = get_aval(whole).shape
    return ops.slice(whole, (0,) * len(shape), shape, tuple(interior + 1 for _, _, interior in config))


def _mask(shape: Shape, config: Config) -> Any:
    """Returns a mask of the operand's elements in the result."""
    return pad(broadcast_in_dim(np.True_, shape, ()), np.False_, config)


@pad_p.def_batch
def _pad_batch(args: Sequence[Any], dims: Sequence[int | None], *, padding_config: Config) -> tuple[Any, int]:
    (x, value), (dim, value_dim) = args, dims
    if value_dim is None:
        assert dim is not None
        return pad_p.bind(x, value, padding_config=(*padding_config[:dim], (0, 0, 0), *padding_config[dim:])), dim
    size = get_aval(value).shape[0]
    if dim is not None:
        x = move_batch_dim(x, dim)
    config = padding_config if dim is None else ((0, 0, 0), *padding_config)
    inside = pad(x, get_aval(x).dtype.type(0), config)
    mask = add_batch_dim(_mask(get_aval(x).shape[dim is not None :], padding_config), size)
    outside = broadcast_in_dim(value, get_aval(mask).shape, (0,))
    return ops.select_n(mask, outside, add_batch_dim(inside, size) if dim is None else inside), 0


@pad_p.def_lowering
def _pad_lower(ctx: Any, x: Any, value: Any, *, padding_config: Config) -> Any:
    low, high, interior = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    return ctx.hlo.pad(x, value, *map(ctx.i64_array, (low, high, interior)))


def _pad_reference(x: Any, value: Any, *, padding_config: Config) -> Any:
    for dim, (low, high, interior) in enumerate(padding_config):
        parts: list[Any] = []
        elements = np.moveaxis(x, dim, 0)
        fill = np.full((1, *elements.shape[1:]), value, x.dtype)
        for index in range(len(elements)):
            parts += [elements[index : index + 1], *[fill] * (interior if index < len(elements) - 1 else 0)]
        parts = [fill] * low + parts[-low if low < 0 else 0 :]
        parts = parts[: len(parts) + high] if high < 0 else parts + [fill] * high
        x = np.moveaxis(np.concatenate([elements[:0], *parts]), 0, dim)
    return x


def _pad_sample(choose: Choose) -> Call:
    aval = ShapedArray(choose.shape(), choose.dtype("fiubc"))
    config = []
    for size in aval.shape:
        interior = choose.integer(0, 2)
        whole = size + max(size - 1, 0) * interior
        low = choose.integer(-min(whole, 2), 2)
        high = choose.integer(-min(whole + low, 2), 2)
        config.append((low, high, interior))
    return (aval, ShapedArray((), aval.dtype)), {"padding_config": tuple(config)}


pad_p.declaration = Declaration(sample=_pad_sample, reference=_pad_reference, kinds="fiubc", linear=((0, 1),))

# Concatenation


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Returns arrays joined along an existing dimension, promoted to one dtype as by ``numpy.concatenate``.

    Args:
      operands: arrays of shapes that are equal but for one dimension.
      dimension: which, counted from the end if negative.

    Raises:
      ArgumentValueError: there are no arrays, or their shapes do not fit.

    >>> concatenate([np.array([1, 2]), np.array([0.5])], 0)
    array([1. , 2. , 0.5])

    Source: ``jax.lax.concatenate``.
    """
    operands = list(operands)
    avals = [get_aval(x) for x in operands]
    if not avals or not avals[0].ndim:
        got = "none" if not avals else "a scalar"
        raise ArgumentValueError(
            f"concatenate: expected arrays with at least one dimension, got {got}; use expand_dims on scalars"
        )
    dimension = canonical_axis("concatenate", dimension, avals[0].ndim)
    _infer_concatenate([aval.shape for aval in avals], dimension)
    if all(map(is_eager_array, operands)):
        return np.concatenate(operands, dimension) if len(operands) > 1 else operands[0]
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    operands = [convert(x, dtype) for x in operands]
    return concatenate_p.bind(*operands, dimension=dimension) if len(operands) > 1 else operands[0]


def _infer_concatenate(shapes: Sequence[Shape], dimension: int) -> Shape:
    first = shapes[0]
    others = [(*shape[:dimension], *shape[dimension + 1 :]) for shape in shapes]
    if not 0 <= dimension < len(first) or any(
        len(shape) != len(first) or other != others[0] for shape, other in zip(shapes, others, strict=True)
    ):
        raise ShapeMismatchError(
            f"concatenate: expected shapes that are equal but for dimension {dimension}, got "
            f"{', '.join(map(str, shapes))}; reshape, broadcast or transpose them first"
        )
    return (*first[:dimension], sum(shape[dimension] for shape in shapes), *first[dimension + 1 :])


@concatenate_p.def_impl
def _concatenate_impl(*operands: Any, dimension: int) -> Any:
    return np.concatenate(operands, dimension)


@concatenate_p.def_abstract_eval
def _concatenate_abstract_eval(*avals: ShapedArray, dimension: int) -> ShapedArray:
    if not avals or any(aval.dtype != avals[0].dtype for aval in avals):
        raise ArgumentTypeError(
            f"concatenate_p: expected operands of one dtype, got {', '.join(map(str, avals)) or 'none'}; "
            "call lawful.ops.concatenate, which promotes"
        )
    return ShapedArray(_infer_concatenate([aval.shape for aval in avals], dimension), avals[0].dtype)


apply_to_tangents(concatenate_p)


@concatenate_p.def_transpose
def _concatenate_transpose(ct: Any, *operands: Any, dimension: int) -> list[Any]:
    if type(ct) is Zero:
        return [Zero(x.aval) if isinstance(x, UndefinedPrimal) else None for x in operands]
    sizes = [(x.aval if isinstance(x, UndefinedPrimal) else get_aval(x)).shape[dimension] for x in operands]
    return [
        ops.slice_in_dim(ct, end - size, end, axis=dimension) if isinstance(x, UndefinedPrimal) else None
        for x, size, end in zip(operands, sizes, accumulate(sizes), strict=True)
    ]


@concatenate_p.def_batch
def _concatenate_batch(args: Sequence[Any], dims: Sequence[int | None], *, dimension: int) -> tuple[Any, int]:
    first = dims[0]
    if first is None or any(dim != first for dim in dims):
        args, first = align_to_front(args, dims), 0
    return concatenate_p.bind(*args, dimension=dimension + (dimension >= first)), first


@concatenate_p.def_lowering
def _concatenate_lower(ctx: Any, *operands: Any, dimension: int) -> Any:
    return ctx.hlo.concatenate(operands, ctx.i64(dimension))


def _concatenate_sample(choose: Choose) -> Call:
    shape, dtype = choose.shape(min_ndim=1), choose.dtype("fiubc")
    dimension = choose.integer(0, len(shape) - 1)
    sizes = [choose.integer(0, 3) for _ in range(choose.integer(1, 3))]
    avals = [ShapedArray((*shape[:dimension], size, *shape[dimension + 1 :]), dtype) for size in sizes]
    return tuple(avals), {"dimension": dimension}


concatenate_p.declaration = Declaration(
    sample=_concatenate_sample,
    reference=lambda *operands, dimension: np.concatenate(operands, dimension),
    kinds="fiubc",
    linear=((0, 1, 2),),
)
