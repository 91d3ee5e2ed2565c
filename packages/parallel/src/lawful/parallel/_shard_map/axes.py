"""The axes of a mesh inside ``shard_map``: their names for collectives, and the shapes and types of parts of arrays.

A spec is here a tuple with the axes of each dimension, major first: ``(("x",), ())`` for ``PartitionSpec("x", None)``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from lawful.core import ClosedJaxpr, Primitive, ShapedArray, Trace, current, memoize, new_trace, plain, without_axes
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh

AxisName = Hashable
Spec = tuple[tuple[AxisName, ...], ...]


class ManualTrace(Trace):
    """Binds the axes of a mesh by name, and passes every operation to its parent.

    Args:
      parent: the trace outside.
      axes: names and sizes.
      checked: whether types say which values vary over them.
    """

    __slots__ = ("names",)

    def __init__(self, parent: Trace, axes: Sequence[tuple[AxisName, int]], checked: bool) -> None:
        super().__init__(parent, "shard_map")
        self.axis_env = (*parent.axis_env, *axes)
        self.names = {name for name, _ in axes}
        self.checked_axes = parent.checked_axes | self.names if checked else parent.checked_axes - self.names

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        assert self.parent is not None
        return self.parent.process_primitive(primitive, args, params)


def outer_manual_axes() -> set[AxisName]:
    """Returns the names of the axes that the functions being traced are mapped over by ``shard_map``."""
    found: set[AxisName] = set()
    trace: Trace | None = current.trace
    while trace is not None:
        if type(trace) is ManualTrace:
            found |= trace.names
        trace = trace.parent
    return found


@contextmanager
def manual_axes(mesh: Mesh | AbstractMesh, names: Sequence[AxisName], checked: bool) -> Iterator[None]:
    """Inside it, collectives know some axes of a mesh.

    Where types say what varies over these, the plain interpreters trace: accelerators replay equations without typing
    them again.
    """
    sizes = mesh.shape
    trace = ManualTrace(current.trace, [(name, sizes[name]) for name in names], checked)
    with new_trace(trace), plain() if checked else nullcontext():
        yield


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
