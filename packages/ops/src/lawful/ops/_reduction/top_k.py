"""The largest elements along a dimension, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
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
    is_float,
)
from lawful.ops._indexing.take_along_dimension import take_along_dimension
from lawful.ops._reduction.sort import canonical, sortable
from lawful.ops._support.dtypes import check_kind
from lawful.ops._support.operation_counts import of_sorting
from lawful.ops._support.structural import Shape, canonical_axis, static_integers, strong

__all__ = ["top_k", "top_k_p"]

top_k_p = Primitive("top_k", multiple_results=True, pure_rules=True)
top_k_p.def_rule("operations", of_sorting)

_KINDS = "biuf"
_INDEX = np.dtype(np.int32)


def top_k(operand: Any, k: int, *, axis: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Returns the largest elements along a dimension, the largest first, and their positions.

    A NaN counts as larger than all numbers, and zeros of both signs are equal, as in `sort` and `argmax`.

    Args:
      operand: an array of bool, integer or floating dtype, with at least one dimension.
      k: how many.
      axis: the dimension along which to look, counted from the end if negative.
      is_stable: whether of equal elements the first ones are taken, in their order; they are, in any case.

    Returns:
      ``(values, indices)``, which have ``k`` elements along the dimension; the indices are int32.

    Raises:
      AxisError: there is no such dimension.
      ArgumentTypeError: the operand has another dtype.
      ArgumentValueError: ``k`` is negative, or there are fewer elements, or more than int32 counts.

    >>> top_k(np.array([1.0, 5.0, 3.0, 5.0]), 3)
    (array([5., 5., 3.]), array([1, 3, 2], dtype=int32))

    Source: ``jax.lax.top_k``, which puts 0 before -0, and NaNs by their sign bit first or last.
    """
    aval = get_aval(operand)
    check_kind("top_k", aval, _KINDS)
    axis = canonical_axis("top_k", axis, aval.ndim)
    (k,) = static_integers("top_k", "k", k)
    _infer("top_k", aval, k, axis)
    values, indices = top_k_p.bind(strong(operand), k=k, axis=axis, is_stable=bool(is_stable))
    return values, indices


def _infer(name: str, aval: ShapedArray, k: int, axis: int) -> Shape:
    if not 0 <= k <= aval.shape[axis]:
        raise ArgumentValueError(
            f"{name}: expected k from 0 to the {aval.shape[axis]} elements along axis {axis}, got {k}; "
            "ask for as many as there are"
        )
    if aval.shape[axis] > np.iinfo(_INDEX).max:
        raise ArgumentValueError(
            f"{name}: expected at most {np.iinfo(_INDEX).max} elements along axis {axis}, got {aval}: the indices are "
            "int32; split the dimension, and take the largest of the parts"
        )
    return (*aval.shape[:axis], k, *aval.shape[axis + 1 :])


@top_k_p.def_impl
def _top_k_impl(x: Any, *, k: int, axis: int, is_stable: bool) -> list[Any]:
    x = np.asarray(x)
    (key,) = sortable(x)
    # Sorted from the end, so that after the flip equal elements are in order: the sort is stable.
    order = x.shape[axis] - 1 - np.argsort(np.flip(key, axis), axis, kind="stable")
    order = np.take(np.flip(order, axis), range(k), axis)
    return [np.take_along_axis(x, order, axis), order.astype(_INDEX)]


@top_k_p.def_abstract_eval
def _top_k_abstract_eval(x: ShapedArray, *, k: int, axis: int, is_stable: bool) -> list[ShapedArray]:
    check_kind("top_k_p", x, _KINDS)
    if not 0 <= axis < x.ndim:
        raise ArgumentTypeError(
            f"top_k_p: expected an axis in 0 to {x.ndim - 1}, got {axis} for {x}; "
            "call lawful.ops.top_k, which takes a negative one too"
        )
    shape = _infer("top_k_p", x, k, axis)
    return [ShapedArray(shape, x.dtype), ShapedArray(shape, _INDEX)]


