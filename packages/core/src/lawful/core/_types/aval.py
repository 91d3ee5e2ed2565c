"""Abstract values: the types of arrays.

A :class:`ShapedArray` is the type of every variable of a jaxpr. Abstract values are interned: equal ones are the
same object, so that comparison and hashing are by identity, and caches can be keyed by them.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Hashable
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

from lawful.core._errors import ArgumentValueError, InvalidArgumentError, LawfulError, shorten
from lawful.core._types.dtypes import as_dtype, float0, short_name, tangent_dtype
from lawful.tree.base import DictCache

Key = tuple[tuple[int, ...], np.dtype[Any], bool]
AxisNames = frozenset[Hashable]

# Every living abstract value, so that equal ones are one object.
_all: WeakValueDictionary[tuple[Key, AxisNames], ShapedArray] = WeakValueDictionary()
_recent: Final[DictCache[Key, ShapedArray]] = DictCache("abstract values", 8192)
# Recent ones that vary over no axis, by shape, dtype and weakness. They stay alive, and their lookup is 10× faster.
recent_avals: Final = _recent.entries
_lock = threading.Lock()


class ShapedArray:
    """The type of an array: ``shape``, ``dtype``, and whether it is weak (stands for a Python scalar).

    Inside a function that runs on many devices (``lawful.parallel.shard_map``) it also says over which axes of their
    mesh the value varies, ``vma``. Along the other axes it is the same on every device. A ``sharding``, which programs
    of JAX give, is no part of it.

    Raises:
      ArgumentTypeError: the dtype is not one that lawful supports, or a length is not an integer.
      ArgumentValueError: a length is negative.

    >>> ShapedArray((3, 4), "float32")
    ShapedArray(f32[3,4])
    >>> ShapedArray((), float, weak_type=True)
    ShapedArray(~f64[])
    >>> ShapedArray((3,), "float32", vma=frozenset({"x"}))
    ShapedArray(f32[3]{V:x})

    Source: ``jax.core.ShapedArray``.
    """

    __slots__ = ("__weakref__", "_is_of_tangents", "dtype", "ndim", "shape", "size", "vma", "weak_type")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool
    vma: AxisNames
    ndim: int
    size: int
    #: Whether tangents of values of this type have this type.
    _is_of_tangents: bool

    def __new__(
        cls, shape: tuple[int, ...], dtype: Any, weak_type: bool = False, vma: AxisNames = frozenset(),
        *, sharding: object = None,
    ) -> ShapedArray:  # fmt: skip
        if vma:
            return _intern(shape, dtype, bool(weak_type), vma)
        try:
            return recent_avals[shape, dtype, weak_type]
        except (KeyError, TypeError):
            pass
        return _intern(_sizes(shape), dtype, bool(weak_type))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ShapedArray is immutable: {name} cannot be set; use update({name}=...)")

    def __reduce__(self) -> tuple[object, ...]:
        return ShapedArray, (self.shape, self.dtype, self.weak_type, self.vma)

    def __str__(self) -> str:
        sizes = ",".join(map(str, self.shape))
        axes = f"{{V:{','.join(sorted(map(str, self.vma)))}}}" if self.vma else ""
        return f"{'~' if self.weak_type else ''}{short_name(self.dtype)}[{sizes}]{axes}"

    def __repr__(self) -> str:
        return f"ShapedArray({self})"

    def update(self, **changes: Any) -> ShapedArray:
        """Returns the same type with some of ``shape``, ``dtype``, ``weak_type``, ``vma`` replaced."""
        return ShapedArray(
            changes.pop("shape", self.shape),
            changes.pop("dtype", self.dtype),
            changes.pop("weak_type", self.weak_type),
            changes.pop("vma", self.vma),
        )

    def strip_weak_type(self) -> ShapedArray:
        """Returns the same type, but strong."""
        return self.update(weak_type=False) if self.weak_type else self

    def to_tangent_aval(self) -> ShapedArray:
        """Returns the type of tangents of values of this type: of dtype float0 for integers and booleans."""
        return self if self._is_of_tangents else ShapedArray(self.shape, float0)


def _sizes(shape: Any) -> tuple[int, ...]:
    try:
        sizes = tuple(map(operator.index, shape))
    except LawfulError:
        raise  # that of a tracer says what to write instead
    except TypeError as error:
        raise InvalidArgumentError(
            f"ShapedArray: expected integers as shape, got {shorten(shape)}; give a tuple of integers"
        ) from error
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(
            f"ShapedArray: expected lengths that are not negative, got the shape {sizes}; correct it"
        )
    return sizes


def _intern(shape: tuple[int, ...], dtype: Any, weak_type: bool, vma: AxisNames = frozenset()) -> ShapedArray:
    if not (isinstance(dtype, np.dtype) and dtype == float0):
        dtype = as_dtype(dtype)
    key = (shape, dtype, weak_type)
    with _lock:
        aval = _all.get((key, vma))
        if aval is None:
            aval = _all[key, vma] = _new(shape, dtype, weak_type, vma)
        return aval if vma else _recent.insert(key, aval)


#: The most dimensions that an array has in NumPy.
MOST_DIMENSIONS: Final = 64


def require_size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises ArgumentValueError if an array has more bytes than can be counted: NumPy and XLA have none of these.

    >>> require_size((2**31, 2**31), np.dtype("float64"))
    Traceback (most recent call last):
    lawful.tree.base.errors.ArgumentValueError: ...: shape: expected an array of less than 2**63 bytes, got ...
    """
    if math.prod(shape) * dtype.itemsize >= 2**63:
        sizes = ",".join(map(str, shape))
        raise ArgumentValueError(
            f"shape: expected an array of less than 2**63 bytes, got {short_name(dtype)}[{sizes}]; correct the sizes"
        )


def _new(shape: tuple[int, ...], dtype: np.dtype[Any], weak_type: bool, vma: AxisNames) -> ShapedArray:
    aval = object.__new__(ShapedArray)
    fields = {
        "shape": shape, "dtype": dtype, "weak_type": weak_type, "ndim": len(shape), "size": math.prod(shape),
        "vma": vma, "_is_of_tangents": tangent_dtype(dtype) is dtype,
    }  # fmt: skip
    for name, value in fields.items():
        object.__setattr__(aval, name, value)
    return aval


class Zero:
    """A tangent or cotangent known to be zero. It costs no memory and no arithmetic. It has an ``aval``.

    >>> Zero(ShapedArray((2,), "float32"))
    Zero(f32[2])
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype, float0 where it is the tangent of integers."""
        return self.aval.dtype

    def __repr__(self) -> str:
        return f"Zero({self.aval})"


class UndefinedPrimal:
    """Stands, in a transpose rule, for the argument with respect to which a primitive is transposed.

    >>> UndefinedPrimal(ShapedArray((2,), "float32"))
    UndefinedPrimal(f32[2])
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


def zeros(aval: ShapedArray) -> Any:
    """Returns the array of zeros of a type; of dtype float0 where the type is that of integers' tangents.

    >>> zeros(ShapedArray((2,), "float32"))
    array([0., 0.], dtype=float32)
    """
    return np.zeros(aval.shape, aval.dtype)


def instantiate_zeros(tangent: Any) -> Any:
    """Returns an array of zeros for a symbolic :class:`Zero`, and anything else as it is.

    >>> instantiate_zeros(Zero(ShapedArray((2,), "float32")))
    array([0., 0.], dtype=float32)
    """
    return zeros(tangent.aval) if type(tangent) is Zero else tangent
