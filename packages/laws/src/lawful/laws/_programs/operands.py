"""Adapted operands: another shape, values within an op's domain, values that are not large."""

from __future__ import annotations

import math

import numpy as np

from lawful.core import Interval, is_inexact, kind
from lawful.laws._law.values import inner_interval, integer_interval, is_within
from lawful.laws._programs.scope import Elements, Operand, Variable, applied, static
from lawful.laws._programs.syntax import Static

# Values are kept below these bounds, so that no equation amplifies rounding errors without limit.
_LARGEST_FLOAT, _LARGEST_INTEGER = 16.0, 100


def largest(values: Elements) -> float:
    """Returns the largest absolute value of all batch elements; NaN or infinite if one is."""
    numbers = [np.abs(x).max(initial=0) for x in values if np.asarray(x).dtype.kind != "b"]
    return float(np.max(numbers)) if numbers else 0.0


def moderate(operand: Operand) -> Operand:
    """Scales an operand down if it is large: by a power of two, or an integer's remainder."""
    dtype, size = np.asarray(operand.value).dtype, largest(operand.values)
    if is_inexact(dtype):
        if size <= _LARGEST_FLOAT:
            return operand
        return operand.wrapped("ops.mul", Static(2.0 ** -int(np.ceil(np.log2(size / _LARGEST_FLOAT)) + 2)))
    return operand if size <= _LARGEST_INTEGER else operand.wrapped("ops.rem", Static(7))


def adapted(variable: Variable, shape: tuple[int, ...]) -> Operand:
    """Returns a variable's elements in another shape: reshaped, sliced or repeated."""
    operand = variable.operand
    have = variable.aval.shape
    if math.prod(have) == math.prod(shape):
        return operand.wrapped("ops.reshape", new_sizes=shape)
    if len(have) == len(shape) and all(new <= old for new, old in zip(shape, have, strict=True)):
        return operand.wrapped("ops.slice", start_indices=(0,) * len(shape), limit_indices=shape)
    if have == shape[len(shape) - len(have) :]:
        dims = tuple(range(len(shape) - len(have), len(shape)))
        return operand.wrapped("ops.broadcast_in_dim", shape=shape, broadcast_dimensions=dims)
    if variable.kind == "b":
        operand = operand.wrapped("ops.reduce_and", axes=tuple(range(len(have))))
    elif have:
        operand = operand.wrapped("ops.reduce_sum", axes=tuple(range(len(have))))
    return operand.wrapped("ops.broadcast_in_dim", shape=shape, broadcast_dimensions=())


def squashed(operand: Operand, interval: Interval) -> Operand:
    """Maps an operand's values into an interval; unchanged if they lie within."""
    if all([is_within(value, interval) for value in operand.values]):
        return operand
    dtype = np.asarray(operand.value).dtype
    if dtype.kind in "iu":
        low, high = integer_interval(interval, dtype)
        return applied("ops.clamp", (static(Static(low)), operand, static(Static(high))))
    low_end, high_end = inner_interval(interval)
    middle, half = round((low_end + high_end) / 2, 3), round((high_end - low_end) / 2, 3)
    if kind(dtype) == "c":
        parts = [_into(operand.wrapped(part), middle, half) for part in ("ops.real", "ops.imag")]
        return applied("ops.complex", parts)
    return _into(operand, middle, half)


def _into(operand: Operand, middle: float, half: float) -> Operand:
    curve = operand.wrapped("ops.sin")
    scaled = curve.wrapped("ops.mul", Static(half))
    return scaled.wrapped("ops.add", Static(middle)) if middle else scaled
