"""The reference of ``shard_map``: ``vmap`` over the named axes of the mesh, which the NumPy backend runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lawful.batching import vmap
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, get_aval
from lawful.ops import getitem, reshape, transpose
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh
from lawful.parallel._shard_map.axes import AxisName, Spec, axes_of, untyped


def as_vmap(
    jaxpr: ClosedJaxpr, *, mesh: Mesh | AbstractMesh, in_specs: Sequence[Spec], out_specs: Sequence[Spec],
    axis_names: Sequence[AxisName], check_vma: bool = True,
) -> Callable[..., list[Any]]:  # fmt: skip
    """Returns the function of whole arrays that a jaxpr of parts stands for."""
    sizes = mesh.shape
    program = untyped(jaxpr, mesh, tuple(axis_names), check_vma)

    def on_all(*args: Any) -> list[Any]:
        stacks = [_split(x, spec, sizes, axis_names) for x, spec in zip(args, in_specs, strict=True)]

        def along(axes: Sequence[AxisName], *parts: Any) -> list[Any]:
            if not axes:
                return eval_closed_jaxpr(program, *parts)
            axis, *rest = axes
            # A value that is whole along the axis is shared.
            mapped = tuple([0 if axis in axes_of(spec) else None for spec in in_specs])
            outs: list[Any] = vmap(lambda *xs: along(rest, *xs), in_axes=mapped, axis_name=axis, axis_size=sizes[axis])(
                *parts
            )
            return outs

        outs = along(axis_names, *stacks)
        return [_join(x, spec, sizes, axis_names) for x, spec in zip(outs, out_specs, strict=True)]

    return on_all


def _split(x: Any, spec: Spec, sizes: Mapping[AxisName, int], axis_names: Sequence[AxisName]) -> Any:
    """Returns an array with a dimension in front for each axis that it is split over, in the order of the mesh."""
    if not axes_of(spec):
        return x
    shape: list[int] = []
    position: dict[AxisName, int] = {}
    inner: list[int] = []
    for size, axes in zip(get_aval(x).shape, spec, strict=True):
        for axis in axes:
            position[axis] = len(shape)
            shape.append(sizes[axis])
        inner.append(len(shape))
        shape.append(size // math.prod(sizes[axis] for axis in axes))
    outer = [position[axis] for axis in axis_names if axis in position]
    return transpose(reshape(x, tuple(shape)), (*outer, *inner))


def _join(x: Any, spec: Spec, sizes: Mapping[AxisName, int], axis_names: Sequence[AxisName]) -> Any:
    """Returns an array from parts along all axes, which are its dimensions in front; of equal parts the first."""
    split = axes_of(spec)
    x = getitem(x, tuple([slice(None) if axis in split else 0 for axis in axis_names]))
    outer = {axis: i for i, axis in enumerate([axis for axis in axis_names if axis in split])}
    order: list[int] = []
    shape: list[int] = []
    for dim, axes in enumerate(spec):
        order += [*[outer[axis] for axis in axes], len(outer) + dim]
        shape.append(get_aval(x).shape[len(outer) + dim] * math.prod(sizes[axis] for axis in axes))
    return reshape(transpose(x, tuple(order)), tuple(shape)) if split else x
