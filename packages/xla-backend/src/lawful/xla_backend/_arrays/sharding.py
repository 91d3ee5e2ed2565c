"""``Sharding``: what the backend knows of how an array lies on devices, and the sharding of one device.

Meshes with names are `lawful.parallel`'s, which stands above this package. A class of its kind is a `Sharding` by
having these methods; it need not inherit from it.

>>> from lawful.xla_backend import devices
>>> sharding = SingleDeviceSharding(devices()[0])
>>> sharding.shard_shape((8, 3))
(8, 3)
>>> isinstance(sharding, Sharding), isinstance(3, Sharding)
(True, False)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Final

from lawful.core import ArgumentTypeError, shorten
from lawful.xla_backend._runtime import bindings, partitions
from lawful.xla_backend._runtime.handles import Device

Index = tuple[slice, ...]
DimensionAxes = tuple[tuple[Hashable, ...], ...]

_STRUCTURE: Final = ("device_order", "mesh_axes", "dimension_axes", "with_dimension_axes", "shard_shape")


class Sharding(ABC):
    """How the parts of an array lie on devices, which are the points of a mesh.

    A class with these methods is a subclass, whatever it inherits from. Shardings are hashable, and equal if they
    are the same for every array.

    Source: ``jax.sharding.Sharding``.

    >>> from lawful.xla_backend import devices
    >>> sharding = SingleDeviceSharding(devices()[0])
    >>> sharding.num_devices, sharding.is_fully_replicated, sharding.is_equivalent_to(sharding, 2)
    (1, True, True)
    """

    __slots__ = ()

    @property
    @abstractmethod
    def device_order(self) -> tuple[Device, ...]:
        """The devices, in the order of the points of the mesh, the last axis fastest."""

    @property
    @abstractmethod
    def mesh_axes(self) -> tuple[tuple[Hashable, int], ...]:
        """The names and sizes of the axes of the mesh, major first; none for a single device."""

    @abstractmethod
    def dimension_axes(self, ndim: int) -> DimensionAxes:
        """Returns for each dimension of an array the axes that it is split over, major first."""

    @abstractmethod
    def with_dimension_axes(self, dims: DimensionAxes) -> Sharding:
        """Returns the sharding on the same mesh that splits dimensions over these axes."""

    @abstractmethod
    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of the part that each device has.

        Raises:
          ArgumentValueError: a dimension is not a multiple of the number of its parts.
        """

    @abstractmethod
    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, Index]:
        """Returns for each device the index of its part: a slice of each dimension."""

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, Index]:
        """Returns `devices_indices_map` for the devices of this process."""
        here = self.addressable_devices
        return {device: index for device, index in self.devices_indices_map(global_shape).items() if device in here}

    @property
    def device_set(self) -> set[Any]:
        """The devices."""
        return {*self.device_order}

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self.device_order)

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices of this process."""
        return {*partitions.addressable(self.device_order)}

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return len(partitions.addressable(self.device_order)) == len(self.device_order)

    @property
    @abstractmethod
    def is_fully_replicated(self) -> bool:
        """Whether every device has the whole array."""

    @property
    def memory_kind(self) -> str | None:
        """The kind of memory: None, as there is one."""
        return None

    @abstractmethod
    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether another sharding puts the same parts of arrays of ``ndim`` dimensions on the same devices."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        if cls is not Sharding:
            return NotImplemented
        return all(hasattr(subclass, name) for name in _STRUCTURE) or NotImplemented


class SingleDeviceSharding(Sharding):
    """The sharding of an array that is on one device.

    Args:
      device: the device.
      memory_kind: None.

    Source: ``jax.sharding.SingleDeviceSharding``.

    >>> from lawful.xla_backend import device_put, devices
    >>> device_put(1.0).sharding == SingleDeviceSharding(devices()[0])
    True
    """

    __slots__ = ("_device",)

    def __init__(self, device: Device, *, memory_kind: None = None) -> None:
        if not bindings.is_device(device):
            raise ArgumentTypeError(
                f"SingleDeviceSharding: expected a device, got {shorten(device)}; take one of devices()"
            )
        if memory_kind is not None:
            raise ArgumentTypeError(
                f"SingleDeviceSharding: expected no kind of memory, got {memory_kind!r}; leave memory_kind out"
            )
        self._device = device

    @property
    def device_order(self) -> tuple[Device, ...]:
        return (self._device,)

    @property
    def mesh_axes(self) -> tuple[tuple[Hashable, int], ...]:
        return ()

    def dimension_axes(self, ndim: int) -> DimensionAxes:
        return ((),) * ndim

    def with_dimension_axes(self, dims: DimensionAxes) -> SingleDeviceSharding:
        return self

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(global_shape)

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, Index]:
        return {self._device: (slice(None),) * len(global_shape)}

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        return isinstance(other, Sharding) and other.device_order == (self._device,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self._device == other._device

    def __hash__(self) -> int:
        return hash((SingleDeviceSharding, self._device))

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r})"
