"""Numbers with an exponent of their own, whose products neither overflow nor underflow.

A scaled number is a pair of arrays, ``mantissa * 2 ** exponent``. The mantissa is float64 or complex128, its larger
part in [1/2, 1); that of zero is 0, and its exponent is lower than all others. The functions are made of NumPy's, so
that they are evaluated on arrays and recorded on tracers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful import ops

Scaled = tuple[Any, Any]

_BITS = np.dtype(np.uint64)
_FRACTION_BITS = 52
_BIAS = 1023
_EXPONENT_OF_ZERO = -(2**40)
ZERO, ONE = (0.0, _EXPONENT_OF_ZERO), (0.5, 1)
#: Steps of 2 ** 1022 that take every part of a mantissa out of range; a real one is at least 1/2.
_STEPS = {"f": 2, "c": 4}
#: So many factors with parts in [0.7, 1.42) have products in the range of a float.
_BLOCK = 512


def wide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of the mantissas of numbers of a dtype."""
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def scale(mantissa: Any, exponent: Any = 0) -> Scaled:
    """Returns ``mantissa * 2 ** exponent`` with a normalized mantissa."""
    size = np.maximum(abs(mantissa.real), abs(mantissa.imag)) if mantissa.dtype.kind == "c" else abs(mantissa)
    own = _exponent(size)
    exponent = np.where(size == 0, _EXPONENT_OF_ZERO, np.maximum(exponent + own, _EXPONENT_OF_ZERO))
    return _shift(mantissa, -own), exponent


def unscaled(number: Scaled) -> Any:
    """Returns a scaled number as a float, infinite or zero where it is out of range."""
    mantissa, exponent = number
    if isinstance(mantissa, np.ndarray):
        return _shift(mantissa, exponent)
    for _ in range(_STEPS[mantissa.dtype.kind]):
        step = np.minimum(np.maximum(exponent, 1 - _BIAS), _BIAS - 1)
        mantissa, exponent = mantissa * _power_of_two(step, mantissa.dtype), exponent - step
    return mantissa


def times(x: Scaled, y: Scaled, *, annihilates: bool = False) -> Scaled:
    """Returns a product; with ``annihilates`` it is 0 where a factor is, also if the other one is not finite."""
    mantissa = x[0] * y[0]
    if annihilates:
        mantissa = np.where((x[0] == 0) | (y[0] == 0), mantissa.dtype.type(0), mantissa)
    exponent = np.maximum(x[1] + y[1], _EXPONENT_OF_ZERO)
    if mantissa.dtype.kind == "c":
        return scale(mantissa, exponent)
    is_small = abs(mantissa) < 0.5
    return np.where(is_small, mantissa + mantissa, mantissa), np.where(is_small, exponent - 1, exponent)


def plus(x: Scaled, y: Scaled) -> Scaled:
    """Returns a sum."""
    exponent = np.maximum(x[1], y[1])
    return scale(_shift(x[0], x[1] - exponent) + _shift(y[0], y[1] - exponent), exponent)


def products(x: Scaled, reverse: bool) -> Scaled:
    """Returns the products of tracers up to each element of the first dimension, or from there on."""
    (mantissa, exponent), (size, *rest) = x, x[0].shape
    # Mantissas around 1, of which a block has products in the range of a float.
    is_small = abs(mantissa) < math.sqrt(0.5)
    mantissa, exponent = np.where(is_small, mantissa + mantissa, mantissa), np.where(is_small, exponent - 1, exponent)
    if size <= _BLOCK:
        return scale(ops.cumprod(mantissa, 0, reverse), ops.cumsum(exponent, 0, reverse))
    count = -(-size // _BLOCK)
    fill = ops.full((count * _BLOCK - size, *rest), 1, mantissa.dtype), ops.full((count * _BLOCK - size, *rest), 0)
    blocks = [
        np.concatenate([z, y] if reverse else [y, z]).reshape((count, _BLOCK, *rest))
        for y, z in zip((mantissa, exponent), fill, strict=True)
    ]
    within = scale(ops.cumprod(blocks[0], 1, reverse), ops.cumsum(blocks[1], 1, reverse))
    totals = products(tuple([y[:, 0 if reverse else -1] for y in within]), reverse)
    one = tuple([ops.full((1, *rest), value, y.dtype) for value, y in zip(ONE, totals, strict=True)])
    before = [np.concatenate([y[1:], z] if reverse else [z, y[:-1]])[:, None] for y, z in zip(totals, one, strict=True)]
    joined = times((before[0], before[1]), within)
    flat = [y.reshape((count * _BLOCK, *rest)) for y in joined]
    return tuple([y[-size:] if reverse else y[:size] for y in flat])


def _exponent(size: Any) -> Any:
    """Returns the integers e for which numbers in [2**(e - 1), 2**e) are in [1/2, 1) if divided by 2**e; else 0."""
    if isinstance(size, np.ndarray):
        return np.where(np.isfinite(size), np.frexp(size)[1], 0).astype(np.int64)
    exponents = ops.shift_right_logical(ops.bitcast_convert_type(size, _BITS), _BITS.type(_FRACTION_BITS))
    is_normal = (size >= np.finfo(np.float64).tiny) & (size < np.inf)
    return np.where(is_normal, exponents.astype(np.int64) - (_BIAS - 1), 0)


def _shift(x: Any, exponent: Any) -> Any:
    """Returns ``x * 2 ** exponent``; compiled, the exponent has at most a normal power."""
    if not isinstance(x, np.ndarray):
        return x * _power_of_two(exponent, x.dtype)
    exponent = np.clip(exponent, -4 * _BIAS, 4 * _BIAS).astype(np.int32)
    if x.dtype.kind != "c":
        return np.asarray(np.ldexp(x, exponent))
    out = np.empty_like(x)
    out.real, out.imag = np.ldexp(x.real, exponent), np.ldexp(x.imag, exponent)
    return out


def _power_of_two(exponent: Any, dtype: np.dtype[Any]) -> Any:
    """Returns powers of two, the nearest normal ones."""
    exponents = np.minimum(np.maximum(exponent + _BIAS, 1), 2 * _BIAS).astype(_BITS)
    return ops.bitcast_convert_type(ops.shift_left(exponents, _BITS.type(_FRACTION_BITS)), np.float64).astype(dtype)
