"""Seats: where the arguments of a call wait that are values of the host, and not Arrays.

To make a buffer of a small value takes as long as to run a small program. A seat is memory of the host and a buffer
at once: a value is written there, in a thirtieth of the time, and the program reads it in place. It is given to the
next call only once the program has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful.core import ShapedArray, float0, get_aval
from lawful.xla_backend import _jaxlib
from lawful.xla_backend._array import Array

#: The types of the numbers of Python and NumPy.
SCALARS: Final = {
    type(x): get_aval(x) for x in (False, 0, 0.0, 0j, *[np.dtype(code).type(0) for code in "?bhilqBHILQefdFD"])
}

# In bytes. To copy a larger value takes long enough that making a buffer of it does not count.
_LARGEST = 16_384


class Seat:
    """The place of one argument, which so far was of one type of Python's.

    Attributes:
      kind: the type.
      dtype, shape: of the values.
      values: where a value is written to; None where it has to be put on the device.
      buffer: what is written to ``values``.
    """

    __slots__ = ("aval", "buffer", "dtype", "kind", "shape", "values")

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval
        self.dtype = aval.dtype
        self.shape = aval.shape
        self.kind: type = Array
        self.values: np.ndarray[Any, Any] | None = None
        self.buffer: Any = None


def take_seats(seats: Sequence[Seat], args: Sequence[Any], device: _jaxlib.Device, *, may_write: bool) -> bool:
    """Prepares seats for arguments of the types that these have; returns whether these can take them.

    Args:
      seats: those of a call's arguments.
      args: any values, as many.
      device: where the program runs.
      may_write: whether the seats come back when the program has ended. If not, all values are put on the device.
    """
    for seat, x in zip(seats, args, strict=True):
        aval, kind = seat.aval, type(x)
        if kind is Array:
            if x._aval is not aval or x._device is not device:
                return False
        elif kind is np.ndarray:
            if x.dtype is not aval.dtype or x.shape != aval.shape or aval.weak_type or aval.dtype == float0:
                return False
        elif SCALARS.get(kind) is not aval or not fits(x):
            return False
        seat.kind = kind
        if not may_write:
            seat.values = None
        elif seat.values is None and kind is not Array and aval.size * aval.dtype.itemsize <= _LARGEST:
            seat.values, seat.buffer = _jaxlib.shared_memory(aval, device)
    return True


def fits(x: Any) -> bool:
    """Whether a number can be an element of an array: an int may be too large."""
    return type(x) is not int or -(2**63) <= x < 2**63
