"""Search in sorted arrays, and counts of numbers."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import fori_loop
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ConcretizationTypeError,
    Tracer,
    get_aval,
    is_inexact,
    promote_dtypes,
    to_numpy,
)
from lawful.numpy._eager import eager
from lawful.numpy._indexing.elements import nonzero
from lawful.numpy._integers import array_of_integer, with_dtype
from lawful.numpy._loops import traced_once
from lawful.numpy._manipulation.joining import stack
from lawful.ops import static_integers

__all__ = ["argwhere", "bincount", "digitize", "searchsorted"]


def _nan_rank(z: Any) -> Any:
    """Returns for complex numbers: 1 if the imaginary part is NaN, 2 if the real part is, 3 if both are, else 0."""
    re, im = ops.real(z), ops.imag(z)
    return ops.add(ops.where(ops.ne(re, re), 2, 0), ops.where(ops.ne(im, im), 1, 0))


def _is_before(x: Any, y: Any) -> Any:
    """Whether numbers come before others in a sorted array, in which NaNs are last."""
    if get_aval(x).dtype.kind == "c":
        keys = [(_nan_rank(z), ops.real(z), ops.imag(z)) for z in (x, y)]
        found: Any = numpy.False_
        for one, other in reversed(list(zip(*keys, strict=True))):
            is_same = ops.bitwise_not(ops.bitwise_or(ops.lt(one, other), ops.gt(one, other)))
            found = ops.bitwise_or(ops.lt(one, other), ops.bitwise_and(is_same, found))
        return found
    before = ops.lt(x, y)
    if not is_inexact(get_aval(x).dtype):
        return before
    return ops.bitwise_or(before, ops.bitwise_and(ops.eq(x, x), ops.ne(y, y)))


@traced_once(2)
def _positions(a: Any, v: Any, side: str) -> Any:
    """Returns the positions of numbers in a sorted array that is not empty, by halving intervals.

    It is a loop because XLA's compiler takes exponential time for the same iterations in straight-line code.
    """
    size, shape = get_aval(a).shape[0], get_aval(v).shape

    def halve(_: Any, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = ends
        middle = ops.shift_right_arithmetic(ops.add(low, high), ops.full_like(low, 1))
        found = ops.getitem(a, ops.min(middle, size - 1))
        after = _is_before(found, v) if side == "left" else ops.bitwise_not(_is_before(v, found))
        is_open = ops.lt(low, high)
        low = ops.where(ops.bitwise_and(is_open, after), ops.add(middle, 1), low)
        return low, ops.where(ops.bitwise_and(is_open, ops.bitwise_not(after)), middle, high)

    whole = ops.full(shape, 0, "int64"), ops.full(shape, size, "int64")
    return fori_loop(0, size.bit_length(), halve, whole)[0]


@eager(numpy.searchsorted, arrays=2)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Returns where in a sorted array numbers would have to stand so that it stays sorted.

    Args:
      a: the sorted array, of one dimension; complex numbers are ordered by real, then by imaginary parts.
      v: the numbers, an array of any shape.
      side: ``"left"`` for the first such position, ``"right"`` for the last one.
      sorter: the order that sorts ``a``, if it is not sorted.

    Raises:
      ArgumentValueError: ``a`` has not one dimension, or there is no such side.

    >>> searchsorted(numpy.array([1.0, 2.0, 2.0, 3.0]), numpy.array([2.0, 9.0]))
    array([1, 4])

    Source: ``numpy.searchsorted``.
    """
    # A Python integer outside of the range of the array's dtype is compared too.
    v = array_of_integer(v, None) if type(v) is int and get_aval(a).dtype.kind in "iu" else with_dtype(v)
    avals = get_aval(a), get_aval(v)
    if avals[0].ndim != 1:
        raise ArgumentValueError(f"searchsorted: expected a sorted array of one dimension, got {avals[0]}; reshape it")
    if side not in ("left", "right"):
        raise ArgumentValueError(f"searchsorted: expected side='left' or 'right', got {side!r}; choose one")
    if sorter is not None:
        if get_aval(sorter).shape != avals[0].shape:
            raise ArgumentValueError(
                f"searchsorted: expected a sorter of the array's shape, got {get_aval(sorter)} for {avals[0]}"
            )
        a = ops.getitem(a, sorter)
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    a, v = ops.convert_element_type(a, dtype), ops.convert_element_type(v, dtype)
    if not avals[0].shape[0]:
        return ops.full(avals[1].shape, 0, "int64")
    return _positions(stop_gradient(a), stop_gradient(v), side)


