"""Sums over named axes, of which each element gets a slice: ``psum_scatter``."""

from __future__ import annotations

from typing import Any

from lawful import batching, tree
from lawful.batching._collectives.axes import (
    AxisName,
    Groups,
    MappedAxis,
    bound_groups,
    divided,
    groups_param,
    varying,
)
from lawful.batching._collectives.declaration import (
    Shape,
    collective,
    has_transpose,
    is_linear,
    replaced,
    without_bools,
)
from lawful.batching._collectives.reductions import sum_along
from lawful.core import ShapedArray, get_aval
from lawful.ops import canonical_axis, move_batch_dim, reshape, squeeze


def _infer(
    shape: Shape, *, axis_size: int, scatter_dimension: int, tiled: bool, axis_index_groups: Groups | None = None
) -> Shape:
    at = scatter_dimension
    return replaced(shape, at, shape[at] // axis_size) if tiled else replaced(shape, at)


def _over(
    x: Any, dim: int | None, axis: MappedAxis, *, axis_size: int, scatter_dimension: int, tiled: bool
) -> tuple[Any, int]:
    total = sum_along(x, dim, axis.size)
    at, shape = scatter_dimension, get_aval(total).shape
    length = shape[at] // axis_size
    parts = reshape(total, replaced(shape, at, axis.before, axis.size, axis.after * length))
    kept = replaced(shape, at, shape[at] // axis.size)
    out = reshape(move_batch_dim(parts, at + 1), (axis.size, *kept))
    if axis.rest != ():
        count = axis.before * axis.after
        out = reduce_scatter_p.bind(out, axis_name=axis.rest, axis_size=count, scatter_dimension=at + 1, tiled=True)
    return out if tiled else squeeze(out, (at + 1,)), 0


def _beside(dim: int, *, scatter_dimension: int, tiled: bool, **params: Any) -> tuple[dict[str, Any], int]:
    at = scatter_dimension + (dim <= scatter_dimension)
    return {"scatter_dimension": at, "tiled": tiled, **params}, dim - (not tiled and at < dim)


def _lower(
    ctx: Any, x: Any, *, axis_name: AxisName, axis_size: int, scatter_dimension: int, tiled: bool,
    axis_index_groups: Groups | None = None,
) -> Any:  # fmt: skip
    out = ctx.reduce_scatter(x, axis_name, axis_index_groups, scatter_dimension)
    return out if tiled else ctx.hlo.reshape(ctx.tensor_type(ctx.avals_out[0]), out)


reduce_scatter_p = collective("reduce_scatter", infer=_infer, over=_over, beside=_beside, lower=_lower)
is_linear(reduce_scatter_p)


def _gathered(ct: Any, aval: ShapedArray, *, scatter_dimension: int, **params: Any) -> Any:
    return batching.all_gather_p.bind(ct, all_gather_dimension=scatter_dimension, **params)


has_transpose(reduce_scatter_p, _gathered)


def psum_scatter(
    x: Any, axis_name: Any, *, scatter_dimension: int = 0, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """Returns the sum over a named axis, of which each element gets the slice of its position.

    Args:
      x: a pytree of arrays.
      axis_name: the axis, or a sequence of them, the slowest first.
      scatter_dimension: the dimension of the slices, as long as the axis.
      axis_index_groups: as for `all_gather`.
      tiled: whether that is a multiple of the axis, and stays with the quotient as its length.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: the dimension has another length, or the groups do not have each position once.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda row: psum_scatter(row, "i"), axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])

    Source: ``jax.lax.psum_scatter``.
    """
    name, groups, count = bound_groups("psum_scatter", axis_name, axis_index_groups)

    def scattered(leaf: Any) -> Any:
        shape = get_aval(leaf).shape
        at = canonical_axis("psum_scatter", scatter_dimension, len(shape))
        divided("psum_scatter", axis_name, count, shape, at, tiled=tiled)
        params = {"axis_size": count, "scatter_dimension": at, "tiled": bool(tiled)}
        summands = varying(without_bools(leaf), name)
        return reduce_scatter_p.bind(summands, axis_name=name, **params, **groups_param(groups))

    return tree.map(scattered, x)
