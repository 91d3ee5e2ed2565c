"""Functions of `jax.numpy` whose arguments differ from those of `lawful.numpy`."""

from __future__ import annotations

from typing import Any

import numpy

from lawful import numpy as lawful_numpy
from lawful import ops
from lawful.core import ArgumentValueError, as_dtype, get_aval, is_array
from lawful.jax._support.array import as_jax, plain
from lawful.jax._support.user_functions import receives_arrays
from lawful.staging import ShapeDtypeStruct


def _require_order(name: str, order: str | None, allowed: tuple[str | None, ...]) -> None:
    if order not in allowed:
        raise ArgumentValueError(f"{name}: expected an order in {allowed}, got {order!r}; arrays have the order C")


def described(x: Any) -> Any:
    """Returns the type of an object that has a shape and a dtype beside ``__jax_array__``, which is not called."""
    has_type = hasattr(type(x), "__jax_array__") and hasattr(x, "shape") and hasattr(x, "dtype")
    return ShapeDtypeStruct(x.shape, x.dtype) if has_type else x


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Returns an array of values, with at least ``ndmin`` dimensions; see `lawful.numpy.array`.

    Raises:
      ArgumentValueError: the order of elements in memory is not the default, or a sharding is given.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.array([1, 2], ndmin=2)
    Array([[1, 2]], dtype=int64)
    """
    _require_order("array", order, (None, "K", "C", "A"))
    result = lawful_numpy.array(object, dtype=dtype, copy=copy, device=device)
    missing = ndmin - get_aval(result).ndim
    return lawful_numpy.expand_dims(result, tuple(range(missing))) if missing > 0 else result


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None, device: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Returns an array of values; see `lawful.numpy.asarray`.

    Raises:
      ArgumentValueError: the order of elements in memory is not the default.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.asarray([1.0, 2.0])
    Array([1., 2.], dtype=float64)
    """
    _require_order("asarray", order, (None, "K", "C", "A"))
    return lawful_numpy.asarray(a, dtype=dtype, copy=copy, device=device)


def copy(a: Any, order: str | None = None) -> Any:
    """Returns a copy of an array; see `lawful.numpy.copy`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.copy(jnp.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    _require_order("copy", order, (None, "K", "C", "A"))
    return lawful_numpy.copy(a)


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Any:
    """Returns the elements limited to an interval; see `lawful.numpy.clip`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.clip(jnp.arange(4), 1, 2)
    Array([1, 1, 2, 2], dtype=int64)
    """
    return lawful_numpy.clip(arr, min, max)


def reciprocal(x: Any, /) -> Any:
    """Returns ``1 / x``; of integers too, where NumPy's function of this name rounds to integers.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.reciprocal(4)
    Array(0.25, dtype=float64, weak_type=True)
    """
    is_exact = get_aval(x).dtype.kind in "biu"
    return lawful_numpy.true_divide(1, x) if is_exact else lawful_numpy.reciprocal(x)


def array_repr(
    arr: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """Returns the text of an array, as ``repr``.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.array_repr(jnp.arange(3))
    'array([0, 1, 2])'
    """
    return numpy.array_repr(arr, max_line_width, precision, suppress_small)


def array_str(
    a: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """Returns the text of the elements of an array.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.array_str(jnp.arange(3))
    '[0 1 2]'
    """
    return numpy.array_str(a, max_line_width, precision, suppress_small)


class _Indexed:
    """An object of `lawful.numpy` that is used by indexing, such as ``mgrid``; what it gives are `Array`s."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __repr__(self) -> str:
        return repr(self._source)

    def __getitem__(self, key: Any) -> Any:
        return as_jax(self._source[plain(key)])


mgrid, ogrid, r_, c_ = map(_Indexed, (lawful_numpy.mgrid, lawful_numpy.ogrid, lawful_numpy.r_, lawful_numpy.c_))


