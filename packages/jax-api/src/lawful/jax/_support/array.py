"""``Array``: the eager array of `lawful.jax`, an immutable ndarray with what a ``jax.Array`` has beyond NumPy's.

The other packages of lawful return plain NumPy arrays; only functions of `lawful.jax` return these.
"""

from __future__ import annotations

import functools
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
    define_array_methods,
    register_array_type,
)
from lawful.jax._support.devices import DEVICE_ARRAYS, SingleDeviceSharding, default_device, xla_backend

Method = Callable[..., Any]


class _ArrayType(type):
    """The type of `Array`: tracers and device arrays are instances of it too."""

    def __instancecheck__(cls, x: object) -> bool:
        return type.__instancecheck__(cls, x) or isinstance(x, (Tracer, *DEVICE_ARRAYS))


class Array(numpy.ndarray[Any, Any], metaclass=_ArrayType):
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
        return _At(plain(self))

    def item(self, *args: Any) -> Any:
        """Returns an element as a Python scalar."""
        return self.view(numpy.ndarray).item(*args)

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return as_jax(getattr(ufunc, method)(*map(plain, inputs), **kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return as_jax(func(*map(plain, args), **kwargs))

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


class _At(ops.At):
    """``x.at`` of an `Array`, whose updates are Arrays."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return _AtIndex(self._array, plain(index))


class _AtIndex(ops.AtIndex):
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
    """Returns a result where a tree of shardings or specs says; None says nothing."""
    return x if place is None else importlib.import_module("lawful.jax._support.sharding").put(x, place)


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


def _operator(method: Method) -> Method:
    """Returns an operator that does what it does between tracers, so that programs compute the same eagerly."""

    def operate(self: Array, *others: Any) -> Any:
        with numpy.errstate(all="ignore"):
            result = method(plain(self), *map(plain, others))
        return weak(result) if type(result) in _PYTHON_SCALARS else as_jax(result)

    return operate


def _in_place(method: Method) -> Method:
    def operate(self: Array, other: Any) -> Any:
        return method(self, other)

    return operate


def _method(function: Method) -> Method:
    def call(self: Array, *args: Any, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return as_jax(function(self.view(numpy.ndarray), *map(plain, args), **kwargs))

    # Its examples are those of the function: they use other names.
    call.__name__, call.__doc__ = function.__name__, (function.__doc__ or "").strip().partition("\n\n")[0]
    return call


def _update(name: str) -> Method:
    def update(self: Any, *values: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return placed(as_jax(getattr(ops.AtIndex, name)(self, *map(plain, values), **kwargs)), out_sharding)

    return update


def _with_place(method: Method) -> Method:
    """Returns a method whose result is laid out as the argument ``out_sharding`` says."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        return placed(method(self, *args, **kwargs), out_sharding)

    return call


def _with_keywords(name: str, method: Method) -> Method:
    """Returns a method that is the function of `jax.numpy` of its name where keywords are given that only that has."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not _KEYWORDS.isdisjoint(kwargs):
            return getattr(importlib.import_module("lawful.jax.numpy"), name)(self, *args, **kwargs)
        return method(self, *args, **kwargs)

    return call


_KEYWORDS = frozenset({"promote_integers", "method", "fill_value", "unique_indices", "indices_are_sorted"})
_PYTHON_SCALARS = (bool, int, float, complex)
_OPERATORS = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod"),
    *("divmod", "rdivmod", "pow", "rpow", "matmul", "rmatmul", "and", "rand", "or", "ror", "xor", "rxor", "lshift"),
    *("rlshift", "rshift", "rrshift", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "invert", "round"),
)
_IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_METHODS = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "conj"),
    *("conjugate", "copy", "cumprod", "cumsum", "diagonal", "max", "mean", "min", "nonzero", "prod", "ptp"),
    *("ravel", "repeat", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var"),
)


def _dot(
    self: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Any:
    """Returns the product with an array; see `lawful.jax.numpy.dot`."""
    given = {"precision": precision, "preferred_element_type": preferred_element_type}
    products = importlib.import_module("lawful.jax._support.numpy.products")
    return placed(products.dot(self, b, **{name: x for name, x in given.items() if x is not None}), out_sharding)


def _define_methods() -> None:
    for name in _OPERATORS:
        setattr(Array, f"__{name}__", _operator(getattr(ops.ArrayMethods, f"__{name}__")))
    # `x += y` binds x to a new array.
    for name in _IN_PLACE:
        setattr(Array, f"__i{name}__", _in_place(getattr(Array, f"__{name}__")))
    for name in _METHODS:
        setattr(Array, name, _method(getattr(lawful_numpy, name)))
    Array.compress = _method(ops.ArrayMethods.compress)  # type: ignore[method-assign]
    # In a program of NumPy's it would sort in place, so lawful's tracers have no such method by themselves.
    define_array_methods(type("Sorting", (), {"sort": lawful_numpy.sort}))
    Array.dot = _method(_dot)  # type: ignore[method-assign]
    define_array_methods(type("Products", (), {"dot": _dot}))
    for name in ("flatten", "reshape", "transpose"):
        setattr(Array, name, _method(getattr(numpy.ndarray, name)))
    # Tracers have JAX's arguments too.
    for name in ("flatten", "ravel", "repeat", "reshape"):
        setattr(Array, name, _with_place(getattr(Array, name)))
        define_array_methods(type("Placed", (), {name: _with_place(getattr(Tracer, name))}))
    for name in ("prod", "searchsorted", "sum", "take"):
        setattr(Array, name, _with_keywords(name, getattr(Array, name)))
        define_array_methods(type("Keywords", (), {name: _with_keywords(name, getattr(Tracer, name))}))
    define_array_methods(type("Updated", (), {"at": property(_At, doc=Array.at.__doc__)}))
    for name in vars(ops.AtIndex):
        if not name.startswith("_"):
            setattr(_AtIndex, name, _update(name))


_define_methods()
