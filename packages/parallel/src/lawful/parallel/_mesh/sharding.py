"""``NamedSharding``: how the parts of an array lie on the devices of a mesh."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, primitives_by_name
from lawful.parallel._mesh.devices import Device, process_index
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh, make_mesh
from lawful.parallel._mesh.partition_spec import UNCONSTRAINED, PartitionSpec, axes_of_entry, spec_of

Index = tuple[slice, ...]


class NamedSharding:
    """How the parts of an array lie on the devices of a mesh: each dimension is split over axes, or is whole.

    Args:
      mesh: the devices.
      spec: the axes of each dimension. A device has the part at its position along these axes; devices that differ in
        other axes only have equal parts.
      memory_kind: None; as in JAX, kinds of memory are for accelerators that have several.

    Raises:
      ArgumentValueError: the spec names an axis that the mesh does not have.

    >>> from lawful.parallel import make_mesh, PartitionSpec as P
    >>> from lawful.parallel import numpy_devices
    >>> mesh = make_mesh((2, 2), ("x", "y"), devices=numpy_devices(4))
    >>> sharding = NamedSharding(mesh, P("x", None))
    >>> sharding.shard_shape((4, 3))
    (2, 3)

    Source: ``jax.sharding.NamedSharding``.
    """

    __slots__ = ("_hash", "_indices", "_names", "mesh", "spec")

    def __init__(self, mesh: Mesh | AbstractMesh, spec: PartitionSpec, *, memory_kind: None = None) -> None:
        if not isinstance(mesh, Mesh | AbstractMesh):
            raise ArgumentTypeError(f"NamedSharding: expected a Mesh, got {mesh!r}; make one with make_mesh")
        if not isinstance(spec, PartitionSpec):
            raise ArgumentTypeError(
                f"NamedSharding: expected a PartitionSpec, got {spec!r}; write PartitionSpec('x', None)"
            )
        if memory_kind is not None:
            raise ArgumentValueError(
                f"NamedSharding: expected no kind of memory, got {memory_kind!r}; leave memory_kind out"
            )
        for axis in spec.axes():
            if axis not in mesh.axis_names:
                raise ArgumentValueError(
                    f"NamedSharding: expected axes of {mesh}, got {axis!r} in {spec}; correct the name"
                )
        self.mesh = mesh
        self.spec = spec
        self._names = tuple(map(axes_of_entry, spec))
        self._hash = hash((mesh, spec))
        self._indices: dict[tuple[int, ...], dict[Device, Index]] = {}

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, NamedSharding)
            and self._hash == other._hash
            and self.mesh == other.mesh
            and self.spec == other.spec
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"NamedSharding({self.mesh}, {self.spec})"

    # As an object that XLA's backend understands

    @property
    def device_order(self) -> tuple[Device, ...]:
        """The devices in the order of partitions."""
        if isinstance(self.mesh, AbstractMesh):
            raise ArgumentTypeError(f"NamedSharding: expected a mesh with devices, got {self.mesh}; give a Mesh")
        return self.mesh.flat_devices

    @property
    def is_abstract(self) -> bool:
        """Whether the mesh has no devices: a program with it runs where its arguments are."""
        return isinstance(self.mesh, AbstractMesh)

    @property
    def mesh_axes(self) -> tuple[tuple[Hashable, int], ...]:
        """The names and sizes of the axes of the mesh, major first."""
        return self.mesh.shape_tuple

    def dimension_axes(self, ndim: int) -> tuple[tuple[Hashable, ...], ...]:
        """Returns the axes that each dimension is split over, major first.

        Raises:
          ArgumentValueError: the spec has more dimensions than the array.
        """
        if len(self._names) > ndim:
            raise ArgumentValueError(
                f"NamedSharding: expected an array of at least {len(self._names)} dimensions for {self.spec}, got one "
                f"of {ndim}; shorten the spec"
            )
        return self._names + ((),) * (ndim - len(self._names))

    def unconstrained_dimensions(self) -> tuple[int, ...]:
        """Returns the dimensions whose split the compiler may choose, in a constraint."""
        return tuple(dim for dim, entry in enumerate(self.spec) if entry is UNCONSTRAINED)

    def with_dimension_axes(self, dims: Sequence[tuple[Hashable, ...]]) -> NamedSharding:
        """Returns a sharding over the same mesh, by the axes of each dimension."""
        return NamedSharding(self.mesh, spec_of(dims))

    def update(self, *, mesh: Mesh | AbstractMesh | None = None, spec: PartitionSpec | None = None) -> NamedSharding:
        """Returns a sharding with another mesh or spec."""
        return NamedSharding(self.mesh if mesh is None else mesh, self.spec if spec is None else spec)

    def on_devices(self, devices: Sequence[Device]) -> NamedSharding:
        """Returns the sharding over a mesh with the axes of its own, and these devices, the last axis fastest."""
        return self.update(mesh=make_mesh(self.mesh.axis_sizes, self.mesh.axis_names, devices=devices))

    def constrain(self, x: Any) -> Any:
        """Returns a value that a compiled program lays out so; see `with_sharding_constraint`."""
        aval = get_aval(x)
        self.shard_shape(aval.shape)
        full = PartitionSpec(*self.spec, *[None] * (aval.ndim - len(self.spec)))
        return primitives_by_name["sharding_constraint"].bind(x, sharding=NamedSharding(self.mesh, full))

    # Its devices

    @property
    def device_set(self) -> set[Device]:
        """The devices."""
        return {*self.device_order}

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return self.mesh.size

    @property
    def addressable_devices(self) -> set[Device]:
        """The devices of this process."""
        here = process_index()
        return {device for device in self.device_order if device.process_index == here}

    @property
    def memory_kind(self) -> None:
        """The kind of memory: None, as there is one."""
        return None

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return len(self.addressable_devices) == self.mesh.size

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device has the whole array."""
        return all(math.prod(self.mesh.shape[axis] for axis in names) == 1 for names in self._names)

    # The parts of an array

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of the part of an array that each device has.

        Raises:
          ArgumentValueError: a dimension is not a multiple of the size of its axes, or there are too few dimensions.
        """
        shape = tuple(global_shape)
        return tuple(
            self._part(shape, dim, names) if names else shape[dim]
            for dim, names in enumerate(self.dimension_axes(len(shape)))
        )

    def _part(self, shape: tuple[int, ...], dim: int, names: tuple[Hashable, ...]) -> int:
        parts = math.prod(self.mesh.shape[axis] for axis in names)
        size, rest = divmod(shape[dim], parts)
        if rest:
            of = f"axis {names[0]!r}" if len(names) == 1 else f"axes {', '.join(map(repr, names))}"
            raise ArgumentValueError(
                f"NamedSharding: expected dimension {dim} of the shape {shape} to be a multiple of {parts}, the size "
                f"of {of} of the mesh, got {shape[dim]}; pad the array, or split another dimension"
            )
        return size

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        """Returns for each device the index of its part: a slice of each dimension."""
        shape = tuple(global_shape)
        found = self._indices.get(shape)
        if found is None:
            part = self.shard_shape(shape)
            positions = np.indices(self.mesh.axis_sizes).reshape(len(self.mesh.axis_names), -1)
            position_of = dict(zip(self.mesh.axis_names, positions, strict=True))
            columns = []
            for names, whole, size in zip(self.dimension_axes(len(shape)), shape, part, strict=True):
                number = np.zeros(self.mesh.size, np.int64)
                for axis in names:
                    number = number * self.mesh.shape[axis] + position_of[axis]
                columns.append(
                    [slice(n * size, (n + 1) * size) if size < whole else slice(None) for n in number.tolist()]
                )
            indices = zip(*columns, strict=True) if columns else [()] * self.mesh.size
            found = dict(zip(self.device_order, map(tuple, indices), strict=True))
            if len(self._indices) >= 16:
                self._indices.clear()
            self._indices[shape] = found
        return dict(found)

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        """Returns `devices_indices_map` for the devices of this process."""
        here = self.addressable_devices
        return {device: index for device, index in self.devices_indices_map(global_shape).items() if device in here}

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether another sharding puts the same parts of arrays of ``ndim`` dimensions on the same devices."""
        if self == other:
            return True
        try:
            theirs = other.device_order, other.dimension_axes(ndim), other.mesh_axes
        except AttributeError:
            return False
        if theirs[0] != self.device_order:
            return len(self.device_order) == 1 and {*theirs[0]} == {*self.device_order}
        if theirs[2] == self.mesh_axes:
            sizes = self.mesh.shape
            mine = [[axis for axis in names if sizes[axis] > 1] for names in self.dimension_axes(ndim)]
            return mine == [[axis for axis in names if sizes[axis] > 1] for names in theirs[1]]
        whole = (self.mesh.size,) * ndim
        return self.devices_indices_map(whole) == dict(other.devices_indices_map(whole))

    def __reduce__(self) -> tuple[object, ...]:
        return NamedSharding, (self.mesh, self.spec)
