"""Functions of sampled signals: gradients, unwrapped phases, `sinc`, `nan_to_num`."""

from __future__ import annotations

import math
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, is_inexact
from lawful.numpy._dtypes import result_type
from lawful.numpy._eager import eager, is_plain
from lawful.numpy._signal.differences import diff
from lawful.numpy._ufuncs.ufunc import Ufunc
from lawful.ops import canonical_axes, canonical_axis

__all__ = ["gradient", "heaviside", "nan_to_num", "sinc", "unwrap"]


def _heaviside(x1: Any, x2: Any) -> Any:
    zero = ops.full_like(x1, 0)
    step = ops.where(ops.lt(x1, 0), zero, ops.where(ops.eq(x1, 0), x2, ops.full_like(x1, 1)))
    return ops.where(ops.ne(x1, x1), ops.full_like(x1, numpy.nan), step)


heaviside = Ufunc(
    numpy.heaviside,
    _heaviside,
    "Returns 0 where ``x1`` is negative, ``x2`` where it is zero, and 1 where it is positive.",
)


# NumPy's quotient for sinc has no derivative at zero, so the power series is used there.
_SMALL = 0.1
_TERMS = 8


@eager(numpy.sinc)
def sinc(x: Any) -> Any:
    """Returns ``sin(pi * x) / (pi * x)``, and 1 at zero.

    >>> sinc(numpy.array([0.0, 0.5]))
    array([1.        , 0.63661977])

    Source: ``numpy.sinc``.
    """
    dtype = get_aval(x).dtype
    x = ops.convert_element_type(x, dtype if is_inexact(dtype) else float)
    y = ops.mul(x, math.pi)
    is_small = ops.lt(ops.abs(y), _SMALL)
    near = ops.where(is_small, y, 0.0)  # a square that overflows would make the derivative NaN
    square = ops.mul(near, near)
    series: Any = ops.full_like(y, 0)
    for k in reversed(range(_TERMS)):
        series = ops.add(ops.mul(series, square), (-1) ** k / math.factorial(2 * k + 1))
    far = ops.where(is_small, 1.0, y)
    return ops.where(is_small, series, ops.div(ops.sin(far), far))


