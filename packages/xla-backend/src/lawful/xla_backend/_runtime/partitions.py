"""The calls into jaxlib for arrays on several devices: their shardings and their shards.

A sharding is known here by its assignment: an integer array with one dimension for each of the array's, which is as
long as the number of parts, and a last one for copies. Its elements are the positions of devices in a tuple.

Facts about jaxlib's private API, valid for 0.11.2 to 0.12.0.1:

- A shard of another size than the sharding says, or in another order, is a segmentation fault: callers check both.
- ``_to_np_array_did_copy`` gathers the values of all shards once, and returns them read-only at every call.
- ``_arrays`` imports jax, to give each shard a type and a sharding of jax; where that fails it goes without.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

from lawful.core import ShapedArray, cached_function, no_collections

with no_collections():
    from jaxlib import _hlo, _jax

from lawful.xla_backend._errors import XlaError
from lawful.xla_backend._runtime import bindings, fork
from lawful.xla_backend._runtime.handles import Buffer, Device

Assignment = np.ndarray[Any, Any]


@cached_function("lists of devices", 256)
def device_list(devices: tuple[Device, ...]) -> Any:
    """Returns the runtime's list of some devices."""
    return _jax.DeviceList(devices)


def addressable(devices: Sequence[Device]) -> list[Device]:
    """Returns those of some devices, all of one platform, that belong to this process, in their order."""
    here = devices[0].client.process_index()
    return [device for device in devices if device.process_index == here]


def runtime_sharding(devices: tuple[Device, ...], assignment: Assignment) -> Any:
    """Returns the runtime's sharding of an assignment of parts to devices."""
    *tiles, copies = assignment.shape
    if all(count == 1 for count in tiles):
        tiling = _hlo.HloSharding.replicate()
    elif copies == 1:
        tiling = _hlo.HloSharding.subgroup_with_device_ordering(np.ascontiguousarray(assignment[..., 0], np.int64))
    else:
        tiling = _hlo.HloSharding.subgroup_with_device_ordering(
            np.ascontiguousarray(assignment, np.int64), [_hlo.OpSharding.Type.REPLICATED]
        )
    return _jax.GSPMDSharding(device_list(devices), tiling)


def result_assignments(loaded: Any, out_avals: Sequence[ShapedArray], count: int) -> list[Assignment]:
    """Returns the assignments of the results of a program that runs on ``count`` devices."""
    found = loaded.get_output_shardings()
    if found is None or count == 1:  # of a single partition the runtime gives none
        return [replicated(aval.ndim, count) for aval in out_avals]
    assert len(found) == len(out_avals) or not out_avals
    return [
        _assignment(_hlo.HloSharding.from_proto(sharding), aval.ndim, count)
        for sharding, aval in zip(found, out_avals, strict=False)
    ]


def replicated(ndim: int, count: int) -> Assignment:
    """Returns the assignment of whole arrays of ``ndim`` dimensions to all of ``count`` devices."""
    return np.arange(count).reshape((1,) * ndim + (count,))


def _assignment(sharding: Any, ndim: int, count: int) -> Assignment:
    if sharding.is_replicated():
        return replicated(ndim, count)
    shape = tuple(sharding.tile_assignment_dimensions())
    if len(shape) < ndim or np.prod(shape) != count:
        raise XlaError(
            f"compile: expected results that are split over all {count} devices, got the sharding {sharding}; give the "
            "results shardings"
        )
    return np.reshape(sharding.tile_assignment_devices(), (*shape[:ndim], -1))


# In bytes. Below, the runtime's own copy is cheaper than aligned memory.
_LARGE: Final = 16_384


def private(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns a copy of host values for `put_shards`, which uses the memory of a large one in place on the CPU.

    Devices that have the same part may share it: the runtime does not write to it, also when it is donated.
    """
    if values.size * dtype.itemsize < _LARGE:
        return np.array(values, dtype, order="C")
    copied = bindings.aligned(values.shape, dtype)
    copied[...] = values
    return copied


def put_shards(
    shards: Sequence[Any], devices: Sequence[Device], sharding: Any, aval: ShapedArray, *, copied: bool = False
) -> Buffer:
    """Returns a buffer of an array whose shards are host arrays, or buffers of one device each.

    Args:
      shards: the values, one for each of the devices, of the shape that the sharding gives.
      devices: those of this process, in the order of the sharding.
      sharding: what `runtime_sharding` returned.
      aval: the type of the whole array.
      copied: whether host arrays are copied, so that they may change as soon as this returns; otherwise they never may.
        The runtime does not copy where two parts begin at the same address.

    Raises:
      XlaError: there is too little memory.
    """
    if fork.is_forked:
        fork.refuse()
    semantics = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL if copied else _jax.HostBufferSemantics.ZERO_COPY
    try:
        return cast(
            Buffer,
            _jax.batched_device_put(
                aval, sharding, list(shards), list(devices), True, host_buffer_semantics=semantics, enable_x64=True
            ),
        )
    except bindings.RuntimeFailure as error:
        raise XlaError(
            f"device_put: expected {len(devices)} devices to take shards of {aval}, got the runtime's error {error}"
        ) from error


def copy_shards(buffer: Buffer, devices: tuple[Device, ...], sharding: Any) -> Buffer:
    """Returns a copy of a buffer, shard by shard, on as many devices, which may be those that it is on."""
    if fork.is_forked:
        fork.refuse()
    [copied] = _jax.batched_copy_array_to_devices_with_sharding(
        [buffer], [device_list(devices)], [sharding], [_jax.ArrayCopySemantics.ALWAYS_COPY]
    )
    return cast(Buffer, copied)


class _NoJax:
    """A finder of modules that finds no jax, for one thread, while it reads shards."""

    def __init__(self) -> None:
        self.reading = threading.local()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if getattr(self.reading, "shards", False) and name.partition(".")[0] == "jax":
            raise ModuleNotFoundError(f"{name} is not needed", name=name)


_no_jax: Final = _NoJax()


def shards_of(buffer: Any) -> list[Buffer]:
    """Returns the shards of a buffer on the devices of this process, in the order of the sharding, without copies."""
    if _no_jax not in sys.meta_path:
        # It stays: taking it away could hide the next finder from an import in another thread.
        sys.meta_path.insert(0, _no_jax)
    _no_jax.reading.shards = True
    try:
        return list(buffer._arrays)
    finally:
        _no_jax.reading.shards = False
