"""``Array``: the eager array of `lawful.jax`, an immutable ndarray with what a ``jax.Array`` has beyond NumPy's.

The other packages of lawful return plain NumPy arrays; only functions of `lawful.jax` return these.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy

from lawful import numpy as lawful_numpy
from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ShapedArray,
    Tracer,
    register_array_type,
)
from lawful.jax._support.devices import DEVICE_ARRAYS, SingleDeviceSharding, default_device, xla_backend

Method = Callable[..., Any]


#: The functions of NumPy that call methods of JAX's arrays; all others convert these to arrays of NumPy.
_BY_METHODS = frozenset(
    (
        *("all", "amax", "amin", "any", "argmax", "argmin", "argpartition", "argsort", "around", "choose", "clip"),
        *("compress", "cumprod", "cumsum", "diagonal", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel"),
        *("repeat", "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace"),
        *("transpose", "var"),
    )
)


class _ArrayType(type):
    """The type of `Array`: tracers and device arrays are instances of it too."""

    def __instancecheck__(cls, x: object) -> bool:
        return type.__instancecheck__(cls, x) or isinstance(x, (Tracer, *DEVICE_ARRAYS))


class Array(numpy.ndarray, metaclass=_ArrayType):  # not generic: beartype reads the bases
    """An immutable NumPy array with the methods and properties of a ``jax.Array``.

    Functions of `lawful.jax` return it where nothing is traced. ``isinstance(x, Array)`` is also true of tracers and
    of the arrays that ``jit`` returns with XLA.

    Source: ``jax.Array``.

    >>> from lawful.jax import Array, numpy as jnp
    >>> x = jnp.arange(3.0)
    >>> isinstance(x, Array), x.at[0].set(5.0)
    (True, Array([5., 1., 2.], dtype=float64))
    """

    __array_priority__ = 50.0
    __hash__ = None  # == compares elementwise
    weak_type = False
    #: numpy.ma computes with plain arrays, into which it writes.
    _baseclass = numpy.ndarray
    #: The array on a device that this one is a view of, which `jit` takes without a copy.
    origin: Any = None

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        if not self.size:
            return f"Array([], shape={self.shape}, dtype={self.dtype.name})"
        text = numpy.array2string(self.view(numpy.ndarray), separator=", ", prefix="Array(")
        return f"Array({text}, dtype={self.dtype.name}{weak})"

    def __str__(self) -> str:
        return str(self.view(numpy.ndarray))

    def __format__(self, specification: str) -> str:
        return format(self.view(numpy.ndarray)[()], specification)

    # Elements

    def __getitem__(self, index: Any) -> Any:
        return as_jax(ops.getitem(plain(self), plain(index)))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ArgumentTypeError(
            "assignment: expected an expression, got x[...] = ... on a JAX array, which is immutable; "
            "write x = x.at[...].set(value), or x.at[...].add(value) for x[...] += value"
        )

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise ArgumentTypeError("iteration: expected an array with at least one dimension, got a scalar")
        return map(seal, self.view(numpy.ndarray))

    @property
    def at(self) -> Any:
        """Functional updates: ``x.at[index].set(y)`` is the array with these elements replaced."""
        return ArrayAt(plain(self))

    def item(self, *args: Any) -> Any:
        """Returns an element as a Python scalar."""
        return self.view(numpy.ndarray).item(*args)

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if "where" in kwargs:
            kwargs["where"] = plain(kwargs["where"])
        with numpy.errstate(all="ignore"):
            result = getattr(ufunc, method)(*map(plain, inputs), **kwargs)
        # Operators of JAX's arrays that come here: `numpy.float64(2.0) * x`, and `a += x` for an array of NumPy's.
        is_operator = isinstance(inputs[0], numpy.generic) or kwargs.get("out", (None,))[0] is inputs[0]
        return as_jax(result) if is_operator and method == "__call__" else result

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            result = func(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})
        return as_jax(result) if func.__name__ in _BY_METHODS else result

    def __reduce__(self) -> Any:
        return (weak, (self.item(),)) if self.weak_type else (seal, (numpy.array(self.view(numpy.ndarray)),))

    def __deepcopy__(self, memo: Any) -> Array:
        return self

    def __copy__(self) -> Array:
        return self

    # Devices

    @property
    def aval(self) -> ShapedArray:
        """The type: shape, dtype and weakness."""
        return _aval(self)

    @property
    def device(self) -> Any:
        """The device that the array is on: the processor, or where `jit` or `device_put` made it."""
        return default_device() if self.origin is None else self.origin.device

    def devices(self) -> set[Any]:
        """Returns the set of devices that the array is on."""
        return {*self.sharding.device_set}

    @property
    def sharding(self) -> Any:
        """Where the elements are."""
        return SingleDeviceSharding(default_device()) if self.origin is None else self.origin.sharding

    @property
    def committed(self) -> bool:
        """Whether a device, or several, was asked for."""
        return self.origin is not None and self.origin.committed

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process can read all elements: yes."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has all elements."""
        return not is_sharded(self.origin) or self.origin.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Any]:
        """The parts of the array, each with its device, index and data."""
        return list(_device_array(self).addressable_shards)

    global_shards = addressable_shards

    def addressable_data(self, index: int) -> Any:
        """Returns the part of the array on a device."""
        return as_jax(_device_array(self).addressable_data(index))

    def block_until_ready(self) -> Array:
        """Returns the array, which is computed already."""
        return self

    def copy_to_host_async(self) -> None:
        """Does nothing: the values are in the memory of the process."""

    def is_ready(self) -> bool:
        """Whether the values are computed: yes."""
        return True

    def is_deleted(self) -> bool:
        """Whether the memory is gone: no."""
        return False

    def delete(self) -> None:
        """Does nothing: NumPy frees the memory with the last reference."""

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Returns the array on a device, or on several by a sharding.

        Raises:
          ArgumentValueError: there is no such device, or a stream is given.
        """
        if stream is not None:
            raise ArgumentValueError(f"to_device: expected no stream, got {stream!r}; leave it out")
        if xla_backend is not None and hasattr(device, "devices_indices_map"):
            return as_jax(xla_backend.device_put(on_device(self), device))
        return as_jax(lawful_numpy.asarray(plain(self), device=device))


class ArrayAt(ops.At):
    """``x.at`` of an `Array`, whose updates are Arrays."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return ArrayAtIndex(self._array, plain(index))


