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
from lawful.ops import call_with_values
from lawful.xla_backend._arrays.distribution import (
    check_distribution,
    distribute,
    may_copy_shards,
    may_reshard,
    resharded,
)
from lawful.xla_backend._arrays.placed import Place, PlacedArray, copied_to
from lawful.xla_backend._arrays.sharding import Sharding, SingleDeviceSharding
from lawful.xla_backend._arrays.text import array_text
from lawful.xla_backend._arrays.tiling import TiledSharding
from lawful.xla_backend._errors import DeletedArrayError
from lawful.xla_backend._runtime import bindings, clients

_DLPACK_DEVICE_TYPES = {"cpu": 1, "cuda": 2}


class Freed:
    """Replaces the buffer of a donated or deleted array; ``how`` says which."""

    __slots__ = ("how",)

    def __init__(self, how: str) -> None:
        self.how = how


@final
class Array(PlacedArray):
    """An array on a device or on several: immutable, with a type ``aval`` that may be weak.

    It is made by ``device_put`` and by compiled functions, not by calling this class. Where a value is asked
    for, in Python or by NumPy, it is waited for.

    Raises:
      DeletedArrayError: from whatever needs the values, once the array was donated or deleted.

    >>> from lawful.xla_backend import device_put
    >>> x = device_put(np.array([[1.0, 2.0]]))
    >>> x.shape, x.dtype, x.is_deleted(), float(x[0, 1])
    ((1, 2), dtype('float64'), False, 2.0)
    """

    __slots__ = ("__weakref__",)

    # Higher than ndarray's, so that `ndarray * Array` calls the Array's method.
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]  # == compares elementwise, as for ndarray

    # Type

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
        """Returns the values as a read-only ndarray, on the CPU without a copy; those of several devices gathered once.

        Raises:
          ArgumentValueError: other processes have parts of the array.
        """
        if type(self._device) is not bindings.DeviceType and not self.is_fully_addressable:
            if self.is_fully_replicated:
                return self.addressable_data(0)._view()
            self._require_addressable("numpy.asarray")
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
        """Returns a copy on the same devices, with memory of its own."""
        return array_of(copied_to(self._live_buffer(), self._aval, self._device), self._aval, self._device)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (np.array(self._view()), self.weak_type)

    # Exchange with other libraries

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        view = self._view()
        if copy is False and (type(self._device) is not bindings.DeviceType or self.platform != "cpu"):
            raise ArgumentValueError(
                f"numpy.asarray: expected an array on the CPU alone, got one on {self._device}; leave out copy=False"
            )
        return np.array(view, dtype=dtype, copy=copy)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(cls, Array | np.ndarray) for cls in types):
            return NotImplemented  # a tracer among the arguments handles the call
        return call_with_values(f"numpy.{func.__name__}", func, args, kwargs)

    def to_device(self, device: Any, /, *, stream: None = None) -> Any:
        """Returns the array on a device: itself where it is there, and a NumPy array for NumPy's device, ``"cpu"``.

        Args:
          device: one of `devices`, a sharding, or ``"cpu"``; None for where it is.
          stream: None only.

        Raises:
          ArgumentValueError: there is no such device, a stream is given, or the sharding does not divide the shape.
        """
        if not isinstance(device, Sharding):
            check_device("to_device", device)
        if stream is not None:
            raise ArgumentValueError(f"to_device: expected no stream, got {stream!r}; leave it out")
        if device is None or bindings.is_device(device) or isinstance(device, Sharding):
            return self if device is None else moved(self, device)
        return self._view()

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self.device
        if isinstance(device, Sharding):
            raise BufferError(
                f"dlpack: expected an array on one device, got the {self._aval} with {device}; export the parts in its "
                "addressable_shards, or numpy.asarray(x)"
            )
        return _DLPACK_DEVICE_TYPES[self.platform], device.id

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) != here:
            raise BufferError(f"dlpack: expected the device {here}, got {dl_device}; copy it first")
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
        view = self._view()
        if not view.ndim:
            raise TypeError("iteration over a 0-d array")
        return (view[i, ...] for i in range(len(view)))  # as x[i]: an element is an array, not a scalar

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
        if not (self.is_fully_addressable or self.is_fully_replicated):
            return f"Array(shape={self.shape}, dtype={self.dtype})"
        return array_text(self._view(), self.weak_type)

    def __str__(self) -> str:
        is_here = not self.is_deleted() and (self.is_fully_addressable or self.is_fully_replicated)
        return str(self._view()) if is_here else repr(self)

    def __format__(self, specification: str) -> str:
        return format(self._view(), specification)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ArgumentTypeError(
            "assignment: expected an expression, got x[...] = ... on an Array, which is immutable; write "
            "x = x.at[...].set(value), or change a copy: y = numpy.array(x)"
        )


def array_of(buffer: Any, aval: ShapedArray, place: Place) -> Array:
    """Returns the Array with a buffer, which is at the place and has the type."""
    array = Array()
    array._buffer = buffer
    array._aval = aval
    array._device = place
    return array


def put(x: Any, aval: ShapedArray, place: Place) -> Array:
    """Returns an Array with a copy of a NumPy array or a number, which has the shape and dtype of ``aval``.

    Raises:
      ArgumentValueError: the place is a sharding that does not divide the shape.
    """
    values = np.asarray(x, dtype=aval.dtype)
    if not isinstance(place, Sharding):
        return array_of(bindings.put(values, place, aval), aval, place)
    if isinstance(place, SingleDeviceSharding):
        return put(values, aval, place.device_order[0])
    return array_of(distribute(values, aval, place), aval, place)


def moved(x: Array, place: Place) -> Array:
    """Returns an Array with the values of another one, at a place; the array itself where it is there.

    Raises:
      ArgumentValueError: the place is a sharding that does not divide the shape; or other processes have parts of the
        array, and its parts would move to other devices than it is on, or to these in another order.
    """
    if isinstance(place, SingleDeviceSharding):
        place = place.device_order[0]
    buffer = x._live_buffer()
    if place is x._device or place == x._device:
        return x
    mine = x.sharding
    target = place if isinstance(place, Sharding) else SingleDeviceSharding(place)
    check_distribution(x._aval, target)
    if may_copy_shards(mine, target, x.ndim):
        return array_of(copied_to(buffer, x._aval, place), x._aval, place)
    if may_reshard(mine, target):
        return array_of(resharded(buffer, x._aval, mine, target), x._aval, place)
    if not x.is_fully_addressable and not x.is_fully_replicated:
        raise ArgumentValueError(
            f"device_put: expected a sharding over the devices of {mine} in their order, for other processes have "
            f"parts of the {x._aval}, got {target}; give a mesh of these devices, or gather it with process_allgather"
        )
    return put(x._view(), x._aval, place)


def _restore(values: np.ndarray[Any, Any], weak_type: bool) -> Array:
    """Unpickles an Array, on the default device of the process that does."""
    return put(values, ShapedArray(values.shape, values.dtype, weak_type), clients.default_device())


def _to_numpy(x: Array) -> Any:
    """Returns the value that ops outside ``jit`` compute with: a Python scalar for a weak scalar."""
    view = x._view()
    return view.item() if x._aval.weak_type and not view.shape else view


register_array_type(Array, aval=operator.attrgetter("_aval"), to_numpy=_to_numpy)
for _place_type in (bindings.DeviceType, SingleDeviceSharding, TiledSharding):
    register_device_type(_place_type, put=lambda x, place: put(to_numpy(x), get_aval(x), place))
