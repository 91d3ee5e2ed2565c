"""Where an array is: its devices, its sharding and its shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lawful.core import ArgumentValueError, ShapedArray, cached_function, record
from lawful.ops import ArrayMethods
from lawful.xla_backend._arrays.sharding import Index, Sharding, SingleDeviceSharding
from lawful.xla_backend._arrays.tiling import runtime_sharding
from lawful.xla_backend._runtime import bindings, clients, partitions
from lawful.xla_backend._runtime.handles import Device

if TYPE_CHECKING:
    from lawful.xla_backend._arrays.array import Array

#: Where an array is: a device, or a sharding over several.
Place = Device | Sharding


@record
class Shard:
    """The part of an array that one device has.

    Attributes:
      device: the device.
      index: the part, as an index of the whole array.
      replica_id: how many devices before this one have the same part.
      data: the values, an Array on the device; None where the device belongs to another process.

    Source: ``jax.Shard``.

    >>> from lawful.xla_backend import device_put
    >>> shard = device_put([1.0, 2.0])[0].addressable_shards[0]
    >>> shard.index, shard.replica_id, float(shard.data)
    ((), 0, 1.0)
    """

    device: Device
    index: Index
    replica_id: int
    data: Array | None


class PlacedArray(ArrayMethods):
    """An array in the memory of devices: where it is, and its shards."""

    __slots__ = ("_aval", "_buffer", "_device")

    # Callers set the slots directly, which is faster than __init__: each result of a call is an Array.
    _buffer: Any
    _aval: ShapedArray
    _device: Place

    @property
    def sharding(self) -> Sharding:
        """How the parts of the array lie on devices."""
        place = self._device
        return place if isinstance(place, Sharding) else single_sharding(place)

    @property
    def device(self) -> Place:
        """The device that the array is on; where it is on several, its sharding."""
        place = self._device
        if type(place) is bindings.DeviceType:
            return place
        devices = self.sharding.device_order
        return devices[0] if len(devices) == 1 else place

    def devices(self) -> set[Device]:
        """Returns the set of devices that the array is on."""
        return {*_devices(self._device)}

    @property
    def platform(self) -> str:
        """The name of the platform of the devices, ``"cpu"`` or ``"cuda"``."""
        return bindings.platform_of(_devices(self._device)[0])

    @property
    def committed(self) -> bool:
        """Whether a program runs where the array is: always, but for an array on the default device alone.

        Beside arrays on several devices, such an array is copied to all of these.
        """
        return self._device is not clients.default_device()

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device has all elements."""
        return type(self._device) is bindings.DeviceType or self.sharding.is_fully_replicated

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return type(self._device) is bindings.DeviceType or self.sharding.is_fully_addressable

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts on the devices of this process, in the order of the devices of the sharding."""
        return [shard for shard in self.global_shards if shard.data is not None]

    @property
    def global_shards(self) -> list[Shard]:
        """The parts on all devices, in the order of the sharding; without data those on devices of other processes."""
        sharding, here = self.sharding, self._local_data()
        indices = sharding.devices_indices_map(self._aval.shape)
        found: list[Shard] = []
        replicas: dict[Any, int] = {}
        for device in sharding.device_order:
            index = indices[device]
            key = tuple([(part.start, part.stop) for part in index])
            number = replicas[key] = replicas.get(key, -1) + 1
            found.append(Shard(device, index, number, here.get(device)))
        return found

    def addressable_data(self, index: int) -> Array:
        """Returns the part on a device of this process, as an Array on that device.

        Args:
          index: the number of the device among those of this process, in the order of the sharding.
        """
        return list(self._local_data().values())[index]

    def _local_data(self) -> dict[Device, Array]:
        """Returns the parts by their devices."""
        place, buffer = self._device, self._live_buffer()
        if type(place) is bindings.DeviceType:
            return {place: self}  # type: ignore[dict-item]
        sharding = self.sharding
        aval = self._aval.update(shape=sharding.shard_shape(self._aval.shape))
        devices = partitions.addressable(sharding.device_order)
        parts = [type(self)() for _ in devices]  # there is no constructor with arguments
        for part, shard, device in zip(parts, partitions.shards_of(buffer), devices, strict=True):
            part._buffer, part._aval, part._device = shard, aval, device
        return dict(zip(devices, parts, strict=True))  # type: ignore[arg-type]

    def _live_buffer(self) -> Any:
        raise NotImplementedError

    def _require_addressable(self, what: str) -> None:
        """Raises ArgumentValueError where a part is on a device of another process."""
        if not self.sharding.is_fully_addressable:
            raise ArgumentValueError(
                f"{what}: expected an array on devices of this process, got the {self._aval} with {self.sharding}, of "
                "which other processes have parts; use its addressable_shards, or gather it with process_allgather"
            )


@cached_function("shardings of single devices", 256)
def single_sharding(device: Device) -> SingleDeviceSharding:
    """Returns the sharding of a single device."""
    return SingleDeviceSharding(device)


def _devices(place: Place) -> tuple[Device, ...]:
    return place.device_order if isinstance(place, Sharding) else (place,)


def copied_to(buffer: Any, aval: ShapedArray, place: Place) -> Any:
    """Returns a copy of a buffer, shard by shard, at a place with as many shards of the same shapes.

    Each shard stays in its process: the runtime copies no array of which other processes have parts.
    """
    if not isinstance(place, Sharding):
        return bindings.copy_buffer(buffer, place)
    runtime = runtime_sharding(place, aval.ndim)
    if place.is_fully_addressable:
        return partitions.copy_shards(buffer, place.device_order, runtime)
    devices = partitions.addressable(place.device_order)
    copies = [
        bindings.copy_buffer(shard, device) for shard, device in zip(partitions.shards_of(buffer), devices, strict=True)
    ]
    return partitions.put_shards(copies, devices, runtime, aval)