class ArrayAtIndex(ops.AtIndex):
    __slots__ = ()


def seal(x: Any) -> Array:
    """Returns a NumPy array or scalar as an immutable `Array`, which shares its memory."""
    array = numpy.asarray(x).view(Array)
    array.flags.writeable = False
    return array


def weak(x: Any) -> Array:
    """Returns the Array that stands for a Python scalar: it yields to the dtype of any array."""
    array = seal(numpy.asarray(x))
    array.weak_type = True
    return array


def plain(x: Any) -> Any:
    """Returns an `Array` as the NumPy array that it is, a weak one as a Python scalar, also in tuples and lists.

    An object with ``__jax_array__`` is replaced by the result of that method.
    """
    cls = type(x)
    if cls is Array:
        return x.item() if x.weak_type else x.view(numpy.ndarray)
    if cls is tuple or cls is list:
        return cls(map(plain, x))
    return plain(x.__jax_array__()) if hasattr(cls, "__jax_array__") else x


def as_jax(x: Any) -> Any:
    """Returns a result with its NumPy arrays and scalars as Arrays, also those in tuples, lists and dicts."""
    cls = type(x)
    if cls is Array and not x.flags.writeable:
        return x  # with its sharding
    if cls is numpy.ndarray or cls is Array or isinstance(x, numpy.generic):
        return x if x.dtype.kind in "OUSV" and x.dtype.isbuiltin != 2 else seal(x)
    if cls in DEVICE_ARRAYS:
        if not x.is_fully_addressable:
            return x
        array = seal(numpy.asarray(x))
        array.weak_type, array.origin = x.weak_type, x
        return array
    if cls is tuple or cls is list:
        return cls([as_jax(part) for part in x])
    if cls is dict:
        return {key: as_jax(part) for key, part in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return cls(*[as_jax(part) for part in x])
    return x


def placed(x: Any, place: Any) -> Any:
    """Returns a result where a tree of shardings or specs says; None says nothing, nor does the sharding of a type."""
    return x if says_nothing(place) else importlib.import_module("lawful.jax._support.sharding").put(x, place)


def says_nothing(place: Any) -> bool:
    """Whether a place is None, or a sharding on a mesh without axes, as that of a type is."""
    return place is None or getattr(getattr(place, "mesh", None), "empty", False)


def _sharding_of_type(aval: ShapedArray) -> Any:
    """The sharding, which says nothing: that of a mesh without axes."""
    return importlib.import_module("lawful.jax._support.sharding").unsharded(aval.ndim)


def on_device(x: Any) -> Any:
    """Returns an `Array` as the array on devices that it is a view of, where it is one, or as a NumPy array."""
    return x if type(x) is not Array else plain(x) if x.origin is None else x.origin


def is_sharded(origin: Any) -> bool:
    """Whether the array of a device, or None, is on several devices."""
    return origin is not None and origin.device is origin.sharding


def _device_array(x: Array) -> Any:
    if xla_backend is None:
        raise ArgumentTypeError("array: expected XLA, which knows the parts of arrays; install lawful-xla-backend")
    return xla_backend.device_put(on_device(x))


def _aval(x: Array) -> ShapedArray:
    return ShapedArray(x.shape, x.dtype, x.weak_type)


register_array_type(Array, aval=_aval, to_numpy=plain)
# The types of lawful have no shardings, and those of JAX's programs have one that says nothing.
setattr(ShapedArray, "sharding", property(_sharding_of_type))  # noqa: B010  # mypy knows no such attribute
