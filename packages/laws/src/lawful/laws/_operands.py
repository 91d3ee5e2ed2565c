"""Operands made to fit: another shape, or values within an op's domain."""

from __future__ import annotations

import math

import numpy as np

from lawful.core import Interval, kind
from lawful.laws._program import Static
from lawful.laws._scope import Operand, Variable, applied
from lawful.laws._values import inner_interval, integer_interval, is_within


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
    """Returns an operand with its values brought into an interval, itself if they lie there."""
    if is_within(operand.value, interval):
        return operand
    dtype = np.asarray(operand.value).dtype
    if dtype.kind in "iu":
        low, high = integer_interval(interval, dtype)
        return applied("ops.clamp", (Operand(Static(low), low), operand, Operand(Static(high), high)))
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
