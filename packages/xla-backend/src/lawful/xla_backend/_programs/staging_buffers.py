"""Staging buffers: memory for the arguments of a call that are values of the host, and not Arrays.

Making a buffer of a small value takes as long as running a small program. A staging buffer is memory of the host and
a buffer at once: writing a value there is 30× faster, and the program reads it in place. A later call may write there
only when the program has ended. Many programs are still running when their call returns, so a program has a set of
staging buffers for each of its last calls, up to four.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final
from weakref import ref

import numpy as np

from lawful.core import ShapedArray, float0, get_aval
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.handles import Device

#: The scalar types of Python and NumPy.
SCALARS: Final = {
    type(x): get_aval(x) for x in (False, 0, 0.0, 0j, *[np.dtype(code).type(0) for code in "?bhilqBHILQefdFD"])
}

# In bytes. A larger value is copied to new memory: it takes about as long, and the program keeps no memory for it.
_MAX_SIZE: Final = 1_048_576
# In bytes, of all staging buffers of a set.
_MAX_SIZE_OF_SET: Final = 4_194_304
# A result of at most so many bytes is kept to see whether its program has ended; of others there is a weak reference.
_MAX_SIZE_OF_RESULT: Final = 65_536
# So many calls may be running with staging buffers of their own; the arguments of the next are put on the device.
_MAX_RUNNING: Final = 4
# A program of which so many calls were not seen to end gets no more staging buffers.
_MAX_LOSSES: Final = 8


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


class StagingSet:
    """The staging buffers of one call at a time.

    Attributes:
      buffers: one for each argument of the program.
      may_write: whether values may be written to host memory. If not, all values are put on the device.
      result: the buffer of a result of the call that used the set last, or a weak reference to it.
    """

    __slots__ = ("buffers", "may_write", "result")

    def __init__(self, in_avals: Sequence[ShapedArray], *, may_write: bool) -> None:
        self.buffers = [StagingBuffer(aval) for aval in in_avals]
        self.may_write = may_write
        self.result: Any = None

    def has_ended(self) -> bool | None:
        """Whether the call that used the set last has ended; None if that cannot be known any longer."""
        result = self.result() if type(self.result) is ref else self.result
        if result is None:
            return None
        try:
            return bool(result.is_ready())
        except bindings.RuntimeFailure:  # it was donated to another program
            return None


class StagingSets:
    """The sets of staging buffers of a program.

    Args:
      in_avals: the types of the arguments.
      out_avals: the types of the results. All are ready when the program has ended, and the smallest shows it.
      may_write: whether there may be staging buffers. A program without results has none.
    """

    __slots__ = ("_free", "_in_avals", "_losses", "_putting", "_running", "_shown_by", "_shows_weakly")

    def __init__(self, in_avals: Sequence[ShapedArray], out_avals: Sequence[ShapedArray], *, may_write: bool) -> None:
        self._in_avals = in_avals
        self._free: list[StagingSet] = []
        self._running: deque[StagingSet] = deque()
        self._putting: list[StagingSet] = []
        self._losses = 0 if may_write and out_avals else _MAX_LOSSES
        if out_avals:
            sizes = [_size(aval) for aval in out_avals]
            self._shown_by = sizes.index(min(sizes))
            self._shows_weakly = min(sizes) > _MAX_SIZE_OF_RESULT

    def take(self) -> StagingSet:
        """Returns a set that no call uses. Other threads may take one at the same time."""
        try:
            if self._free:
                return self._free.pop()
            while self._running:
                oldest = self._running.popleft()
                has_ended = oldest.has_ended()
                if has_ended:
                    oldest.result = None
                    return oldest
                if has_ended is False:
                    self._running.appendleft(oldest)
                    break
                self._losses += 1
            if self._losses < _MAX_LOSSES and len(self._running) < _MAX_RUNNING:
                return StagingSet(self._in_avals, may_write=True)
            if self._putting:
                return self._putting.pop()
        except IndexError:  # another thread took the last one
            return self.take()
        return StagingSet(self._in_avals, may_write=False)

    def give_back(self, used: StagingSet, results: Sequence[Array]) -> None:
        """Takes a set back, after the call with it gave results."""
        if not used.may_write:
            self._putting.append(used)
            return
        result = results[self._shown_by]._buffer
        if result.is_ready():
            self._free.append(used)
            return
        used.result = ref(result) if self._shows_weakly else result
        self._running.append(used)

    def give_back_unused(self, taken: StagingSet) -> None:
        """Takes a set back with which no program was called."""
        (self._free if taken.may_write else self._putting).append(taken)


def set_types(staged: StagingSet, args: Sequence[Any], device: Device) -> bool:
    """Prepares a set for arguments of these types; returns False if the program cannot take an argument.

    Args:
      staged: a set of the program.
      args: as many values as it has arguments.
      device: where the program runs.
    """
    written = 0
    for staging, x in zip(staged.buffers, args, strict=True):
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
        if not staged.may_write or arg_type is Array or (size := _size(aval)) > _MAX_SIZE:
            continue
        written += size
        if staging.values is None and written <= _MAX_SIZE_OF_SET:
            staging.values, staging.buffer = bindings.shared_memory(aval, device)
    return True


def _size(aval: ShapedArray) -> int:
    """Returns the size in bytes."""
    return aval.size * aval.dtype.itemsize


def fits(x: Any) -> bool:
    """Whether a number fits the array's dtype: an int may be too large."""
    return type(x) is not int or -(2**63) <= x < 2**63
