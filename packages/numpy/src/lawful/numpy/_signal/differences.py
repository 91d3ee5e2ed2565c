"""Differences of neighbours, integrals over samples, and interpolation."""

from __future__ import annotations

from typing import Any

import lawful.numpy
import numpy
from lawful import ops
from lawful.autodiff import linear_transpose, stop_gradient
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, promote_dtypes
from lawful.custom_rules import custom_jvp, custom_rule
from lawful.numpy._eager import eager
from lawful.numpy._sorting.searching import searchsorted
from lawful.ops import canonical_axis, static_integers

__all__ = ["diff", "ediff1d", "interp", "trapezoid"]


# NumPy subtracts as often as it is told to, even if no elements are left.
_MANY = 1000


def _numpy_diff(a: Any, n: int = 1, *args: Any, **kwargs: Any) -> Any:
    if type(n) is int and n > _MANY:
        raise ValueError("the function below ends when no elements are left")
    return numpy.diff(a, n, *args, **kwargs)


@eager(_numpy_diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Returns the differences of neighbours along a dimension.

    Args:
      a: an array of at least one dimension.
      n: how many times; no elements are left from the length of the dimension on.
      axis: the dimension.
      prepend: values before the first element: a number, an array or a list.
      append: values after the last one.

    Raises:
      ArgumentValueError: it is a scalar, or ``n`` is negative.
      AxisError: there is no such dimension.

    >>> diff(numpy.array([1, 4, 9, 16])), diff(numpy.array([1, 4, 9, 16]), 2)
    (array([3, 5, 7]), array([2, 2]))

    Source: ``numpy.diff``.
    """
    (n,) = static_integers("diff", "n", n)
    if n < 0:
        raise ArgumentValueError(f"diff: expected a number of times that is not negative, got {n}")
    if n == 0:
        return a
    aval = get_aval(a)
    if not aval.ndim:
        raise ArgumentValueError(f"diff: expected at least one dimension, got {aval}")
    axis = canonical_axis("diff", axis, aval.ndim)
    parts = [x if x is a else _edge(x, aval.shape, axis) for x in (prepend, a, append) if x is not None]
    x = ops.concatenate(parts, axis) if len(parts) > 1 else a
    for _ in range(min(n, get_aval(x).shape[axis])):  # from then on there are no elements
        size = get_aval(x).shape[axis]
        high, low = (
            ops.slice_in_dim(x, min(1, size), size, axis=axis),
            ops.slice_in_dim(x, 0, max(size - 1, 0), axis=axis),
        )
        x = ops.ne(high, low) if get_aval(x).dtype.kind == "b" else ops.sub(high, low)
    return x


def _edge(x: Any, shape: tuple[int, ...], axis: int) -> Any:
    if isinstance(x, int | list | tuple):
        x = lawful.numpy.asarray(x)
    if get_aval(x).ndim:
        return x
    return ops.broadcast_in_dim(x, (*shape[:axis], 1, *shape[axis + 1 :]), ())


@eager(numpy.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Returns the differences of neighbours of a flattened array, with numbers before and after them.

    Args:
      ary: an array.
      to_end: values after the differences, converted to the dtype of ``ary``.
      to_begin: values before them.

    Raises:
      ArgumentTypeError: these cannot be converted.

    >>> ediff1d(numpy.array([1, 4, 9]), to_begin=0)
    array([0, 3, 5])

    Source: ``numpy.ediff1d``.
    """
    aval = get_aval(ary)
    if aval.dtype.kind == "b":
        raise ArgumentTypeError(
            f"ediff1d: expected numbers, got {aval}; convert booleans with astype(int), or use diff"
        )
    inner = diff(ops.reshape(ary, (aval.size,)))
    parts = []
    for x in (to_begin, inner, to_end):
        if x is None:
            continue
        if isinstance(x, list | tuple) or (type(x) is int and aval.dtype.kind == "i"):
            x = lawful.numpy.asarray(x)  # an integer that does not fit wraps around, as in NumPy
        elif type(x) is int:
            x = ops.convert_element_type(x, aval.dtype)
        given = get_aval(x)
        common, _ = promote_dtypes((aval.dtype, False), (given.dtype, given.weak_type))
        is_same_kind = not given.weak_type and numpy.can_cast(given.dtype, aval.dtype, "same_kind")
        if common != aval.dtype and not is_same_kind:
            raise ArgumentTypeError(f"ediff1d: expected numbers that {aval.dtype} can hold, got {given}; convert them")
        parts.append(ops.reshape(ops.convert_element_type(x, aval.dtype), (given.size,)))
    return ops.concatenate(parts, 0)


@eager(numpy.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Returns the integral over samples along a dimension, by the rule of trapezoids.

    Args:
      y: the samples.
      x: where they were taken, of one dimension or of the shape of ``y``; by default at equal distances.
      dx: that distance.
      axis: the dimension.

    Raises:
      ArgumentValueError: the shapes do not fit.
      AxisError: there is no such dimension.

    >>> trapezoid(numpy.array([1.0, 2.0, 4.0]))
    np.float64(4.5)

    Source: ``numpy.trapezoid``.
    """
    aval = get_aval(y)
    axis = canonical_axis("trapezoid", axis, aval.ndim)
    distance: Any = dx
    if x is not None:
        distance = diff(x, axis=0 if get_aval(x).ndim == 1 else axis)
        if get_aval(x).ndim == 1:
            distance = ops.reshape(distance, (*(1,) * axis, -1, *(1,) * (aval.ndim - axis - 1)))
    size = aval.shape[axis]
    high, low = ops.slice_in_dim(y, min(1, size), size, axis=axis), ops.slice_in_dim(y, 0, max(size - 1, 0), axis=axis)
    terms = ops.div(ops.mul(distance, ops.add(high, low)), 2.0)
    return ops.reduce_sum(terms, (axis,))


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Returns the piecewise linear function through points, float64 or complex128.

    Args:
      x: where, an array of any shape.
      xp: the first coordinates of the points, increasing, in one dimension.
      fp: the second ones.
      left: the value before the first point; by default that of the point. ``"extrapolate"`` continues the line through
        the first two points.
      right: the value after the last one, or ``"extrapolate"``.
      period: after which it repeats; then the points may be in any order, and ``left`` and ``right`` do not count.

    Raises:
      ArgumentValueError: there are no points, not as many of both coordinates, the period is zero, or ``left`` or
        ``right`` is another string.
      ArgumentTypeError: ``x`` or ``xp`` is complex.

    >>> interp(numpy.array([0.5, 9.0]), numpy.array([0.0, 1.0]), numpy.array([10.0, 20.0]))
    array([15., 20.])
    >>> interp(numpy.array([-1.0, 9.0]), numpy.array([0.0, 1.0]), numpy.array([10.0, 20.0]), right="extrapolate")
    array([ 10., 100.])

    Source: ``numpy.interp``, ``jax.numpy.interp``.
    """
    for name, outside in (("left", left), ("right", right)):
        if isinstance(outside, str) and outside != "extrapolate":
            raise ArgumentValueError(
                f"interp: expected a number or 'extrapolate' as {name}, got {outside!r}; give one of them"
            )
    return _interp(x, xp, fp, left, right, period)


@eager(numpy.interp, arrays=3)
def _interp(x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    places, points, heights = get_aval(x), get_aval(xp), get_aval(fp)
    if "c" in (places.dtype.kind, points.dtype.kind):
        raise ArgumentTypeError(f"interp: expected real x and xp, got {places} and {points}; take the real parts")
    if points.ndim != 1 or points.shape != heights.shape or (not points.size and get_aval(x).size):
        raise ArgumentValueError(
            f"interp: expected as many first as second coordinates, at least one, got {points} and {heights}"
        )
    if not get_aval(x).size and not points.size:
        return ops.full(get_aval(x).shape, 0.0)
    x, xp = ops.convert_element_type(x, numpy.float64), ops.convert_element_type(xp, numpy.float64)
    fp = ops.convert_element_type(fp, numpy.complex128 if heights.dtype.kind == "c" else numpy.float64)
    if period is not None:
        if not get_aval(period).ndim and period == 0:
            raise ArgumentValueError("interp: expected a period other than zero, got 0")
        period = abs(period)
        x, xp = x % period, xp % period
        order = ops.argsort(xp)
        xp, fp = ops.getitem(xp, order), ops.getitem(fp, order)
        last = get_aval(xp).shape[0] - 1
        xp = ops.concatenate([xp[last:] - period, xp, xp[:1] + period], 0)
        fp = ops.concatenate([fp[last:], fp, fp[:1]], 0)
        left = right = None
    size = get_aval(xp).shape[0]
    first, last = ops.getitem(xp, 0), ops.getitem(xp, size - 1)
    first_value, last_value = ops.getitem(fp, 0), ops.getitem(fp, size - 1)
    left, right = first_value if left is None else left, last_value if right is None else right
    if size == 1:
        inside = first_value
    else:
        after = ops.clamp(1, searchsorted(xp, x, "right"), size - 1)
        ends = [ops.getitem(xp, index) for index in (ops.sub(after, 1), after)]
        values = [ops.getitem(fp, index) for index in (ops.sub(after, 1), after)]
        if get_aval(fp).dtype.kind == "c":  # an infinite part does not change the other
            inside = ops.complex(*[_on_line(x, *ends, *map(part, values)) for part in (ops.real, ops.imag)])
        else:
            inside = _on_line(x, *ends, *values)
        inside = ops.where(ops.bitwise_and(ops.eq(*ends), ops.eq(x, x)), values[1], inside)
        if isinstance(left, str):  # no line goes through two points at one place
            left = ops.where(ops.eq(ops.getitem(xp, 1), first), first_value, inside)
    left, right = (inside if isinstance(outside, str) else outside for outside in (left, right))
    return ops.where(ops.lt(x, first), left, ops.where(ops.gt(x, last), right, inside))


def _on_line(x: Any, x0: Any, x1: Any, y0: Any, y1: Any) -> Any:
    """Returns the line through two points of real coordinates; as in NumPy where one of these is infinite."""
    gap = ops.sub(x1, x0)
    gap = ops.where(ops.eq(gap, 0), 1.0, gap)
    where = ops.eq(x, x0), ops.ne(x, x0), ops.eq(x, x1), ops.eq(x, x)
    return _line(gap, _distance(x, x0), _distance(x, x1), *where, y0, y1)


def _distance(x: Any, origin: Any) -> Any:
    distance = ops.sub(x, origin)
    is_here = ops.bitwise_and(ops.eq(x, origin), ops.ne(distance, distance))
    return ops.where(is_here, 0.0, distance)


@custom_rule
def _line(
    gap: Any, first: Any, second: Any, is_first: Any, is_other: Any, is_second: Any, is_number: Any, y0: Any, y1: Any
) -> Any:
    """Returns the line at distances from both points, of which the second coordinates are given."""
    slope = ops.div(ops.sub(y1, y0), gap)
    from_first = stop_gradient(ops.add(ops.mul(slope, first), y0))
    # Beside an infinite coordinate the distance from the first point may give NaN, and that from the other does not.
    from_second = ops.bitwise_and(ops.ne(from_first, from_first), is_other)
    line = _from_nearer(slope, from_second, first, second, y0, y1)
    is_known = ops.bitwise_or(is_first, ops.bitwise_and(is_number, ops.eq(y0, y1)))
    value = ops.where(ops.bitwise_and(is_known, ops.ne(line, line)), y0, line)
    return _with_value(line, ops.where(is_second, y1, value))


@_line.def_transpose(linear_argnums=(7, 8))
def _line_transpose(
    ct: Any,
    gap: Any,
    first: Any,
    second: Any,
    is_first: Any,
    is_other: Any,
    is_second: Any,
    is_number: Any,
    y0: Any,
    y1: Any,
) -> tuple[Any, ...]:
    """Returns the cotangents of the second coordinates; the line is linear in them where all are finite."""
    from_first = ops.div(first, gap)
    from_second = ops.bitwise_and(ops.ne(from_first, from_first), is_other)

    def line(y0: Any, y1: Any) -> Any:
        return _from_nearer(ops.div(ops.sub(y1, y0), gap), from_second, first, second, y0, y1)

    return *(None,) * 7, *linear_transpose(line, y0.aval, y1.aval)(ct)


def _from_nearer(slope: Any, from_second: Any, first: Any, second: Any, y0: Any, y1: Any) -> Any:
    return ops.add(ops.mul(slope, ops.where(from_second, second, first)), ops.where(from_second, y1, y0))


@custom_jvp
def _with_value(x: Any, value: Any) -> Any:
    """Returns a value with the derivatives of ``x``."""
    return value


@_with_value.defjvp
def _with_value_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    return _with_value(*primals), tangents[0]
