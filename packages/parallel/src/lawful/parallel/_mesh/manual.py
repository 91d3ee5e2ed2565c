"""The axes of a mesh that a function of parts is mapped over: collectives know them by name while it is traced."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from lawful.core import Primitive, Trace, current, new_trace, plain_traces
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh, context

AxisName = Hashable


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
    """Inside it, collectives know some axes of a mesh, which is the mesh of the context.

    Where types say what varies over these, the plain interpreters trace: accelerators do not type what they replay.
    """
    sizes = mesh.shape
    trace = ManualTrace(current.trace, [(name, sizes[name]) for name in names], checked)
    with context.entered(mesh), new_trace(trace), plain_traces() if checked else nullcontext():
        yield
