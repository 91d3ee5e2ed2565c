"""The arguments of a compiled program: the device that they are on, and their buffers there."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, ShapedArray, to_numpy
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.handles import Device


def buffer_on(x: Any, aval: ShapedArray, device: Device) -> Any:
    """Returns a buffer of a value on a device: an Array's own if it is there already."""
    if type(x) is Array:
        if x._device is device:
            return x._live_buffer()
        if x._device.client is device.client:
            return bindings.copy_buffer(x._live_buffer(), device)
        return bindings.put(x._view(), device, aval)
    return bindings.put(x if type(x) is np.ndarray else np.asarray(to_numpy(x), dtype=aval.dtype), device, aval)


def common_device(name: str, args: tuple[Any, ...]) -> Device | None:
    """Returns the device of the Arrays among the arguments; None if there is no Array."""
    found: Device | None = None
    for x in args:
        if type(x) is Array and x._device is not found:
            if found is not None:
                raise ArgumentValueError(
                    f"{name}: expected all Arrays on one device, got one on {found} and one on {x._device}; "
                    "move them with device_put(x, device)"
                )
            found = x._device
    return found