@top_k_p.def_jvp
def _top_k_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, k: int, axis: int, is_stable: bool) -> Any:
    (x,), (t,) = primals, tangents
    values, indices = top_k_p.bind(x, k=k, axis=axis, is_stable=is_stable)
    no_tangent = Zero(get_aval(indices).to_tangent_aval())
    if type(t) is Zero:
        return [values, indices], [Zero(get_aval(values).to_tangent_aval()), no_tangent]
    tangent = take_along_dimension(t, indices, axis, unique_indices=True)
    return [values, indices], [tangent, no_tangent]


top_k_p.declare_absent("transpose", "it is not linear")


@top_k_p.def_batch
def _top_k_batch(args: Sequence[Any], dims: Sequence[int], *, k: int, axis: int, is_stable: bool) -> Any:
    (dim,) = dims
    return top_k_p.bind(args[0], k=k, axis=axis + (axis >= dim), is_stable=is_stable), [dim, dim]


@top_k_p.def_lowering
def _top_k_lower(ctx: Any, x: Any, *, k: int, axis: int, is_stable: bool) -> list[Any]:
    (aval,) = ctx.avals_in
    values, indices = ctx.avals_out
    if not values.size:
        return [ctx.zeros(values), ctx.zeros(indices)]
    last = aval.ndim - 1
    order = [dim for dim in range(aval.ndim) if dim != axis]
    order.append(axis)
    if axis != last:
        x = ctx.hlo.transpose(x, ctx.i64_array(order))
    transposed = aval.update(shape=tuple([aval.shape[dim] for dim in order]))
    key = canonical(ctx, transposed, x) if is_float(aval.dtype) else x
    positions = ctx.chlo.top_k(key, ctx.i64(k))[1]
    found = _gather_last(ctx, x, positions, values.dtype)
    if axis == last:
        return [found, positions]
    back = ctx.i64_array([order.index(dim) for dim in range(aval.ndim)])
    return [ctx.hlo.transpose(found, back), ctx.hlo.transpose(positions, back)]


def _gather_last(ctx: Any, x: Any, positions: Any, dtype: np.dtype[Any]) -> Any:
    """Returns the elements of an MLIR value at positions along its last dimension, with the signs of zeros."""
    shape = tuple(positions.type.shape)
    last = len(shape) - 1
    batch = list(range(last))
    numbers = ctx.hlo.GatherDimensionNumbers.get(
        offset_dims=[],
        collapsed_slice_dims=[last],
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
        start_index_map=[last],
        index_vector_dim=last + 1,
    )
    column = ctx.hlo.reshape(ctx.tensor_type(ShapedArray((*shape, 1), _INDEX)), positions)
    return ctx.hlo.gather(x, column, numbers, ctx.i64_array([1] * (last + 1)))


def _top_k_reference(x: Any, *, k: int, axis: int, is_stable: bool) -> list[Any]:
    """Takes the first of the largest elements of each line, ``k`` times."""
    front = np.moveaxis(x, axis, 0)
    indices = np.zeros((k, *front.shape[1:]), _INDEX)
    for index in np.ndindex(front.shape[1:]):
        left = [(number, i) for i, number in enumerate(front[(slice(None), *index)])]
        for position in range(k):
            best = left[0]
            for candidate in left[1:]:
                if candidate[0] > best[0] or (candidate[0] != candidate[0] and best[0] == best[0]):
                    best = candidate
            left.remove(best)
            indices[(position, *index)] = best[1]
    indices = np.moveaxis(indices, 0, axis)
    return [np.take_along_axis(x, indices, axis), indices]


def _top_k_sample(choose: Choose) -> Call:
    shape = choose.shape(min_ndim=1)
    axis = choose.integer(0, len(shape) - 1)
    params = {"k": choose.integer(0, shape[axis]), "axis": axis, "is_stable": choose.one_of((True, False))}
    return (ShapedArray(shape, choose.dtype(_KINDS)),), params


top_k_p.declaration = Declaration(sample=_top_k_sample, reference=_top_k_reference, kinds=_KINDS)
