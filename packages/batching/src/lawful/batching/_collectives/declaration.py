"""The family of collectives: one operand, and a batching rule for the axes that they name.

Mapped over one of its axes, a collective is a computation along the batch dimension. If it has other axes too, a
collective over these remains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import batching
from lawful.batching._axis import AxisData
from lawful.batching._batch import place_batch_dim
from lawful.batching._collectives.axes import AxisName, Groups, MappedAxis, mapped_axis
from lawful.batching._vmap import vmap
from lawful.core import Primitive, ShapedArray, Zero, get_aval, require_arithmetic, with_axes_of
from lawful.ops import concatenate, convert_element_type, move_batch_dim, reshape, take

Shape = tuple[int, ...]


def collective(
    name: str,
    *,
    infer: Callable[..., Shape],
    over: Callable[..., tuple[Any, int | None]],
    beside: Callable[..., tuple[dict[str, Any], int]],
    lower: Callable[..., Any],
) -> Primitive:
    """Returns the primitive of a collective, without rules of derivatives.

    Args:
      name: its name.
      infer: ``infer(shape, **params)`` returns the shape of the result.
      over: ``over(x, dim, axis, **params)`` returns the result and its batch dimension where ``axis``, a `MappedAxis`,
        is mapped. There are no groups of positions.
      beside: ``beside(dim, **params)`` returns the parameters and the batch dimension of the result where another axis
        is mapped.
      lower: ``lower(ctx, x, **params)`` returns the MLIR value, inside a program that is split over devices.
    """
    primitive = Primitive(name, pure_rules=True)

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, *, axis_name: AxisName, **params: Any) -> ShapedArray:
        return x.update(shape=infer(x.shape, **params), weak_type=False)

    @primitive.def_batch
    def batch(
        args: Sequence[Any], dims: Sequence[int | None], *, axis_data: AxisData, axis_name: AxisName, **params: Any
    ) -> tuple[Any, int | None]:
        (x,), (dim,) = args, dims
        axis = mapped_axis(axis_data, axis_name)
        if axis is not None:
            groups = params.pop("axis_index_groups", None)
            return over(x, dim, axis, **params) if groups is None else _in_groups(over, x, dim, axis, groups, params)
        if dim is None:
            return primitive.bind(x, axis_name=axis_name, **params), None
        params, out_dim = beside(dim, **params)
        return primitive.bind(x, axis_name=axis_name, **params), out_dim

    primitive.def_lowering(lower)
    primitive.declare_absent("impl", "it has a meaning only inside a vmap with that axis name")
    return primitive


def _in_groups(
    over: Callable[..., Any], x: Any, dim: int | None, axis: MappedAxis, groups: Groups, params: dict[str, Any]
) -> tuple[Any, int]:
    """Returns the result of a collective within groups of positions, and its batch dimension."""
    x = place_batch_dim(x, dim, 0, axis.size)
    if axis.rest != ():
        # Groups of several axes can be any: gather the operands of all positions.
        x, _ = all_positions(x, 0, axis)
    out = _of_all_positions(over, x, groups, params)
    if axis.rest == ():
        return out, 0
    shape = get_aval(out).shape[1:]
    out = move_batch_dim(reshape(out, (axis.before, axis.size, axis.after, *shape)), 1, 2)
    mine = reshape(out, (axis.before * axis.after, axis.size, *shape))
    return take(mine, batching.axis_index(axis.rest), axis=0), 0


def _of_all_positions(over: Callable[..., Any], x: Any, groups: Groups, params: dict[str, Any]) -> Any:
    """Returns the results of a collective within groups, of all positions along the first dimension."""
    order = np.array([position for group in groups for position in group])
    x = take(x, order, axis=0)

    def of_group(members: Any) -> Any:
        size = get_aval(members).shape[0]
        out, dim = over(members, 0, MappedAxis(size), **params)
        return place_batch_dim(out, dim, 0, size)

    shape, length = get_aval(x).shape, len(groups[0])
    if all(len(group) == length for group in groups):
        out = vmap(of_group)(reshape(x, (len(groups), length, *shape[1:])))
        out = reshape(out, (shape[0], *get_aval(out).shape[2:]))
    else:
        ends = np.cumsum([len(group) for group in groups]).tolist()
        out = concatenate([of_group(x[end - len(group) : end]) for group, end in zip(groups, ends, strict=True)], 0)
    return take(out, np.argsort(order), axis=0)


def all_positions(x: Any, dim: int, axis: MappedAxis) -> tuple[Any, None]:
    """Returns the operands of all positions of several axes, one of which is mapped, along the first dimension."""
    if axis.rest == ():
        return move_batch_dim(x, dim), None
    count = axis.before * axis.after
    gathered = batching.all_gather_p.bind(x, axis_name=axis.rest, axis_size=count, all_gather_dimension=0, tiled=False)
    gathered = move_batch_dim(gathered, dim + 1, 1)
    shape = get_aval(gathered).shape[2:]
    parts = move_batch_dim(reshape(gathered, (axis.before, axis.after, axis.size, *shape)), 2, 1)
    return reshape(parts, (count * axis.size, *shape)), None


def is_linear(primitive: Primitive) -> None:
    """Defines the jvp rule of a primitive that is linear in its operand."""

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        if type(t) is Zero:
            return out, Zero(get_aval(out).to_tangent_aval())
        return out, primitive.bind(with_axes_of(t, get_aval(x)), **params)


def has_transpose(primitive: Primitive, cotangent: Callable[..., Any]) -> None:
    """Defines the transpose rule of a linear primitive.

    Args:
      primitive: the primitive.
      cotangent: ``cotangent(ct, aval, **params)`` returns the cotangent of an operand of type ``aval``.
    """

    @primitive.def_transpose
    def transpose(ct: Any, x: Any, **params: Any) -> list[Any]:
        return [Zero(x.aval) if type(ct) is Zero else cotangent(ct, x.aval, **params)]


def without_bools(x: Any) -> Any:
    """Returns an array that can be summed: a bool counts as an integer, as in NumPy."""
    dtype = get_aval(x).dtype
    require_arithmetic("psum", dtype)
    return convert_element_type(x, np.dtype(np.int_)) if dtype == np.dtype(bool) else x


def replaced(shape: Shape, dim: int, *sizes: int) -> Shape:
    """Returns a shape with other dimensions in place of one."""
    return (*shape[:dim], *sizes, *shape[dim + 1 :])
