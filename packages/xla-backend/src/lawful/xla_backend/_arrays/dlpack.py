"""Arrays from the tensors of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ShapedArray, get_aval
from lawful.xla_backend._arrays.array import Array, array_of, put
from lawful.xla_backend._runtime import bindings, clients
from lawful.xla_backend._runtime.handles import Device


def from_dlpack(x: Any, device: Device | None = None) -> Array:
    """Returns an Array with a copy of another library's tensor, on the CPU, that has the dlpack protocol.

    Args:
      x: the tensor, with ``__dlpack__`` and ``__dlpack_device__``.
      device: where to put it; by default on the default device.

    >>> np.asarray(from_dlpack(np.array([1.0, 2.0])))
    array([1., 2.])
    """
    target = clients.default_device() if device is None else device
    try:
        values = np.from_dlpack(x)
    except (BufferError, RuntimeError):  # a RuntimeError before NumPy 2.2
        # For dtypes that NumPy lacks, such as bfloat16 and float8; slower.
        buffer = bindings.import_dlpack(x.__dlpack__(), target)
        values = bindings.view(buffer)
        return array_of(buffer, ShapedArray(values.shape, values.dtype), target)
    return put(values, get_aval(values), target)
