"""Meshes: devices in an array whose dimensions have names."""

from __future__ import annotations

import enum
import functools
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, current
from lawful.ops import static_integers
from lawful.parallel._mesh.devices import Device, devices, process_index

AxisName = Hashable


class AxisType(enum.Enum):
    """Who splits arrays over an axis: the compiler (``Auto``), or the user in ``shard_map`` (``Manual``).

    Types have no shardings here, so the compiler has axes of JAX's type ``Explicit`` too, as those of ``Auto``.

    >>> make_mesh((1,), ("x",), (AxisType.Auto,)).axis_types
    (<AxisType.Auto: 1>,)

    Source: ``jax.sharding.AxisType``.
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


class _NamedAxes:
    """Axes with names and sizes: what `Mesh` and `AbstractMesh` share."""

    __slots__ = ()

    axis_names: tuple[AxisName, ...]
    axis_sizes: tuple[int, ...]

    @property
    def shape(self) -> OrderedDict[AxisName, int]:
        """The size of each axis by its name, in order."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def shape_tuple(self) -> tuple[tuple[AxisName, int], ...]:
        """The pairs of names and sizes."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.axis_sizes)

    @property
    def axis_types(self) -> tuple[AxisType, ...]:
        """The type of each axis."""
        return (AxisType.Auto,) * len(self.axis_names)


class AbstractMesh(_NamedAxes):
    """The axes of a mesh without devices: enough to trace for it.

    Args:
      axis_sizes: the size of each axis.
      axis_names: its name.

    >>> AbstractMesh((4, 2), ("x", "y"))
    AbstractMesh('x': 4, 'y': 2)

    Source: ``jax.sharding.AbstractMesh``.
    """

    __slots__ = ("axis_names", "axis_sizes")

    def __init__(self, axis_sizes: Sequence[int], axis_names: str | Sequence[AxisName], axis_types: Any = None) -> None:
        names = _axis_names("AbstractMesh", axis_names)
        sizes = static_integers("AbstractMesh", "axis_sizes", axis_sizes)
        _check_axes("AbstractMesh", names, sizes, axis_types)
        self.axis_names = names
        self.axis_sizes = sizes

    @property
    def empty(self) -> bool:
        """Whether it has no axis."""
        return not self.axis_names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractMesh) and self.shape_tuple == other.shape_tuple

    def __hash__(self) -> int:
        return hash(self.shape_tuple)

    def __repr__(self) -> str:
        return f"AbstractMesh({_axes_text(self)})"


class Mesh(_NamedAxes):
    """Devices in an array whose dimensions have names.

    Args:
      devices: an array of devices, or a sequence of them, which may be nested; each at most once.
      axis_names: a name for each dimension, or a single one.
      axis_types: None, or ``AxisType.Auto`` or ``AxisType.Explicit`` for each axis, which mean the same.

    It is also a context, in which specs alone name shardings, as with `set_mesh`.

    Raises:
      ArgumentValueError: a device or a name occurs twice, or names and dimensions differ in number.

    >>> mesh = Mesh(devices()[:1], ("x",))
    >>> mesh
    Mesh('x': 1)
    >>> mesh.shape["x"], mesh.size
    (1, 1)

    Source: ``jax.sharding.Mesh``.
    """

    __slots__ = ("__weakref__", "_hash", "axis_names", "axis_sizes", "devices", "flat_devices")

    def __init__(self, devices: Any, axis_names: str | Sequence[AxisName], axis_types: Any = None) -> None:
        names = _axis_names("Mesh", axis_names)
        array = _device_array(devices)
        if array.ndim != len(names):
            raise ArgumentValueError(
                f"Mesh: expected an axis name for each of {array.ndim} dimensions of the devices, got {len(names)}: "
                f"{names}; give as many names, or reshape the devices"
            )
        _check_axes("Mesh", names, array.shape, axis_types)
        flat = tuple(array.ravel())
        if wrong := [device for device in flat if not isinstance(device, Device)]:
            raise ArgumentTypeError(
                f"Mesh: expected devices, got {wrong[0]!r} of type {type(wrong[0]).__name__}; take those of "
                "lawful.parallel.devices()"
            )
        if len({*flat}) < len(flat):
            repeated = next(device for i, device in enumerate(flat) if device in flat[:i])
            raise ArgumentValueError(
                f"Mesh: expected each device once, got {repeated} more than once; leave out repetitions"
            )
        array.flags.writeable = False
        self.devices = array
        self.axis_names = names
        self.axis_sizes = array.shape
        self.flat_devices: tuple[Device, ...] = flat
        self._hash = hash((names, array.shape, flat))

    @property
    def empty(self) -> bool:
        """Whether it has no devices."""
        return not self.flat_devices

    @property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The ids of the devices, in the shape of the mesh."""
        return np.reshape(np.array([device.id for device in self.flat_devices], np.int64), self.axis_sizes)

    @property
    def local_devices(self) -> list[Device]:
        """The devices of this process."""
        here = process_index()
        return [device for device in self.flat_devices if device.process_index == here]

    @property
    def is_multi_process(self) -> bool:
        """Whether devices belong to several processes."""
        return len({device.process_index for device in self.flat_devices}) > 1

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The axes without the devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Mesh)
            and self._hash == other._hash
            and self.axis_names == other.axis_names
            and self.axis_sizes == other.axis_sizes
            and self.flat_devices == other.flat_devices
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Mesh({_axes_text(self)})"

    def __enter__(self) -> Mesh:
        context.push(self)
        return self

    def __exit__(self, *error: object) -> None:
        context.pop()

    def __call__[**P, R](self, function: Callable[P, R]) -> Callable[P, R]:
        """Returns a function that runs in this context, as a decorator."""

        @functools.wraps(function)
        def within(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return within


class _Context(threading.local):
    """The meshes that this thread has entered."""

    def __init__(self) -> None:
        self.stack: list[Mesh | AbstractMesh] = []

    def push(self, mesh: Mesh | AbstractMesh) -> None:
        """Enters a mesh, which functions that are traced may read."""
        self.stack.append(mesh)
        current.context = mesh

    def pop(self) -> None:
        """Leaves the last one."""
        self._cut(len(self.stack) - 1)

    @contextmanager
    def entered(self, mesh: Mesh | AbstractMesh) -> Iterator[None]:
        """Enters a mesh, and leaves it with all that were entered after it."""
        depth = len(self.stack)
        self.push(mesh)
        try:
            yield
        finally:
            self._cut(depth)

    def _cut(self, depth: int) -> None:
        del self.stack[depth:]
        current.context = self.stack[-1] if self.stack else None


context: Final = _Context()


class set_mesh:
    """Makes a mesh the one that specs alone refer to: for the rest of the program, or inside ``with``.

    Args:
      mesh: the mesh.

    >>> mesh = make_mesh((1,), ("x",))
    >>> with set_mesh(mesh):
    ...     get_mesh()
    Mesh('x': 1)

    Source: ``jax.set_mesh``.
    """

    __slots__ = ()

    def __init__(self, mesh: Mesh) -> None:
        if not isinstance(mesh, Mesh):
            raise ArgumentTypeError(f"set_mesh: expected a Mesh, got {mesh!r}; make one with make_mesh")
        context.push(mesh)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        context.pop()


def get_mesh() -> Mesh | AbstractMesh | None:
    """Returns the mesh of the innermost context, None outside of any.

    Inside a ``shard_map`` it is the mesh that this maps over.

    >>> get_mesh() is None
    True
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     get_mesh().axis_names
    ('x',)

    Source: ``jax.sharding.get_mesh``.
    """
    return context.stack[-1] if context.stack else None


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[AxisName],
    axis_types: Any = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """Returns a mesh of the first devices, or of those given.

    Args:
      axis_shapes: the size of each axis.
      axis_names: its name.
      axis_types: None, or ``AxisType.Auto`` or ``AxisType.Explicit`` for each axis, which mean the same.
      devices: the devices; by default those of `devices`.

    Raises:
      ArgumentValueError: there are too few devices, or a name occurs twice.

    >>> make_mesh((1, 1), ("x", "y"))
    Mesh('x': 1, 'y': 1)

    Source: ``jax.make_mesh``.
    """
    sizes = static_integers("make_mesh", "axis_shapes", axis_shapes)
    names = _axis_names("make_mesh", axis_names)
    _check_axes("make_mesh", names, sizes, axis_types)
    known = list(_default_devices() if devices is None else devices)
    needed = math.prod(sizes)
    if len(known) < needed or (devices is not None and len(known) != needed):
        cure = "give as many" if devices is not None else "make axes smaller, or call set_cpu_device_count first"
        raise ArgumentValueError(
            f"make_mesh: expected {needed} devices for axes of sizes {sizes}, got {len(known)}; {cure}"
        )
    return Mesh(_device_array(known[:needed]).reshape(sizes), names)


_default_devices = devices


def _device_array(devices: Any) -> np.ndarray[Any, Any]:
    """Returns devices as an array of objects, of its own."""
    if isinstance(devices, np.ndarray):
        return devices.astype(object)
    nested = list(devices) if isinstance(devices, Sequence) else [devices]
    if any(isinstance(row, Sequence | np.ndarray) for row in nested):
        rows = [_device_array(row) for row in nested]
        if len({row.shape for row in rows}) > 1:
            raise ArgumentValueError(f"Mesh: expected rows of devices of one length, got {nested}; make them equal")
        return np.stack(rows)
    array = np.empty(len(nested), object)
    array[:] = nested
    return array if isinstance(devices, Sequence) else array.reshape(())


def _axis_names(name: str, axis_names: Any) -> tuple[AxisName, ...]:
    if isinstance(axis_names, str):
        return (axis_names,)
    if not isinstance(axis_names, Sequence) or not all(isinstance(axis, Hashable) for axis in axis_names):
        raise ArgumentTypeError(f"{name}: expected axis names, got {axis_names!r}; give a tuple such as ('x', 'y')")
    return tuple(axis_names)


def _check_axes(name: str, names: tuple[AxisName, ...], sizes: tuple[int, ...], axis_types: Any) -> None:
    """Raises an error if names repeat, or names and sizes differ in number, or a size or type is wrong."""
    if len(names) != len(sizes):
        raise ArgumentValueError(
            f"{name}: expected a name for each of {len(sizes)} axes, got {names}; give as many names as sizes"
        )
    for axis in names:
        if axis is None or names.count(axis) > 1:
            what = "None" if axis is None else f"{axis!r} more than once"
            raise ArgumentValueError(f"{name}: expected axis names that differ, got {what} in {names}; rename one")
    if any(size < 1 for size in sizes):
        raise ArgumentValueError(f"{name}: expected axes of at least one device, got the sizes {sizes}; correct them")
    if axis_types is None:
        return
    types = tuple(axis_types) if isinstance(axis_types, Sequence) else (axis_types,)
    if len(types) != len(names) or any(axis_type not in (AxisType.Auto, AxisType.Explicit) for axis_type in types):
        raise ArgumentValueError(
            f"{name}: expected AxisType.Auto or Explicit for each of {len(names)} axes, got {axis_types}; leave "
            "axis_types out; axes become manual in shard_map"
        )


def _axes_text(mesh: _NamedAxes) -> str:
    return ", ".join(f"{axis!r}: {size}" for axis, size in mesh.shape_tuple)