def isscalar(element: Any) -> bool:
    """Whether an object is a number, or an array without dimensions.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.isscalar(3.0), jnp.isscalar(jnp.arange(3))
    (True, False)
    """
    return not element.ndim if is_array(element) and hasattr(element, "ndim") else numpy.isscalar(element)


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """Returns the arrays, each broadcast to the shape that they broadcast to together.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.broadcast_arrays(jnp.arange(2), 1)
    (Array([0, 1], dtype=int64), Array([1, 1], dtype=int64))
    """
    return tuple(lawful_numpy.broadcast_arrays(*args))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Returns the coordinates of the points of a grid; see `lawful.numpy.meshgrid`.

    >>> import lawful.jax.numpy as jnp
    >>> x, y = jnp.meshgrid(jnp.arange(3), jnp.arange(2))
    >>> x
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int64)
    """
    return tuple(lawful_numpy.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing))


def _described_list(x: Any) -> Any:
    return numpy.asarray(x) if isinstance(x, list | tuple) else x


def ndim(a: Any) -> int:
    """Returns the number of dimensions of an array, or of nested lists.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.ndim(jnp.ones((2, 3)))
    2
    """
    return lawful_numpy.ndim(_described_list(a))


def shape(a: Any) -> tuple[int, ...]:
    """Returns the lengths of the dimensions of an array, or of nested lists.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.shape(jnp.ones((2, 3)))
    (2, 3)
    """
    return lawful_numpy.shape(_described_list(a))


def size(a: Any, axis: Any = None) -> int:
    """Returns the number of elements of an array, or of nested lists; see `lawful.numpy.size`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.size(jnp.ones((2, 3)))
    6
    """
    return lawful_numpy.size(_described_list(a), axis)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Returns an array with more elements at its ends; see `lawful.numpy.pad`.

    A function as ``mode`` is given each row along each dimension, with zeros at its ends, the two widths, the
    dimension and ``kwargs``, and returns the row.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.pad(jnp.arange(1, 3), 1)
    Array([0, 1, 2, 0], dtype=int64)
    """
    if not callable(mode):
        return lawful_numpy.pad(array, pad_width, mode, **kwargs)
    widths = numpy.broadcast_to(pad_width, (get_aval(array).ndim, 2)).tolist()
    padded = lawful_numpy.pad(array, widths)
    of_row = receives_arrays(mode, kept=(1, 2, 3))
    for axis, width in enumerate(widths):
        padded = lawful_numpy.apply_along_axis(of_row, axis, padded, tuple(width), axis, kwargs)
    return padded


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """Returns an array of the bytes of a buffer.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.frombuffer(bytes([1, 2]), dtype="uint8")
    Array([1, 2], dtype=uint8)
    """
    return numpy.frombuffer(buffer, numpy.dtype(dtype), count, offset)


def fromiter(*args: Any, **kwargs: Any) -> Any:
    """Returns an array of the values of an iterable; arguments as ``numpy.fromiter``.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.fromiter((i * i for i in range(3)), dtype="int64")
    Array([0, 1, 4], dtype=int64)
    """
    return numpy.fromiter(*args, **kwargs)


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
    """Returns an array of the numbers in a text.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.fromstring("1 2", sep=" ")
    Array([1., 2.], dtype=float64)
    """
    return numpy.fromstring(string, numpy.dtype(dtype), count, sep=sep)


def fromfile(*args: Any, **kwargs: Any) -> Any:
    """Returns an array of the bytes of a file; arguments as ``numpy.fromfile``.

    >>> import lawful.jax.numpy as jnp
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes([1, 2]))
    ...     file.flush()
    ...     jnp.fromfile(file.name, dtype="uint8")
    Array([1, 2], dtype=uint8)
    """
    return numpy.fromfile(*args, **kwargs)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the array in a file; arguments as ``numpy.load``. NumPy saves bfloat16 as two bytes of no type.

    >>> import lawful.jax.numpy as jnp
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     numpy.save(file, numpy.arange(3.0))
    ...     _ = file.seek(0)
    ...     jnp.load(file)
    Array([0., 1., 2.], dtype=float64)
    """
    found = numpy.load(file, *args, **kwargs)
    return found.view(as_dtype("bfloat16")) if getattr(found, "dtype", None) == numpy.dtype("V2") else found


def minmax(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Returns the smallest and the largest elements.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.minmax(jnp.array([3, 1, 2]))
    (Array(1, dtype=int64), Array(3, dtype=int64))
    """
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    options |= {} if where is None else {"where": where}
    least, most = (None, None) if initial is None else initial if isinstance(initial, tuple) else (initial, initial)
    return (
        lawful_numpy.min(a, **options, **({} if least is None else {"initial": least})),
        lawful_numpy.max(a, **options, **({} if most is None else {"initial": most})),
    )


