"""Exchanges of a named axis with a dimension: ``all_to_all``."""

from __future__ import annotations

from typing import Any

from lawful import tree
from lawful.batching._batch import place_batch_dim
from lawful.batching._collectives.axes import (
    AxisName,
    Groups,
    MappedAxis,
    bound_groups,
    divided,
    groups_param,
    varying,
)
from lawful.batching._collectives.declaration import Shape, collective, has_transpose, is_linear, replaced
from lawful.core import get_aval
from lawful.ops import canonical_axis, expand_dims, move_batch_dim, reshape, squeeze


def _infer(
    shape: Shape, *, axis_size: int, split_axis: int, concat_axis: int, axis_index_groups: Groups | None = None
) -> Shape:
    shape = replaced(shape, split_axis, shape[split_axis] // axis_size)
    return replaced(shape, concat_axis, shape[concat_axis] * axis_size)


def _over(
    x: Any, dim: int | None, axis: MappedAxis, *, axis_size: int, split_axis: int, concat_axis: int
) -> tuple[Any, int]:
    source_first = place_batch_dim(x, dim, 0, axis.size)
    shape = get_aval(source_first).shape[1:]
    # The part for each destination comes first, as the batch dimension of the result.
    faster = axis.after * (shape[split_axis] // axis_size)
    parts = reshape(source_first, (axis.size, *replaced(shape, split_axis, axis.before, axis.size, faster)))
    shape = replaced(shape, split_axis, shape[split_axis] // axis.size)
    out = reshape(move_batch_dim(parts, split_axis + 2), (axis.size, axis.size, *shape))
    if axis.rest != ():
        count = axis.before * axis.after
        out = all_to_all_p.bind(
            expand_dims(out, (2,)), axis_name=axis.rest, axis_size=count, split_axis=split_axis + 3, concat_axis=2
        )
        shape = replaced(shape, split_axis, shape[split_axis] // count)
        out = reshape(out, (axis.size, axis.size, axis.before, axis.after, *shape))
        out = reshape(move_batch_dim(out, 1, 2), (axis.size, axis_size, *shape))
    joined = replaced(shape, concat_axis, shape[concat_axis] * axis_size)
    return reshape(move_batch_dim(out, 1, concat_axis + 1), (axis.size, *joined)), 0


def _beside(dim: int, *, split_axis: int, concat_axis: int, **params: Any) -> tuple[dict[str, Any], int]:
    shifted = {"split_axis": split_axis + (dim <= split_axis), "concat_axis": concat_axis + (dim <= concat_axis)}
    return {**shifted, **params}, dim


def _lower(
    ctx: Any, x: Any, *, axis_name: AxisName, axis_size: int, split_axis: int, concat_axis: int,
    axis_index_groups: Groups | None = None,
) -> Any:  # fmt: skip
    return ctx.all_to_all(x, axis_name, axis_index_groups, split_axis, concat_axis)


all_to_all_p = collective("all_to_all", infer=_infer, over=_over, beside=_beside, lower=_lower)
is_linear(all_to_all_p)


def _sent_back(ct: Any, aval: Any, *, split_axis: int, concat_axis: int, **params: Any) -> Any:
    return all_to_all_p.bind(ct, split_axis=concat_axis, concat_axis=split_axis, **params)


has_transpose(all_to_all_p, _sent_back)


def all_to_all(
    x: Any, axis_name: Any, split_axis: int, concat_axis: int, *, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """Returns leaves in which a named axis and a dimension are exchanged.

    Args:
      x: a pytree of arrays.
      axis_name: the axis, or a sequence of them, the slowest first.
      split_axis: a dimension as long as the axis, of which each element gets one slice of each other element.
      concat_axis: the dimension of the result along which these are stacked.
      axis_index_groups: as for `all_gather`.
      tiled: whether ``split_axis`` is a multiple of the axis, and stays: its parts are joined along ``concat_axis``.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: the dimension has another length, or the groups do not have each position once.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda row: all_to_all(row, "i", 0, 0), axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [2., 4.]])

    Source: ``jax.lax.all_to_all``.
    """
    name, groups, count = bound_groups("all_to_all", axis_name, axis_index_groups)

    def exchanged(leaf: Any) -> Any:
        shape = get_aval(leaf).shape
        split = canonical_axis("all_to_all", split_axis, len(shape))
        concat = canonical_axis("all_to_all", concat_axis, len(shape))
        divided("all_to_all", axis_name, count, shape, split, tiled=tiled)
        if not tiled:
            # The parts are joined along a new dimension, and the split one, then of length 1, is dropped.
            concat += concat > split
            split += concat <= split
            leaf = expand_dims(leaf, (concat,))
        params = {"axis_size": count, "split_axis": split, "concat_axis": concat}
        out = all_to_all_p.bind(varying(leaf, name), axis_name=name, **params, **groups_param(groups))
        return out if tiled else squeeze(out, (split,))

    return tree.map(exchanged, x)


def pswapaxes[T](x: T, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> T:
    """Returns leaves in which a named axis and a dimension of its length are swapped.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda row: pswapaxes(row, "i", 0), axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [2., 4.]])

    Source: ``jax.lax.pswapaxes``.
    """
    result: T = all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)
    return result
