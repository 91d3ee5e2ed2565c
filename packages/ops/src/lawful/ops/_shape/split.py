"""Splitting an array into consecutive parts by one primitive."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    Zero,
    get_aval,
)
from lawful.ops._shape.joining import concatenate
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.structural import (
    Shape,
    canonical_axis,
    check_sizes,
    cotangent,
    instantiate,
    static_integers,
    strong,
)

__all__ = ["split", "split_p"]

split_p = Primitive("split", multiple_results=True, pure_rules=True)
split_p.def_rule("operations", no_operations)


def split(operand: Any, sizes: Any, axis: int = 0) -> list[Any]:
    """Returns the consecutive parts of ``operand`` along one dimension.

    Args:
      operand: an array.
      sizes: the length of each part; together that of the dimension.
      axis: the dimension, counted from the end if negative.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: the lengths do not add up.

    >>> split(np.arange(5), (2, 3))
    [array([0, 1]), array([2, 3, 4])]

    Source: ``jax.lax.split``.
    """
    shape = get_aval(operand).shape
    axis = canonical_axis("split", axis, len(shape))
    sizes = static_integers("split", "sizes", sizes)
    _check_parts("split", shape[axis], sizes)
    parts: list[Any] = split_p.bind(strong(operand), sizes=sizes, axis=axis)
    return parts


def _check_parts(name: str, size: int, sizes: Shape) -> None:
    check_sizes(name, sizes)
    if sum(sizes) != size:
        raise ArgumentValueError(
            f"{name}: expected sizes that add up to {size}, got {sizes}, which add up to {sum(sizes)}; "
            "cover the whole dimension"
        )


@split_p.def_impl
def _split_impl(x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    x = np.asarray(x)
    whole = (slice(None),) * axis
    ends = accumulate(sizes)
    return [x[(*whole, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True)]


@split_p.def_abstract_eval
def _split_abstract_eval(x: ShapedArray, *, sizes: Shape, axis: int) -> list[ShapedArray]:
    if not 0 <= axis < x.ndim:
        raise ArgumentTypeError(
            f"split_p: expected an axis in 0 to {x.ndim - 1}, got {axis} for {x}; "
            "call lawful.ops.split, which takes a negative one too"
        )
    _check_parts("split_p", x.shape[axis], sizes)
    return [ShapedArray((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype) for size in sizes]


@split_p.def_jvp
def _split_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, sizes: Shape, axis: int
) -> tuple[list[Any], list[Any]]:
    (x,), (t,) = primals, tangents
    parts = split_p.bind(x, sizes=sizes, axis=axis)
    if type(t) is Zero:
        return parts, [Zero(get_aval(part).to_tangent_aval()) for part in parts]
    return parts, split_p.bind(t, sizes=sizes, axis=axis)


@split_p.def_transpose
def _split_transpose(cts: Sequence[Any], x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    if all(type(ct) is Zero for ct in cts):
        return [Zero(x.aval)]
    return [cotangent(concatenate([instantiate(ct) for ct in cts], axis), x.aval)]


@split_p.def_batch
def _split_batch(args: Sequence[Any], dims: Sequence[int], *, sizes: Shape, axis: int) -> tuple[list[Any], list[int]]:
    (dim,) = dims
    return split_p.bind(args[0], sizes=sizes, axis=axis + (axis >= dim)), [dim] * len(sizes)


@split_p.def_lowering
def _split_lower(ctx: Any, x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    shape = ctx.avals_in[0].shape
    parts = []
    for size, end in zip(sizes, accumulate(sizes), strict=True):
        starts, limits = [0] * len(shape), list(shape)
        starts[axis], limits[axis] = end - size, end
        parts.append(ctx.hlo.slice(x, *map(ctx.i64_array, (starts, limits, [1] * len(shape)))))
    return parts


def _split_sample(choose: Choose) -> Call:
    shape = list(choose.shape(min_ndim=1))
    axis = choose.integer(0, len(shape) - 1)
    sizes: list[int] = []
    left = shape[axis]
    while left or not sizes:
        sizes.append(choose.integer(0, left) if len(sizes) < 2 else left)
        left -= sizes[-1]
    return (ShapedArray(tuple(shape), choose.dtype("fiubc")),), {"sizes": tuple(sizes), "axis": axis}


split_p.declaration = Declaration(
    sample=_split_sample,
    reference=lambda x, *, sizes, axis: np.split(x, list(accumulate(sizes))[:-1], axis),
    kinds="fiubc",
    linear=((0,),),
)
