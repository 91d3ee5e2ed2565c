"""Sorted arrays, and the order that sorts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, is_inexact
from lawful.numpy._eager import direct, is_plain
from lawful.ops import canonical_axis, is_axis_of_scalar, static_integers

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex"]


def _flattened(name: str, a: Any, axis: int | None) -> tuple[Any, int]:
    """Returns an array and a dimension; if no axis is given, the flattened array and its dimension."""
    aval = get_aval(a)
    if axis is None:
        return ops.reshape(a, (aval.size,)), 0
    return a, canonical_axis(name, axis, aval.ndim)


def _without_order(name: str, order: Any) -> None:
    if order is not None:
        raise ArgumentValueError(f"{name}: expected no order=, got {order!r}: there are no fields to sort by")


def _numpy_sort(a: Any, axis: Any = -1) -> Any:
    return numpy.sort(a, axis, stable=True)


@direct(_numpy_sort, most=2, axis=True)
def sort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: bool | None = True,
    descending: bool = False,
) -> Any:
    """Returns an array sorted along a dimension; NaNs come last.

    Args:
      a: an array.
      axis: the dimension; None for that of the flattened array.
      kind: the algorithm, which is ignored.
      order: None only.
      stable: whether equal elements keep their order: zeros of both signs are equal.
      descending: whether the largest element comes first; NaNs come last all the same, as in NumPy.

    Raises:
      AxisError: there is no such dimension.

    >>> sort(numpy.array([[3.0, 1.0], [2.0, 4.0]]), axis=0)
    array([[2., 1.],
           [3., 4.]])

    Source: ``numpy.sort``.
    """
    _without_order("sort", order)
    if type(axis) is int and axis == -1 and stable and not descending:
        return _sorted_last(a)
    return _sorted(a, axis, bool(stable), bool(descending))


@ops.composite()
def _sorted_last(a: Any) -> Any:  # the common case, without settings
    return _sorted(a, -1, True, False)


@ops.composite()
def _sorted(a: Any, axis: int | None, stable: bool, descending: bool) -> Any:
    x, dimension = _flattened("sort", a, axis)
    key = _reversed(x) if descending else x
    if is_plain(key):
        out = numpy.sort(key, dimension, stable=stable)
    else:
        keys = _keys(key)
        out = ops.sort(keys, dimension, stable, len(keys))[-1]
    return _reversed(out) if descending else out


def _numpy_argsort(a: Any, axis: Any = -1) -> Any:
    return numpy.argsort(a, axis, stable=True)


@direct(_numpy_argsort, most=2, axis=True)
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: bool | None = True,
    descending: bool = False,
) -> Any:
    """Returns the positions of an array's elements in their order along a dimension; arguments are those of `sort`.

    >>> argsort(numpy.array([3.0, 1.0, 2.0]))
    array([1, 2, 0])
    """
    _without_order("argsort", order)
    x, dimension = _flattened("argsort", a, None if is_axis_of_scalar(axis, get_aval(a).ndim) else axis)
    key = _reversed(x) if descending else x
    if is_plain(key):
        return numpy.argsort(key, dimension, stable=bool(stable))
    keys, indices = _keys(key), ops.broadcasted_iota("int64", get_aval(key).shape, dimension)
    return ops.sort((*keys, indices), dimension, bool(stable), len(keys))[-1]


def _keys(x: Any) -> tuple[Any, ...]:
    """Returns the sort keys of an array; complex numbers are sorted first by the parts that are NaN."""
    if get_aval(x).dtype.kind != "c":
        return (x,)
    missing = [ops.convert_element_type(ops.ne(part, part), numpy.int8) for part in (ops.real(x), ops.imag(x))]
    return ops.add(ops.mul(missing[0], 2), missing[1]), x


def _reversed(x: Any) -> Any:
    """Returns numbers whose order is reversed; equal ones stay equal, and NaNs stay NaN. It is its own inverse."""
    return ops.neg(x) if is_inexact(get_aval(x).dtype) else ops.bitwise_not(x)


def sort_complex(a: Any) -> Any:
    """Returns an array sorted along its last dimension by the real parts, then the imaginary ones, as complex numbers.

    >>> sort_complex(numpy.array([3, 1]))
    array([1.+0.j, 3.+0.j])

    Source: ``numpy.sort_complex``.
    """
    dtype = get_aval(a).dtype
    narrow = dtype.kind in "iu" and dtype.itemsize <= 2
    out = sort(a)
    return out if dtype.kind == "c" else ops.convert_element_type(out, numpy.complex64 if narrow else numpy.complex128)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """Returns the order that sorts by the last key, where it is equal by the one before it, and so on.

    Args:
      keys: a sequence of arrays of one shape, or an array of them.
      axis: the dimension along which to sort.

    Raises:
      ArgumentTypeError: there are no keys.
      ArgumentValueError: the shapes differ.
      AxisError: there is no such dimension.

    >>> lexsort((numpy.array([3, 1, 2]), numpy.array([0, 1, 0])))
    array([2, 0, 1])

    Source: ``numpy.lexsort``.
    """
    given = list(keys) if isinstance(keys, list | tuple) else [keys[i] for i in range(get_aval(keys).shape[0])]
    if not given:
        raise ArgumentTypeError("lexsort: expected at least one key, got none; give the arrays to sort by")
    shapes = [get_aval(key).shape for key in given]
    if any(shape != shapes[0] for shape in shapes):
        raise ArgumentValueError(f"lexsort: expected keys of one shape, got {', '.join(map(str, shapes))}")
    if not shapes[0]:
        given, shapes = [ops.reshape(key, (1,)) for key in given], [(1,)]
        return ops.reshape(lexsort(given, axis), ())
    dimension = canonical_axis("lexsort", axis, len(shapes[0]))
    index = ops.broadcasted_iota("int64", shapes[0], dimension)
    return ops.sort((*reversed(given), index), dimension, num_keys=len(given))[-1]


def _check_kth(name: str, kth: Any, size: int) -> None:
    indices: Sequence[int] = static_integers(name, "kth", kth)
    for index in indices:
        if not -size <= index < size:
            raise ArgumentValueError(f"{name}: expected kth below the length {size}, got {index}; name an element")


def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Returns an array with the elements at some positions those of the sorted array, smaller ones before them.

    The others stand in an order that is not said; here all are sorted.

    Args:
      a: an array.
      kth: the positions, one or several.
      axis: the dimension; None for that of the flattened array.
      kind: the algorithm, which is ignored.
      order: None only.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: there is no such position.

    >>> partition(numpy.array([3, 1, 2]), 1)
    array([1, 2, 3])

    Source: ``numpy.partition``.
    """
    _without_order("partition", order)
    x, dimension = _flattened("partition", a, axis)
    _check_kth("partition", kth, get_aval(x).shape[dimension])
    return ops.sort(x, dimension)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Returns the positions of the elements of a partition; arguments are those of `partition`.

    >>> argpartition(numpy.array([3, 1, 2]), 1)
    array([1, 2, 0])
    """
    _without_order("argpartition", order)
    x, dimension = _flattened("argpartition", a, None if is_axis_of_scalar(axis, get_aval(a).ndim) else axis)
    _check_kth("argpartition", kth, get_aval(x).shape[dimension])
    return ops.argsort(x, dimension)
