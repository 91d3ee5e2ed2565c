"""``Array``: an immutable array on a device, which NumPy reads without a copy on the CPU.

Compiled functions and ``device_put`` give Arrays.

>>> from lawful.xla_backend import device_put
>>> x = device_put(np.array([1.0, 2.0]))
>>> x
Array([1., 2.], dtype=float64)
>>> np.asarray(x).flags.writeable
False
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NoReturn, final

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ShapedArray,
    check_device,
    get_aval,
    register_array_type,
    register_device_type,
    to_numpy,
)
from lawful.ops import ArrayMethods, call_with_values
from lawful.xla_backend._arrays.text import array_text
from lawful.xla_backend._errors import DeletedArrayError
from lawful.xla_backend._runtime import bindings, clients
from lawful.xla_backend._runtime.handles import Device

_DLPACK_DEVICE_TYPES = {"cpu": 1, "cuda": 2}


class Freed:
    """Replaces the buffer of a donated or deleted array; ``how`` says which."""

    __slots__ = ("how",)

    def __init__(self, how: str) -> None:
        self.how = how


@final
class Array(ArrayMethods):
    """An array on a device: immutable, with a type ``aval`` that may be weak.

    It is made by ``device_put`` and by compiled functions, not by calling this class. Where a value is asked
    for, in Python or by NumPy, it is waited for.

    Raises:
      DeletedArrayError: from whatever needs the values, once the array was donated or deleted.
    """

    __slots__ = ("__weakref__", "_aval", "_buffer", "_device")

    # Higher than ndarray's, so that `ndarray * Array` calls the Array's method.
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]  # == compares elementwise, as for ndarray

    # Callers set the slots directly, which is faster than __init__: each result of a call is an Array.
    _buffer: Any
    _aval: ShapedArray
    _device: Device

    # Type and device

    @property
    def aval(self) -> ShapedArray:
        """The type: shape, dtype and weakness."""
        return self._aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self._aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return self._aval.dtype

    @property
    def weak_type(self) -> bool:
        """Whether this stands for a Python scalar, which yields to any array's dtype."""
        return self._aval.weak_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._aval.size

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self._aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return self._aval.size * self._aval.dtype.itemsize

    @property
    def device(self) -> Device:
        """The device that the array is on."""
        return self._device

    def devices(self) -> set[Device]:
        """Returns the set of devices that the array is on: one."""
        return {self._device}

    # Memory

    def _live_buffer(self) -> Any:
        buffer = self._buffer
        if type(buffer) is Freed:
            raise self._deleted_error()
        return buffer

    def _deleted_error(self) -> DeletedArrayError:
        return DeletedArrayError(
            f"array: expected an array that is still there, got the {self._aval} {self._buffer.how}; "
            "use the result computed from it, or keep x.copy()"
        )

    def _view(self) -> np.ndarray[Any, Any]:
        """Returns the values as a read-only ndarray, without a copy on the CPU."""
        return bindings.view(self._live_buffer())

    def block_until_ready(self) -> Array:
        """Waits until the values are computed, and returns the array."""
        bindings.wait(self._live_buffer())
        return self

    def is_ready(self) -> bool:
        """Whether the values are computed already."""
        return bool(self._live_buffer().is_ready())

    def is_deleted(self) -> bool:
        """Whether the memory is gone: the array was donated to a compiled function, or deleted."""
        return type(self._buffer) is Freed

    def delete(self) -> None:
        """Frees the memory now, or when the last NumPy view of it is gone; the array cannot be used afterwards."""
        self._discard("deleted with delete()")

    def _discard(self, how: str) -> None:
        # Not buffer.delete(): it aborts the process where another library holds the memory by dlpack.
        if type(self._buffer) is not Freed:
            self._buffer = Freed(how)

    def copy(self) -> Array:
        """Returns a copy on the same device, with memory of its own."""
        return array_of(bindings.copy_buffer(self._live_buffer(), self._device), self._aval, self._device)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (np.array(self._view()), self.weak_type)

    # Exchange with other libraries

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        view = self._view()
        if copy is False and bindings.platform_of(self._device) != "cpu":
            raise ArgumentValueError(
                f"numpy.asarray: expected an array on the CPU, got one on {self._device}; leave out copy=False"
            )
        return np.array(view, dtype=dtype, copy=copy)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(cls, Array | np.ndarray) for cls in types):
            return NotImplemented  # a tracer among the arguments handles the call
        return call_with_values(f"numpy.{func.__name__}", func, args, kwargs)

    def to_device(self, device: Any, /, *, stream: None = None) -> Any:
        """Returns the array on a device: itself where it is there, and a NumPy array for NumPy's device, ``"cpu"``.

        Args:
          device: one of `devices`, or ``"cpu"``; None for where it is.
          stream: None only.

        Raises:
          ArgumentValueError: there is no such device, or a stream is given.
        """
        check_device("to_device", device)
        if stream is not None:
            raise ArgumentValueError(f"to_device: expected no stream, got {stream!r}; leave it out")
        if device is None or device == self._device:
            return self
        if not bindings.is_device(device):
            return self._view()
        if device.client is self._device.client:
            return array_of(bindings.copy_buffer(self._live_buffer(), device), self._aval, device)
        return put(self._view(), self._aval, device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_DEVICE_TYPES[bindings.platform_of(self._device)], self._device.id

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"dlpack: expected the device {self.__dlpack_device__()}, got {dl_device}; copy it first")
        source = self.copy() if copy else self
        return bindings.export_dlpack(source._live_buffer(), stream=stream, max_version=max_version, copied=bool(copy))

    # Python numbers and sequences, by NumPy's own rules and errors

    def __bool__(self) -> bool:
        return bool(self._view())

    def __int__(self) -> int:
        return int(self._view())

    def __float__(self) -> float:
        return float(self._view())

    def __complex__(self) -> complex:
        return complex(self._view())

    def __index__(self) -> int:
        return operator.index(self._view())

    def __len__(self) -> int:
        if not self._aval.shape:
            raise TypeError("len() of unsized object")
        return self._aval.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._view())

    def item(self, *args: Any) -> Any:
        """Returns an element as a Python scalar, as ``numpy.ndarray.item`` does."""
        return self._view().item(*args)

    def tolist(self) -> Any:
        """Returns the values as nested lists of Python scalars."""
        return self._view().tolist()

    def tobytes(self) -> bytes:
        """Returns the values as bytes in row-major order."""
        return self._view().tobytes()

    # Text

    def __repr__(self) -> str:
        if self.is_deleted():
            return f"<Array {self._aval} {self._buffer.how}>"
        return array_text(self._view(), self.weak_type)

    def __str__(self) -> str:
        return repr(self) if self.is_deleted() else str(self._view())

    def __format__(self, specification: str) -> str:
        return format(self._view(), specification)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ArgumentTypeError(
            "assignment: expected an expression, got x[...] = ... on an Array, which is immutable; write "
            "x = x.at[...].set(value), or change a copy: y = numpy.array(x)"
        )


def array_of(buffer: Any, aval: ShapedArray, device: Device) -> Array:
    """Returns the Array with a buffer, which is on the device and has the type."""
    array = Array()
    array._buffer = buffer
    array._aval = aval
    array._device = device
    return array


def put(x: Any, aval: ShapedArray, device: Device) -> Array:
    """Returns an Array with a copy of a NumPy array or a number, which has the shape and dtype of ``aval``."""
    return array_of(bindings.put(np.asarray(x, dtype=aval.dtype), device, aval), aval, device)


def _restore(values: np.ndarray[Any, Any], weak_type: bool) -> Array:
    """Unpickles an Array, on the default device of the process that does."""
    return put(values, ShapedArray(values.shape, values.dtype, weak_type), clients.devices()[0])


def _to_numpy(x: Array) -> Any:
    """Returns the value that ops outside ``jit`` compute with: a Python scalar for a weak scalar."""
    view = x._view()
    return view.item() if x._aval.weak_type and not view.shape else view


register_array_type(Array, aval=operator.attrgetter("_aval"), to_numpy=_to_numpy)
register_device_type(bindings.DeviceType, put=lambda x, device: put(to_numpy(x), get_aval(x), device))
