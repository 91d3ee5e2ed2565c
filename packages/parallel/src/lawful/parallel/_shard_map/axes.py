"""The axes of a mesh inside ``shard_map``: their names for collectives, and the shapes and types of parts of arrays.

A spec is here a tuple with the axes of each dimension, major first: ``(("x",), ())`` for ``PartitionSpec("x", None)``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

from lawful.core import ClosedJaxpr, ShapedArray, memoize, without_axes
from lawful.parallel._mesh.manual import manual_axes
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh

AxisName = Hashable
Spec = tuple[tuple[AxisName, ...], ...]


@memoize
def untyped(closed: ClosedJaxpr, mesh: Mesh | AbstractMesh, names: tuple[AxisName, ...], checked: bool) -> ClosedJaxpr:
    """Returns a jaxpr of parts whose types do not say what varies: to evaluate or lower it."""
    with manual_axes(mesh, names, checked):
        return without_axes(closed)


def axes_of(spec: Spec) -> tuple[AxisName, ...]:
    """Returns all axes of a spec."""
    return tuple([axis for axes in spec for axis in axes])


def part_aval(aval: ShapedArray, spec: Spec, sizes: Mapping[AxisName, int], checked: bool) -> ShapedArray:
    """Returns the type of the part of an array that each device has; the sizes must divide."""
    shape = tuple(
        [size // math.prod(sizes[axis] for axis in axes) for size, axes in zip(aval.shape, spec, strict=True)]
    )
    vma = aval.vma | {*axes_of(spec)} if checked else aval.vma
    return aval.update(shape=shape, vma=vma)


def whole_aval(aval: ShapedArray, spec: Spec, sizes: Mapping[AxisName, int], names: Sequence[AxisName]) -> ShapedArray:
    """Returns the type of the array whose parts have a type."""
    shape = tuple([size * math.prod(sizes[axis] for axis in axes) for size, axes in zip(aval.shape, spec, strict=True)])
    return aval.update(shape=shape, vma=aval.vma - {*names})