@eager(numpy.digitize, arrays=2)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Returns the number of the interval that each number lies in.

    Args:
      x: the numbers.
      bins: the ends of the intervals, which increase or decrease. Where they are traced, the first and last tell.
      right: whether an interval includes its end and not its beginning.

    Raises:
      ArgumentValueError: the ends do neither, or have not one dimension.

    >>> digitize(numpy.array([0.5, 1.0, 9.0]), numpy.array([0.0, 1.0, 2.0]))
    array([1, 2, 3])

    Source: ``numpy.digitize``.
    """
    aval = get_aval(bins)
    if aval.ndim != 1:
        raise ArgumentValueError(f"digitize: expected ends of intervals in one dimension, got {aval}; reshape them")
    side, size = ("left" if right else "right"), aval.shape[0]
    if not isinstance(bins, Tracer):
        steps = numpy.diff(to_numpy(bins))
        if not (numpy.all(steps >= 0) or numpy.all(steps <= 0)):
            raise ArgumentValueError("digitize: expected bins that increase or decrease, got others; sort them")
    up = searchsorted(bins, x, side)
    if size < 2:
        return up
    down = ops.sub(size, searchsorted(ops.rev(bins, (0,)), x, side))
    return ops.where(ops.le(ops.getitem(bins, 0), ops.getitem(bins, size - 1)), up, down)


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Returns the indices of the elements that are not zero, a row for each.

    Args:
      a: an array of at least one dimension.
      size: how many rows are given; it has to be known where ``a`` is traced. More are left out.
      fill_value: the value of missing rows; 0 by default.

    Raises:
      ArgumentValueError: it is a scalar.
      ConcretizationTypeError: ``a`` is traced, and there is no ``size``.

    >>> argwhere(numpy.array([[0, 5], [7, 0]]))
    array([[0, 1],
           [1, 0]])

    Source: ``numpy.argwhere``, ``jax.numpy.argwhere``.
    """
    if not get_aval(a).ndim:
        raise ArgumentValueError("argwhere: expected at least one dimension, got a scalar; use reshape(x, (1,))")
    return stack(nonzero(a, size=size, fill_value=fill_value), 1)


def bincount(x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """Returns how often each integer from 0 occurs.

    Args:
      x: integers that are not negative, in one dimension.
      weights: a number for each, which counts in index of 1.
      minlength: the length of the result, if no integer is larger.
      length: the length of the result; it has to be known where ``x`` is traced. Integers that are larger do not count,
        and negative ones count as 0.

    Raises:
      ArgumentTypeError: they are not integers.
      ArgumentValueError: they have not one dimension, one is known and negative, or the weights have another shape.
      ConcretizationTypeError: ``x`` is traced, and there is no ``length``.

    >>> bincount(numpy.array([1, 3, 1]))
    array([0, 2, 0, 1])
    >>> bincount(numpy.array([1, 3, 1]), length=2)
    array([0, 2])

    Source: ``numpy.bincount``, ``jax.numpy.bincount``.
    """
    aval = get_aval(x)
    (minlength,) = static_integers("bincount", "minlength", minlength)
    if aval.dtype.kind not in "iub":
        raise ArgumentTypeError(f"bincount: expected integers, got {aval}; convert with astype")
    if aval.ndim != 1 or minlength < 0:
        raise ArgumentValueError(
            f"bincount: expected one dimension and a minlength that is not negative, got {aval} and {minlength}"
        )
    if weights is not None and get_aval(weights).shape != aval.shape:
        raise ArgumentValueError(f"bincount: expected a weight for each, got {get_aval(weights)} for {aval}")
    if length is None:
        if isinstance(x, Tracer):
            raise ConcretizationTypeError(
                f"bincount: expected a known length of the result where the integers are traced, got {aval}; "
                "give bincount(x, length=n)"
            )
        known = to_numpy(x)
        if aval.size and known.min() < 0:
            raise ArgumentValueError("bincount: expected integers that are not negative, got negative ones")
        length = max(minlength, int(known.max()) + 1 if aval.size else 0)
    (length,) = static_integers("bincount", "length", length)
    if weights is None:
        counted = ops.full(aval.shape, 1, "int64")
    else:
        counted = ops.convert_element_type(weights, numpy.float64)
    index = ops.max(ops.convert_element_type(x, numpy.int64), 0)
    start = ops.full((max(length, 0),), 0, get_aval(counted).dtype)
    return ops.at(start)[index].add(counted, mode="drop")
