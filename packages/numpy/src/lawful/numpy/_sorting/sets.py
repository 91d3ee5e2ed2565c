"""Arrays as sets of their elements. If values are traced, the number of elements of the result must be given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ConcretizationTypeError, Tracer, get_aval, to_numpy
from lawful.numpy._eager import eager
from lawful.numpy._integers import with_dtype
from lawful.numpy._manipulation.shape import ravel
from lawful.numpy._sorting.searching import searchsorted
from lawful.numpy._sorting.unique import _differs, of_sorted, unique, widened
from lawful.ops import static_integers

__all__ = ["intersect1d", "isin", "setdiff1d", "setxor1d", "union1d"]

Function = Callable[..., Any]


@eager(numpy.isin, arrays=2)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> Any:
    """Returns, for each element of an array, whether it is among others; a NaN never is.

    Args:
      element: an array.
      test_elements: the others, of any shape.
      assume_unique: that no element is there twice, which changes nothing here.
      invert: whether to return the opposite.
      kind: the algorithm, which is ignored.

    >>> isin(numpy.array([[1, 2], [3, 4]]), numpy.array([2, 4]))
    array([[False,  True],
           [False,  True]])

    Source: ``numpy.isin``.
    """
    element = with_dtype(element)
    aval, others = get_aval(element), ravel(with_dtype(test_elements))
    if not get_aval(others).size:
        return ops.full(aval.shape, invert, bool)
    known = True
    if _lose_digits(aval.dtype, get_aval(others).dtype):
        x, known = _in_range(element, get_aval(others).dtype)
    else:
        x, others = _in_one_dtype("isin", element, others)
    ordered = ops.sort(others, 0)
    if get_aval(x).dtype.kind == "c":
        found = ops.reduce_or(ops.eq(ops.expand_dims(x, (aval.ndim,)), ordered), (aval.ndim,))
    else:
        index = ops.min(searchsorted(ordered, x), get_aval(ordered).size - 1)
        found = ops.eq(ops.getitem(ordered, index), x)
    if known is not True:
        found = ops.bitwise_and(found, known)
    return ops.bitwise_not(found) if invert else found


def _lose_digits(*dtypes: numpy.dtype[Any]) -> bool:
    """Whether two dtypes of integers have a common one of floats: one is uint64, and the other signed."""
    return {dtype.kind for dtype in dtypes} == {"i", "u"} and numpy.promote_types(*dtypes).kind == "f"


def _in_range(x: Any, dtype: numpy.dtype[Any]) -> tuple[Any, Any]:
    """Returns integers in another dtype of integers, and which of them it holds: those from 0 to its largest."""
    aval = get_aval(x)
    fits = ops.ge(x, 0) if aval.dtype.kind == "i" else ops.le(x, aval.dtype.type(numpy.iinfo(dtype).max))
    return ops.convert_element_type(x, dtype), fits


def _in_one_dtype(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    dtype = get_aval(
        ops.promote(name, None, (ops.full((), 0, get_aval(x).dtype), ops.full((), 0, get_aval(y).dtype)))[0]
    ).dtype
    return ops.convert_element_type(x, dtype), ops.convert_element_type(y, dtype)


def _size(name: str, function: Function, arrays: tuple[Any, ...], size: Any) -> int:
    """Returns the number of elements of a result: the given one, or NumPy's if all values are known.

    Raises:
      ConcretizationTypeError: a value is not known, and no number is given.
    """
    if size is not None:
        (given,) = static_integers(name, "size", size)
        return given
    known = [x.concrete() if isinstance(x, Tracer) else to_numpy(x) for x in arrays]
    if any(x is None for x in known):
        avals = " and ".join(str(get_aval(x)) for x in arrays)
        raise ConcretizationTypeError(
            f"{name}: expected arrays whose values are known, got {avals}: how many elements there are would decide a "
            f"shape; give their number, {name}(x, y, size=n)"
        )
    return int(function(*map(widened, known)).size)


def _ordered(x: Any) -> tuple[Any, Any]:
    """Returns the sorted elements of an array, and a mask of the first of equal ones."""
    flat = ops.sort(ravel(x), 0)
    return flat, _differs(flat, True) if get_aval(flat).size else ops.full((0,), True, bool)


def _packed(values: Any, chosen: Any, size: int, fill_value: Any, *, repeats_first: bool = False) -> Any:
    """Returns ``size`` chosen values in order, with ``fill_value`` where there are fewer.

    By default it is 0, or the first of the chosen ones, if there are some.
    """
    dtype, count = get_aval(values).dtype, get_aval(values).size
    left_out = ops.bitwise_not(chosen)
    _, ordered = ops.sort((ops.convert_element_type(left_out, numpy.int8), values), 0, num_keys=2)
    found = ops.reduce_sum(ops.convert_element_type(chosen, numpy.int64), (0,))
    fill = ops.convert_element_type(0 if fill_value is None else fill_value, dtype)
    if fill_value is None and repeats_first and count:
        fill = ops.where(ops.gt(found, 0), ops.getitem(ordered, 0), fill)
    ordered = ops.pad(ordered, dtype.type(0), [(0, size - count, 0)])
    return ops.where(ops.lt(ops.iota("int64", size), found), ordered, fill)


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Returns the different elements of two arrays, sorted.

    Args:
      ar1: an array.
      ar2: an array.
      size: how many are given; it has to be known where an array is traced. The largest ones are left out if there
        are more.
      fill_value: the value where there are fewer; by default the smallest element.

    Raises:
      ConcretizationTypeError: an array is traced, and there is no ``size``.

    >>> union1d(numpy.array([1, 2]), numpy.array([2, 3]))
    array([1, 2, 3])

    Source: ``numpy.union1d``, ``jax.numpy.union1d``.
    """
    size = _size("union1d", numpy.union1d, (ar1, ar2), size)
    return unique(ops.concatenate([ravel(ar1), ravel(ar2)], 0), size=size, fill_value=fill_value)


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Returns the elements that two arrays share, sorted.

    Args:
      ar1: an array.
      ar2: an array.
      assume_unique: that no element is there twice, which changes nothing here.
      return_indices: whether to return too where each is first, in both flattened arrays.
      size: how many are given, as in `union1d`.
      fill_value: the value where there are fewer; by default the smallest one, or 0 if there is none. The positions
        there are the numbers of elements of the arrays.

    Raises:
      ConcretizationTypeError: an array is traced, and there is no ``size``.

    >>> intersect1d(numpy.array([1, 2, 3]), numpy.array([3, 2, 2]))
    array([2, 3])

    Source: ``numpy.intersect1d``, ``jax.numpy.intersect1d``.
    """
    size = _size("intersect1d", numpy.intersect1d, (ar1, ar2), size)
    left, right = _in_one_dtype("intersect1d", ravel(ar1), ravel(ar2))
    ordered, is_first = _ordered(left)
    chosen = ops.bitwise_and(is_first, isin(ordered, right))
    values = _packed(ordered, chosen, size, fill_value, repeats_first=True)
    if not return_indices:
        return values
    is_found = ops.lt(ops.iota("int64", size), ops.reduce_sum(ops.convert_element_type(chosen, numpy.int64), (0,)))
    return values, *[ops.where(is_found, _first_indices(x, values), get_aval(x).size) for x in (left, right)]


def _first_indices(x: Any, values: Any) -> Any:
    """Returns the index of the first occurrence of each value in an array that contains it."""
    size = get_aval(x).size
    if not size:
        return ops.full(get_aval(values).shape, 0, numpy.int64)
    ordered, indices = ops.sort((x, ops.iota("int64", size)), 0, is_stable=True)
    return ops.getitem(indices, ops.min(searchsorted(ordered, values), size - 1))


def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Returns the elements of an array that are not in another one, sorted; arguments as `intersect1d`.

    The ``fill_value`` is 0 by default. With ``assume_unique`` NumPy keeps their order; here they are sorted all
    the same where an array is traced.

    >>> setdiff1d(numpy.array([1, 2, 3]), numpy.array([2]))
    array([1, 3])

    Source: ``numpy.setdiff1d``, ``jax.numpy.setdiff1d``.
    """
    if size is None and not any(isinstance(x, Tracer) for x in (ar1, ar2)):
        return of_sorted(numpy.setdiff1d, to_numpy(ar1), widened(to_numpy(ar2)), assume_unique)
    size = _size("setdiff1d", numpy.setdiff1d, (ar1, ar2), size)
    ordered, is_first = _ordered(ar1)
    return _packed(ordered, ops.bitwise_and(is_first, isin(ordered, ar2, invert=True)), size, fill_value)


def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Returns the elements that are in just one of two arrays, sorted; arguments as `intersect1d`.

    >>> setxor1d(numpy.array([1, 2, 3]), numpy.array([2, 4]))
    array([1, 3, 4])

    Source: ``numpy.setxor1d``, ``jax.numpy.setxor1d``.
    """
    size = _size("setxor1d", numpy.setxor1d, (ar1, ar2), size)
    left, right = _in_one_dtype("setxor1d", ravel(ar1), ravel(ar2))
    parts, flags = [], []
    for one, other in ((left, right), (right, left)):
        ordered, is_first = _ordered(one)
        parts.append(ordered)
        flags.append(ops.bitwise_and(is_first, isin(ordered, other, invert=True)))
    return _packed(ops.concatenate(parts, 0), ops.concatenate(flags, 0), size, fill_value, repeats_first=True)
