"""Arrays on several devices made of their parts.

>>> from lawful.xla_backend import SingleDeviceSharding, devices
>>> sharding = SingleDeviceSharding(devices()[0])
>>> make_array_from_callback((2, 2), sharding, lambda index: np.eye(2)[index])
Array([[1., 0.],
       [0., 1.]], dtype=float64)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    InvalidArgumentError,
    LawfulError,
    ShapedArray,
    Tracer,
    UnexpectedTracerError,
    as_dtype,
    get_aval,
    shorten,
    to_numpy,
)
from lawful.xla_backend._arrays.array import Array, array_of
from lawful.xla_backend._arrays.distribution import check_distribution
from lawful.xla_backend._arrays.placed import Place
from lawful.xla_backend._arrays.sharding import Index, Sharding, SingleDeviceSharding
from lawful.xla_backend._arrays.tiling import runtime_sharding
from lawful.xla_backend._runtime import partitions
from lawful.xla_backend._runtime.handles import Device


def make_array_from_callback(
    shape: Sequence[int], sharding: Sharding, data_callback: Callable[[Index], Any], dtype: Any = None
) -> Array:
    """Returns an Array whose parts a function gives.

    Args:
      shape: the shape of the whole array.
      sharding: where the parts are.
      data_callback: from the index of a part, a slice of each dimension, to its values. It is called once for each
        part that a device of this process has; devices with equal parts share the values.
      dtype: the dtype; by default that of what the function returns.

    Raises:
      InvalidArgumentError: a part has another dtype.
      UnexpectedTracerError: the function returns a value that is being traced.
      ArgumentValueError: the sharding does not divide the shape, or a part has another shape.

    Source: ``jax.make_array_from_callback``.

    >>> from lawful.xla_backend import SingleDeviceSharding, devices
    >>> sharding = SingleDeviceSharding(devices()[0])
    >>> np.asarray(make_array_from_callback((2,), sharding, lambda index: np.array([1.0, 2.0])[index]))
    array([1., 2.])
    """
    name = "make_array_from_callback"
    _require_sharding(name, sharding)
    sizes = tuple(map(operator.index, shape))
    indices = sharding.addressable_devices_indices_map(sizes)
    known: dict[Any, np.ndarray[Any, Any]] = {}
    parts: dict[Device, np.ndarray[Any, Any]] = {}
    for device in sharding.device_order:
        if device in indices:
            index = indices[device]
            key = tuple([(part.start, part.stop) for part in index])
            if key not in known:
                given = _values(name, data_callback(index))
                known[key] = partitions.private(given, given.dtype)
            parts[device] = known[key]
    wanted = as_dtype(dtype) if dtype is not None else next(iter(parts.values())).dtype if parts else None
    if wanted is None:
        raise InvalidArgumentError(f"{name}: expected a dtype, as this process has no part of the array; give dtype=")
    return _assembled(name, ShapedArray(sizes, wanted), sharding, parts)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Array], *, dtype: Any = None
) -> Array:
    """Returns the Array whose parts are some Arrays, each of them on one device; nothing is copied.

    Args:
      shape: the shape of the whole array.
      sharding: where the parts are.
      arrays: one for each device of this process, in any order.
      dtype: the dtype; needed where there are no arrays.

    Raises:
      InvalidArgumentError: a part is no Array, or is being traced, or the dtypes differ.
      ArgumentValueError: the sharding does not divide the shape, a part has another shape, or there is not one part
        for each device.
      DeletedArrayError: a part was donated or deleted.

    Source: ``jax.make_array_from_single_device_arrays``.

    >>> from lawful.xla_backend import SingleDeviceSharding, device_put, devices
    >>> part = device_put(np.array([1.0, 2.0]), devices()[0])
    >>> np.asarray(make_array_from_single_device_arrays((2,), SingleDeviceSharding(devices()[0]), [part]))
    array([1., 2.])
    """
    name = "make_array_from_single_device_arrays"
    _require_sharding(name, sharding)
    parts: dict[Device, Array] = {}
    for i, x in enumerate(arrays):
        _refuse_tracer(name, x, InvalidArgumentError)
        if type(x) is not Array:
            raise InvalidArgumentError(
                f"{name}: expected Arrays, got {shorten(x)} as part {i}; use device_put(x, device)"
            )
        devices = x.sharding.device_order
        if len(devices) > 1 or devices[0] in parts:
            problem = f"one with {x.sharding}" if len(devices) > 1 else f"a second one on {devices[0]}"
            raise ArgumentValueError(
                f"{name}: expected one Array on each of the devices of {sharding}, got {problem} as part {i}; give "
                "x.addressable_shards[i].data, or device_put(x, device)"
            )
        parts[devices[0]] = x
    wanted = dtype if dtype is not None else next(iter(parts.values())).dtype if parts else None
    if wanted is None:
        raise InvalidArgumentError(f"{name}: expected a dtype, as there is no Array; give dtype=")
    return _assembled(name, ShapedArray(tuple(map(operator.index, shape)), as_dtype(wanted)), sharding, parts)


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Sequence[int | None] | None = None
) -> Array:
    """Returns an Array of which each process gives what its own devices have.

    Args:
      sharding: where the parts are.
      local_data: the values that the devices of this process have: a contiguous block of the whole array, or the whole.
      global_shape: the shape of the whole array. By default, and where an entry is None, a dimension is as often as
        long as that of ``local_data`` as there are blocks of processes along it.

    Raises:
      ArgumentValueError: the data is neither the whole array nor the block of this process.
      UnexpectedTracerError: the data is being traced.

    Source: ``jax.make_array_from_process_local_data``.

    >>> from lawful.xla_backend import SingleDeviceSharding, devices
    >>> np.asarray(make_array_from_process_local_data(SingleDeviceSharding(devices()[0]), np.array([1.0, 2.0])))
    array([1., 2.])
    """
    name = "make_array_from_process_local_data"
    _require_sharding(name, sharding)
    values = _values(name, local_data)
    tiles, block = _blocks(sharding, values.ndim)
    shape = _global_shape(name, values.shape, tiles, block, global_shape)
    indices = sharding.addressable_devices_indices_map(shape)
    starts = [
        min((index[dim].start or 0 for index in indices.values()), default=0) if values.shape[dim] != size else 0
        for dim, size in enumerate(shape)
    ]
    parts = {
        device: partitions.private(values[_moved(index, starts, shape)], values.dtype)
        for device, index in indices.items()
    }
    return _assembled(name, ShapedArray(shape, values.dtype), sharding, parts)


def _moved(index: Index, starts: Sequence[int], shape: Sequence[int]) -> Index:
    """Returns the index of a part of the whole array within the block that begins at ``starts``."""
    return tuple(
        slice((part.start or 0) - start, (size if part.stop is None else part.stop) - start)
        for part, start, size in zip(index, starts, shape, strict=True)
    )


def _blocks(sharding: Sharding, ndim: int) -> tuple[list[int], list[int]]:
    """Returns for each dimension in how many parts it is split, and how many of them this process has."""
    # One element a part: the indices are the numbers of the parts.
    tiles = [1] * ndim
    counts = dict(sharding.mesh_axes)
    for dim, names in enumerate(sharding.dimension_axes(ndim)):
        for axis in names:
            tiles[dim] *= counts[axis]
    mine = sharding.addressable_devices_indices_map(tuple(tiles)).values()
    block = [len({index[dim].start or 0 for index in mine}) if tiles[dim] > 1 else 1 for dim in range(ndim)]
    return tiles, block


def _global_shape(
    name: str, local: tuple[int, ...], tiles: list[int], block: list[int], given: Sequence[int | None] | None
) -> tuple[int, ...]:
    wanted = (None,) * len(local) if given is None else tuple(given)
    if len(wanted) != len(local):
        raise ArgumentValueError(
            f"{name}: expected a global shape of {len(local)} dimensions, as the data has, got {wanted}; give as many"
        )
    shape = []
    for dim, (size, whole, parts, mine) in enumerate(zip(local, wanted, tiles, block, strict=True)):
        inferred = size * parts // mine
        if whole is None:
            whole = inferred
        if size not in (whole, whole * mine // parts):
            raise ArgumentValueError(
                f"{name}: expected dimension {dim} of the data to be {whole * mine // parts}, this process's part, "
                f"or {whole}, the whole, got {size}; correct global_shape or the data"
            )
        shape.append(whole)
    return tuple(shape)


def _assembled(name: str, aval: ShapedArray, sharding: Sharding, parts: dict[Device, Any]) -> Array:
    """Returns the Array with these parts, once they are known to fit."""
    part = check_distribution(aval, sharding)
    devices = partitions.addressable(sharding.device_order)
    if {*devices} != parts.keys():
        missing = [device for device in devices if device not in parts]
        got = f"none on {missing[0]}" if missing else f"one on {next(iter(parts.keys() - {*devices}))}"
        raise ArgumentValueError(
            f"{name}: expected a part on each of {len(devices)} devices of {sharding}, got {len(parts)}, {got}; give "
            "one for each device of this process"
        )
    for device in devices:
        x = parts[device]
        found = get_aval(x)
        if found.shape != part:
            raise ArgumentValueError(
                f"{name}: expected parts of shape {part} of an array of shape {aval.shape} with {sharding}, got "
                f"{found.shape} on {device}; correct the part, or the shape"
            )
        if found.dtype != aval.dtype:
            raise InvalidArgumentError(
                f"{name}: expected parts of dtype {aval.dtype}, got {found.dtype} on {device}; convert the part"
            )
    shards = [x._live_buffer() if type(x) is Array else x for x in (parts[device] for device in devices)]
    place: Place = sharding.device_order[0] if isinstance(sharding, SingleDeviceSharding) else sharding
    return array_of(partitions.put_shards(shards, devices, runtime_sharding(sharding, aval.ndim), aval), aval, place)


def _values(name: str, x: Any) -> np.ndarray[Any, Any]:
    _refuse_tracer(name, x)
    return np.asarray(to_numpy(x))


def _refuse_tracer(name: str, x: Any, error: type[LawfulError] = UnexpectedTracerError) -> None:
    if isinstance(x, Tracer):
        raise error(
            f"{name}: expected values of the host or of devices, got {x!r}; call it outside of jit and other "
            "transformations, or use device_put(x, sharding) or with_sharding_constraint(x, sharding) inside"
        )


def _require_sharding(name: str, sharding: Any) -> None:
    if not isinstance(sharding, Sharding):
        raise ArgumentTypeError(
            f"{name}: expected a sharding, got {shorten(sharding)}; make a NamedSharding, or a SingleDeviceSharding"
        )
