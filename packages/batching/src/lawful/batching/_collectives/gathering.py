"""Gathering along named axes: ``all_gather``."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import batching, tree
from lawful.batching._collectives.axes import (
    AxisName,
    Groups,
    MappedAxis,
    bound_groups,
    groups_param,
    names_of,
    varying,
)
from lawful.batching._collectives.declaration import (
    Shape,
    all_positions,
    collective,
    has_transpose,
    is_linear,
    replaced,
)
from lawful.core import ArgumentValueError, Primitive, ShapedArray, current, get_aval
from lawful.ops import (
    add_batch_dim,
    canonical_axis,
    dynamic_index_in_dim,
    dynamic_slice_in_dim,
    move_batch_dim,
    mul,
    reshape,
)


def _infer(
    shape: Shape, *, axis_size: int, all_gather_dimension: int, tiled: bool, axis_index_groups: Groups | None = None
) -> Shape:
    at = all_gather_dimension
    return replaced(shape, at, shape[at] * axis_size) if tiled else (*shape[:at], axis_size, *shape[at:])


def _over(
    x: Any, dim: int | None, axis: MappedAxis, *, axis_size: int, all_gather_dimension: int, tiled: bool
) -> tuple[Any, None]:
    if dim is None:
        x, dim = add_batch_dim(x, axis.size), 0
    stacked, _ = all_positions(x, dim, axis)
    out = move_batch_dim(stacked, 0, all_gather_dimension)
    if tiled:
        count, *shape = get_aval(stacked).shape
        shape[all_gather_dimension] *= count
        out = reshape(out, tuple(shape))
    return out, None


def _beside(dim: int, *, all_gather_dimension: int, tiled: bool, **params: Any) -> tuple[dict[str, Any], int]:
    if tiled:
        at, out_dim = all_gather_dimension + (dim <= all_gather_dimension), dim
    elif all_gather_dimension <= dim:
        at, out_dim = all_gather_dimension, dim + 1
    else:
        at, out_dim = all_gather_dimension + 1, dim
    return {"all_gather_dimension": at, "tiled": tiled, **params}, out_dim


def _lower(
    ctx: Any, x: Any, *, axis_name: AxisName, axis_size: int, all_gather_dimension: int, tiled: bool,
    axis_index_groups: Groups | None = None,
) -> Any:  # fmt: skip
    (aval,) = ctx.avals_in
    if not tiled:
        shape = (*aval.shape[:all_gather_dimension], 1, *aval.shape[all_gather_dimension:])
        x = ctx.hlo.reshape(ctx.tensor_type(ShapedArray(shape, aval.dtype)), x)
    return ctx.all_gather(x, axis_name, axis_index_groups, all_gather_dimension)


def _gather(name: str) -> Primitive:
    primitive = collective(name, infer=_infer, over=_over, beside=_beside, lower=_lower)
    is_linear(primitive)
    return primitive


all_gather_p = _gather("all_gather")
all_gather_invariant_p = _gather("all_gather_invariant")


def _scattered_sum(ct: Any, aval: ShapedArray, *, all_gather_dimension: int, **params: Any) -> Any:
    # Each element was gathered by all: its cotangent is the sum of what all have for it.
    return batching.reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params)


def _own_slice(
    ct: Any, aval: ShapedArray, *, axis_name: AxisName, axis_size: int, all_gather_dimension: int, tiled: bool
) -> Any:
    # All have the same cotangent.
    index = batching.axis_index(axis_name)
    if not tiled:
        return dynamic_index_in_dim(ct, index, all_gather_dimension, keepdims=False)
    length = aval.shape[all_gather_dimension]
    return dynamic_slice_in_dim(ct, mul(index, np.int32(length)), length, all_gather_dimension)


all_gather_invariant_p.def_rule("varying", lambda vma, *, axis_name, **_: vma - {*names_of(axis_name)})
has_transpose(all_gather_p, _scattered_sum)
has_transpose(all_gather_invariant_p, _own_slice)


def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False, to: str = "varying"
) -> Any:
    """Returns each leaf of all elements along a named axis, in a new dimension.

    Args:
      x: a pytree of arrays.
      axis_name: the axis, or a sequence of them, the slowest first.
      axis_index_groups: lists of positions along the axis, of one length; an element gets those of its list.
      axis: where the new dimension is.
      tiled: whether the leaves are joined along the dimension ``axis`` instead.
      to: ``"varying"``, or ``"invarying"`` for a result that has the type of one that is equal along the axis, which
        ``shard_map`` distinguishes.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: the groups do not have each position once.
      AxisError: there is no such dimension.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.array([1.0, 2.0]))
    array([[1., 2.],
           [1., 2.]])

    Source: ``jax.lax.all_gather``.
    """
    name, groups, count = bound_groups("all_gather", axis_name, axis_index_groups)
    if to not in ("varying", "invarying"):
        raise ArgumentValueError(f"all_gather: expected to='varying' or 'invarying', got {to!r}")
    if to == "invarying" and groups is not None:
        raise ArgumentValueError("all_gather: expected no axis_index_groups with to='invarying', got some")
    # Without types that say what varies, the cotangents of the copies are not the same: they are summed.
    is_invariant = to == "invarying" and current.trace.checked_axes >= {*names_of(name)}
    primitive = all_gather_invariant_p if is_invariant else all_gather_p

    def gathered(leaf: Any) -> Any:
        at = canonical_axis("all_gather", axis, get_aval(leaf).ndim + (not tiled))
        params = {"axis_size": count, "all_gather_dimension": at, "tiled": bool(tiled)}
        return primitive.bind(varying(leaf, name), axis_name=name, **params, **groups_param(groups))

    return tree.map(gathered, x)