def where(condition: Any, x: Any = None, y: Any = None, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Returns elements of two arrays by a condition; with the condition alone the positions where it holds.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.where(jnp.array([True, False]), 1.0, 2.0)
    Array([1., 2.], dtype=float64)
    """
    if x is None and y is None:
        return lawful_numpy.nonzero(condition, size=size, fill_value=fill_value)
    return lawful_numpy.where(condition, x, y)


def argsort(
    a: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
    descending: bool = False, dtype: Any = None,
) -> Any:  # fmt: skip
    """Returns the positions that sort an array; see `lawful.numpy.argsort`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.argsort(jnp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int64)
    """
    found = lawful_numpy.argsort(a, axis=axis, stable=stable, descending=descending)
    return found if dtype is None else found.astype(dtype)


def dstack(tup: Any, dtype: Any = None) -> Any:
    """Returns arrays joined along the third dimension; see `lawful.numpy.dstack`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.dstack([jnp.arange(2), jnp.arange(2)]).shape
    (1, 2, 2)
    """
    joined = lawful_numpy.dstack(tup)
    return joined if dtype is None else joined.astype(dtype)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C", *, dtype: Any = None) -> Any:
    """Returns the positions in a flattened array; see `lawful.numpy.ravel_multi_index`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.ravel_multi_index((1, 2), (3, 4))
    Array(6, dtype=int64)
    """
    found = lawful_numpy.ravel_multi_index(multi_index, dims, mode, order)
    return found if dtype is None else found.astype(dtype)


def top_k(a: Any, k: int, /, *, axis: int | None = -1, mode: str = "largest", sorted: bool = True) -> Any:
    """Returns the largest or smallest elements along a dimension, and their positions.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.top_k(jnp.array([3, 1, 2]), 2)
    (Array([3, 2], dtype=int64), Array([0, 2], dtype=int32))
    """
    if mode not in ("largest", "smallest"):
        raise ArgumentValueError(f"top_k: expected the mode 'largest' or 'smallest', got {mode!r}")
    if axis is None:
        a, axis = lawful_numpy.ravel(a), -1
    if mode == "largest":
        return ops.top_k(a, k, axis=axis)
    positions = lawful_numpy.take(lawful_numpy.argsort(a, axis=axis), lawful_numpy.arange(k), axis=axis)
    return lawful_numpy.take_along_axis(a, positions, axis=axis), positions.astype(numpy.int32)


def _promoted(a: Any, dtype: Any, promote_integers: bool) -> Any:
    """Returns the dtype of a sum or product: that of the elements where integers are not promoted."""
    return get_aval(a).dtype if dtype is None and not promote_integers else dtype


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """Returns the sum over dimensions; see `lawful.numpy.sum`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.sum(jnp.arange(4))
    Array(6, dtype=int64)
    """
    given = {name: x for name, x in (("initial", initial), ("where", where)) if x is not None}
    return lawful_numpy.sum(a, axis, _promoted(a, dtype, promote_integers), out, keepdims, **given)


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """Returns the product over dimensions; see `lawful.numpy.prod`.

    >>> import lawful.jax.numpy as jnp
    >>> jnp.prod(jnp.arange(1, 4))
    Array(6, dtype=int64)
    """
    given = {name: x for name, x in (("initial", initial), ("where", where)) if x is not None}
    return lawful_numpy.prod(a, axis, _promoted(a, dtype, promote_integers), out, keepdims, **given)
