"""The arguments of a compiled program: the device that they are on, and their buffers there."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, ShapedArray, to_numpy
from lawful.xla_backend._arrays.array import Array, moved, put
from lawful.xla_backend._arrays.placed import Place
from lawful.xla_backend._runtime.handles import Device


def buffer_on(x: Any, aval: ShapedArray, place: Place) -> Any:
    """Returns a buffer of a value on a device, or distributed: an Array's own if it is there already."""
    if type(x) is Array:
        return moved(x, place)._live_buffer()
    values = x if type(x) is np.ndarray else np.asarray(to_numpy(x), dtype=aval.dtype)
    return put(values, aval, place)._buffer


def common_device(name: str, args: tuple[Any, ...]) -> Device | None:
    """Returns the device of the Arrays among the arguments, each of them on one; None if there is no Array."""
    found: Device | None = None
    for x in args:
        if type(x) is Array and (device := x.sharding.device_order[0]) is not found:
            if found is not None:
                raise ArgumentValueError(
                    f"{name}: expected all Arrays on one device, got one on {found} and one on {device}; "
                    "move them with device_put(x, device)"
                )
            found = device
    return found
