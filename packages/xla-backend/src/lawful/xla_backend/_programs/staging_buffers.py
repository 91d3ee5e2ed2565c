"""Staging buffers: memory for the arguments of a call that are values of the host, and not Arrays.

Making a buffer of a small value takes as long as running a small program. A staging buffer is memory of the host and
a buffer at once: writing a value there is 30× faster, and the program reads it in place. The next call may use it only
when the program has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful.core import ShapedArray, float0, get_aval
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.handles import Device

#: The scalar types of Python and NumPy.
SCALARS: Final = {
    type(x): get_aval(x) for x in (False, 0, 0.0, 0j, *[np.dtype(code).type(0) for code in "?bhilqBHILQefdFD"])
}

# In bytes. Copying dominates the cost of a buffer for a larger value.
_MAX_SIZE = 16_384


class StagingBuffer:
    """The staging buffer of one argument.

    Attributes:
      arg_type: the Python type of the arguments that it takes.
      aval, dtype, shape: the type of the values.
      values: the array to write a value to; None if a value has to be put on the device.
      buffer: the buffer with the memory of ``values``.
    """

    __slots__ = ("arg_type", "aval", "buffer", "dtype", "shape", "values")

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval
        self.dtype = aval.dtype
        self.shape = aval.shape
        self.arg_type: type = Array
        self.values: np.ndarray[Any, Any] | None = None
        self.buffer: Any = None


def set_types(staged: Sequence[StagingBuffer], args: Sequence[Any], device: Device, *, may_write: bool) -> bool:
    """Prepares staging buffers for arguments of these types; returns False if the program cannot take an argument.

    Args:
      staged: one for each argument of the program.
      args: as many values.
      device: where the program runs.
      may_write: whether values may be written to host memory. If not, all values are put on the device.
    """
    for staging, x in zip(staged, args, strict=True):
        aval, arg_type = staging.aval, type(x)
        if arg_type is Array:
            if x._aval is not aval or x._device is not device:
                return False
        elif arg_type is np.ndarray:
            if x.dtype is not aval.dtype or x.shape != aval.shape or aval.weak_type or aval.dtype == float0:
                return False
        elif SCALARS.get(arg_type) is not aval or not fits(x):
            return False
        staging.arg_type = arg_type
        if not may_write:
            staging.values = None
        elif staging.values is None and arg_type is not Array and aval.size * aval.dtype.itemsize <= _MAX_SIZE:
            staging.values, staging.buffer = bindings.shared_memory(aval, device)
    return True


def fits(x: Any) -> bool:
    """Whether a number fits the array's dtype: an int may be too large."""
    return type(x) is not int or -(2**63) <= x < 2**63
