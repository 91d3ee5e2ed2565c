"""Arrays are distributed over devices, and from one sharding to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, ShapedArray, cached_function, record
from lawful.xla_backend._arrays.sharding import Index, Sharding
from lawful.xla_backend._arrays.tiling import assignment_of, is_same_assignment, runtime_sharding
from lawful.xla_backend._runtime import bindings, partitions
from lawful.xla_backend._runtime.handles import Device


def check_distribution(aval: ShapedArray, sharding: Sharding) -> tuple[int, ...]:
    """Returns the shape of the parts of an array.

    Raises:
      ArgumentValueError: the sharding is over devices that are not XLA's, or it does not divide the shape.
    """
    for device in sharding.device_order:
        if not bindings.is_device(device):
            raise ArgumentValueError(
                f"device_put: expected devices of XLA, got {device} in {sharding}; make the mesh of devices()"
            )
    part = tuple(sharding.shard_shape(aval.shape))
    # The runtime does not check sizes.
    tiles = assignment_of(sharding, aval.ndim).shape[:-1]
    if tuple(size * tile for size, tile in zip(part, tiles, strict=True)) != aval.shape:
        raise ArgumentValueError(
            f"device_put: expected {sharding} to split {aval.shape} into {tiles} parts, got parts of shape {part}; "
            "correct its shard_shape"
        )
    return part


def distribute(values: np.ndarray[Any, Any], aval: ShapedArray, sharding: Sharding) -> Any:
    """Returns a buffer with the parts of an array of the host on the devices of a sharding.

    Raises:
      ArgumentValueError: as `check_distribution`.
    """
    parts = _parts(sharding, aval.shape)
    runtime = runtime_sharding(sharding, aval.ndim)
    # Elements that are repeated in memory count as the same part for the runtime.
    is_plain = values.size > 0 and (values.flags.c_contiguous or values.flags.f_contiguous)
    if is_plain and len(parts.indices) == len(parts.devices):
        shards = [values[index] for index in parts.indices]
        return partitions.put_shards(shards, parts.devices, runtime, aval, copied=True)
    distinct = [partitions.private(values[index], aval.dtype) for index in parts.indices]
    return partitions.put_shards([distinct[number] for number in parts.numbers], parts.devices, runtime, aval)


@record
class Parts:
    """The parts of an array that devices of this process have.

    Attributes:
      devices: the devices, in the order of the sharding.
      indices: the parts, each once, as indices of the array.
      numbers: for each device the number of its part.
    """

    devices: list[Device]
    indices: list[Index]
    numbers: list[int]


@cached_function("parts of sharded arrays", 1024)
def _parts(sharding: Sharding, shape: tuple[int, ...]) -> Parts:
    part = check_distribution(ShapedArray(shape, np.dtype(bool)), sharding)
    indices = sharding.addressable_devices_indices_map(shape)
    devices = [device for device in sharding.device_order if device in indices]
    known: dict[Any, int] = {}
    found: list[Index] = []
    numbers: list[int] = []
    for device in devices:
        index = indices[device]
        sizes = tuple([len(range(*piece.indices(size))) for piece, size in zip(index, shape, strict=True)])
        if sizes != part:
            raise ArgumentValueError(
                f"device_put: expected {sharding} to give {device} a part of shape {part}, got the index {index}; "
                "correct its devices_indices_map"
            )
        number = known.setdefault(tuple([(piece.start, piece.stop) for piece in index]), len(known))
        if number == len(found):
            found.append(index)
        numbers.append(number)
    return Parts(devices, found, numbers)


def may_copy_shards(source: Sharding, target: Sharding, ndim: int) -> bool:
    """Whether a move needs copies inside of each process only: the n-th device of each has the same part."""
    first, second = source.device_order, target.device_order
    if len(first) != len(second) or first[0].client is not second[0].client:
        return False
    if any(a.process_index != b.process_index for a, b in zip(first, second, strict=True)):
        return False
    return is_same_assignment(assignment_of(source, ndim), assignment_of(target, ndim))


Resharding = Callable[[Any, ShapedArray, Sharding, Sharding], Any]
_resharding: Resharding | None = None


def set_resharding(program: Resharding) -> None:
    """Sets the function that reshards a buffer by a program on its devices: of its type and the two shardings."""
    global _resharding
    _resharding = program


def may_reshard(source: Sharding, target: Sharding) -> bool:
    """Whether a program on the devices moves the parts better than this process would.

    On the CPU the memory is the process's own. No process can read all parts of an array of several.
    """
    devices = source.device_order
    on_host = bindings.platform_of(devices[0]) == "cpu" and source.is_fully_addressable
    return not on_host and len(devices) > 1 and devices == target.device_order


def resharded(buffer: Any, aval: ShapedArray, source: Sharding, target: Sharding) -> Any:
    """Returns a buffer with the same values in other parts on the same devices."""
    assert _resharding is not None, "the package sets it"
    return _resharding(buffer, aval, source, target)