@eager(numpy.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Returns the array with numbers in place of NaN and infinities.

    Args:
      x: an array.
      copy: accepted, without effect: arrays are not overwritten.
      nan: the value for NaN.
      posinf: the value for positive infinity; by default the largest number of the dtype.
      neginf: the value for negative infinity; by default the smallest one.

    >>> nan_to_num(numpy.array([numpy.nan, 1.0, numpy.inf]), posinf=9.0)
    array([0., 1., 9.])

    Source: ``numpy.nan_to_num``.
    """
    aval = get_aval(x)
    x = ops.convert_element_type(x, aval.dtype)
    if not is_inexact(aval.dtype):
        return x
    if aval.dtype.kind == "c":
        parts = (ops.real(x), ops.imag(x))
        return ops.complex(*[nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf) for part in parts])
    limits = _finfo(aval.dtype)
    highest = limits.max if posinf is None else posinf
    lowest = limits.min if neginf is None else neginf
    for where, value in (
        (ops.ne(x, x), nan),
        (ops.eq(x, numpy.inf), highest),
        (ops.eq(x, -numpy.inf), lowest),
    ):
        x = ops.where(where, ops.convert_element_type(value, aval.dtype), x)
    return x


def _finfo(dtype: Any) -> Any:
    try:
        return numpy.finfo(dtype)
    except ValueError:
        import ml_dtypes

        return ml_dtypes.finfo(dtype)


@eager(numpy.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Returns phases without jumps: where neighbours differ by more than half a period, periods are added.

    Args:
      p: an array of phases.
      discont: the smallest difference that is a jump, at least and by default half a period.
      axis: the dimension along which the phases go on.
      period: the period.

    Raises:
      AxisError: there is no such dimension.

    >>> unwrap(numpy.array([0.0, 3.0, -3.0]))
    array([0.        , 3.        , 3.28318531])

    Source: ``numpy.unwrap``.
    """
    aval = get_aval(p)
    axis = canonical_axis("unwrap", axis, aval.ndim)
    size = aval.shape[axis]
    dtype = result_type(p, period)
    if dtype.kind == "c":
        raise ArgumentTypeError(f"unwrap: expected real phases, got {aval}; take the angle")
    if size < 2:
        return ops.convert_element_type(p, dtype)
    wrapped = diff(p, axis=axis)  # as in NumPy: integers wrap around, and so does the absolute value of the least one
    differences = ops.convert_element_type(wrapped, dtype)
    p = ops.convert_element_type(p, dtype)
    first, rest = ops.slice_in_dim(p, 0, 1, axis=axis), ops.slice_in_dim(p, 1, size, axis=axis)
    exact = dtype.kind in "iu"
    half = ops.floor_divide(period, 2) if exact else ops.true_divide(period, 2)
    is_ambiguous = not exact or int(period) % 2 == 0
    limit = ops.true_divide(period, 2) if discont is None else discont
    folded = ops.sub(ops.remainder(ops.add(differences, half), period), half)
    if is_ambiguous:
        at_end = ops.bitwise_and(ops.eq(folded, ops.neg(half)), ops.gt(differences, 0))
        folded = ops.where(at_end, half, folded)
    steps = ops.where(ops.lt(ops.abs(wrapped), limit), 0, ops.sub(folded, differences))
    moved = ops.add(rest, ops.cumsum(ops.convert_element_type(steps, dtype), axis=axis))
    return ops.concatenate([first, moved], axis)


# Differences


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Returns the derivatives of a sampled function: central differences inside, one-sided ones at the ends.

    Args:
      f: the samples.
      varargs: the distance of samples, for all dimensions or for each; or for each the vector of their coordinates; 1
        by default.
      axis: the dimension, or a tuple of them; all by default.
      edge_order: 1 or 2: how exact the differences at the ends are.

    Returns:
      The derivative along one dimension, or a tuple of those along several.

    Raises:
      ArgumentValueError: there are too few samples, or the coordinates do not fit.
      ArgumentTypeError: there are not as many distances as dimensions.
      AxisError: there is no such dimension.

    >>> gradient(numpy.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])

    Source: ``numpy.gradient``.
    """
    if is_plain(f, *varargs) and _is_of_one_precision(f, varargs):
        try:
            return numpy.gradient(f, *varargs, axis=axis, edge_order=edge_order)  # type: ignore[call-overload]
        except (TypeError, ValueError):
            pass  # the code below raises the error
    aval = get_aval(f)
    if aval.dtype.kind == "b":
        raise ArgumentTypeError(f"gradient: expected numbers, got {aval}; convert booleans with astype(int)")
    axes = tuple(range(aval.ndim)) if axis is None else canonical_axes("gradient", axis, aval.ndim)
    distances = list(varargs) or [1.0]
    if len(distances) == 1 and len(axes) != 1 and not get_aval(distances[0]).ndim:
        distances = distances * len(axes)
    if len(distances) != len(axes):
        raise ArgumentTypeError(
            f"gradient: expected one distance, or one for each of {len(axes)} dimensions, got {len(varargs)}; "
            "give as many"
        )
    if edge_order not in (1, 2):
        raise ArgumentValueError(f"gradient: expected edge_order 1 or 2, got {edge_order!r}; give one of them")
    dtype = aval.dtype if is_inexact(aval.dtype) else numpy.dtype(numpy.float64)
    f = ops.convert_element_type(f, dtype)
    results = [
        ops.convert_element_type(_along(f, dim, h, edge_order), dtype) for dim, h in zip(axes, distances, strict=True)
    ]
    if axis is not None and not isinstance(axis, tuple | list) and len(results) == 1:
        return results[0]
    return results[0] if len(results) == 1 else tuple(results)


def _is_of_one_precision(f: Any, distances: Any) -> bool:
    """Whether distances have the precision of the samples: NumPy divides by them in their own dtype."""
    dtype = get_aval(f).dtype
    return all(get_aval(h).weak_type or get_aval(h).dtype == dtype for h in distances)


def _along(f: Any, axis: int, h: Any, edge_order: int) -> Any:
    aval = get_aval(f)
    size, spacing = aval.shape[axis], get_aval(h)
    if size < edge_order + 1:
        raise ArgumentValueError(
            f"gradient: expected at least {edge_order + 1} samples along dimension {axis}, got the shape {aval.shape}; "
            "leave the dimension out"
        )
    if spacing.ndim > 1 or (spacing.ndim == 1 and spacing.shape[0] != size):
        raise ArgumentValueError(
            f"gradient: expected a distance or a vector of {size} coordinates for dimension {axis}, got {spacing}; "
            "give one for each sample"
        )
    if spacing.weak_type:
        # For real samples with a complex distance, the result is the real part of the quotient.
        h = ops.convert_element_type(h, numpy.result_type(aval.dtype, 1j) if spacing.dtype.kind == "c" else aval.dtype)
    shape = [size - 1 if dim == axis else 1 for dim in range(aval.ndim)]
    if spacing.ndim:
        steps = ops.reshape(ops.sub(ops.slice_in_dim(h, 1, size), ops.slice_in_dim(h, 0, size - 1)), shape)
    else:
        steps = ops.broadcast_in_dim(ops.reshape(h, [1] * aval.ndim), shape, list(range(aval.ndim)))
    slopes = ops.true_divide(_difference(f, axis), steps)  # between neighbours

    def part(x: Any, start: int, stop: int) -> Any:
        return ops.slice_in_dim(x, start, stop, axis=axis)

    n = size - 1
    first, last = part(slopes, 0, 1), part(slopes, n - 1, n)
    if edge_order == 2:
        # Linear extrapolation of the slopes next to the end.
        first = _straight_on(first, part(slopes, 1, 2), part(steps, 0, 1), part(steps, 1, 2))
        last = _straight_on(last, part(slopes, n - 2, n - 1), part(steps, n - 1, n), part(steps, n - 2, n - 1))
    inside = []
    if size > 2 and not spacing.ndim:
        two_apart = ops.sub(part(f, 2, size), part(f, 0, n - 1))
        inside = [ops.true_divide(two_apart, ops.mul(2.0, part(steps, 1, n)))]
    elif size > 2:
        left, right = part(steps, 0, n - 1), part(steps, 1, n)
        weighted = ops.add(ops.mul(right, part(slopes, 0, n - 1)), ops.mul(left, part(slopes, 1, n)))
        inside = [ops.true_divide(weighted, ops.add(left, right))]
    return ops.concatenate([first, *inside, last], axis)


def _difference(x: Any, axis: int) -> Any:
    size = get_aval(x).shape[axis]
    return ops.sub(ops.slice_in_dim(x, 1, size, axis=axis), ops.slice_in_dim(x, 0, size - 1, axis=axis))


def _straight_on(near: Any, far: Any, near_step: Any, far_step: Any) -> Any:
    share = ops.true_divide(near_step, ops.add(near_step, far_step))
    return ops.add(near, ops.mul(share, ops.sub(near, far)))
