"""The parts of numbers: mantissas and exponents, fractions, bits, neighbours."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, get_aval
from lawful.numpy._integers import is_large
from lawful.numpy._ufuncs.elementwise import copysign, isinf, trunc
from lawful.numpy._ufuncs.ufunc import Ufunc

__all__ = ["bitwise_count", "frexp", "ldexp", "modf", "nextafter", "spacing"]

# Neighbours of floats

nextafter = Ufunc(numpy.nextafter, ops.nextafter)

# Bits of integers


def _bitwise_count(x: Any) -> Any:
    if get_aval(x).dtype.kind == "b":
        return ops.convert_element_type(x, numpy.uint8)
    return ops.convert_element_type(ops.population_count(ops.abs(x)), numpy.uint8)


bitwise_count = Ufunc(
    numpy.bitwise_count, _bitwise_count, "Returns how many bits are set in the absolute value elementwise, as uint8."
)

# Fractions


def _modf(x: Any) -> tuple[Any, Any]:
    whole = trunc(x)
    fraction = ops.where(isinf(x), copysign(ops.full_like(x, 0), x), ops.rem(x, ops.full_like(x, 1)))
    return fraction, whole


modf = Ufunc(
    numpy.modf, _modf, "Returns ``(x - trunc(x), trunc(x))`` elementwise: the fraction and the integer, of one sign."
)

# Mantissas and exponents. The layout of a float: the number of mantissa bits, and the stored exponent of 1.

_LAYOUTS: dict[str, tuple[str, int, int]] = {"float32": ("int32", 23, 127), "float64": ("int64", 52, 1023)}


def _computed_in(x: Any) -> Any:
    """Returns numbers converted to single or double precision."""
    return x if get_aval(x).dtype.name in _LAYOUTS else ops.convert_element_type(x, numpy.float32)


def _power_of_two(exponent: Any, dtype: Any) -> Any:
    """Returns exact powers of two, which must be normal numbers."""
    bits, mantissa, bias = _LAYOUTS[dtype.name]
    stored = ops.add(ops.convert_element_type(exponent, bits), bias)
    return ops.bitcast_convert_type(ops.shift_left(stored, mantissa), dtype)


def _scaled(x: Any, exponent: Any) -> Any:
    """Returns numbers times powers of two, by three products of which only the last may round."""
    dtype = get_aval(x).dtype
    limit = _LAYOUTS[dtype.name][2] - 1
    parts = []
    for _ in range(3):
        part = ops.clamp(-limit, exponent, limit)
        exponent = ops.sub(exponent, part)
        parts.append(_power_of_two(part, dtype))
    for power in reversed(parts):
        x = ops.mul(x, power)
    return x


def _frexp(x: Any) -> tuple[Any, Any]:
    wide = _computed_in(x)
    dtype = get_aval(wide).dtype
    bits, mantissa, bias = _LAYOUTS[dtype.name]
    # Subnormal numbers are scaled to normal ones first.
    is_small = ops.lt(ops.abs(wide), dtype.type(numpy.finfo(dtype).tiny))
    normal = ops.mul(wide, ops.where(is_small, dtype.type(2.0 ** (mantissa + 1)), dtype.type(1)))
    stored = ops.shift_right_logical(
        ops.bitcast_convert_type(ops.abs(normal), bits), ops.full_like(normal, mantissa, bits)
    )
    exponent = ops.sub(ops.sub(stored, bias - 1), ops.where(is_small, mantissa + 1, 0))
    # XLA treats subnormal numbers as zero.
    is_special = ops.bitwise_or(ops.eq(normal, 0), ops.bitwise_not(ops.is_finite(wide)))
    exponent = ops.where(is_special, 0, exponent)
    fraction = ops.where(is_special, wide, _scaled(ops.where(is_special, dtype.type(1), wide), ops.neg(exponent)))
    return ops.convert_element_type(fraction, get_aval(x).dtype), ops.convert_element_type(exponent, numpy.int32)


frexp = Ufunc(
    numpy.frexp,
    _frexp,
    "Returns ``(m, e)`` elementwise with ``x = m * 2**e``: the absolute value of m is at least 1/2 and less than 1.",
)


def _ldexp(x: Any, exponent: Any) -> Any:
    # A Python integer beyond int64 is of the type of another one.
    avals = get_aval(1 if is_large(x) else x), get_aval(exponent)
    try:
        dtype = numpy.ldexp.resolve_dtypes(
            (*[_PYTHON.get(a.dtype.kind, a.dtype) if a.weak_type else a.dtype for a in avals], None)
        )[0]
    except TypeError as error:
        raise ArgumentTypeError(
            f"ldexp: expected a real number and an integer, got {avals[0]} and {avals[1]}; convert with astype"
        ) from error
    with numpy.errstate(over="ignore"):  # infinity, as in NumPy
        x = ops.convert_element_type(float(x) if is_large(x) else x, dtype)
    exponent = ops.convert_element_type(exponent, numpy.int64)
    return ops.convert_element_type(_scaled(_computed_in(x), exponent), dtype)


_PYTHON: dict[str, type] = {"i": int, "f": float}

ldexp = Ufunc(numpy.ldexp, _ldexp, "Returns ``x1 * 2**x2`` elementwise, of an integer ``x2``.", promotes=False)

# Neighbours


def _spacing(x: Any) -> Any:
    if get_aval(x).dtype == numpy.float16:  # NumPy rounds upwards, also for negative numbers
        gap = ops.sub(ops.nextafter(x, ops.full_like(x, numpy.inf)), x)
    else:
        size = ops.abs(x)
        gap = ops.sub(ops.nextafter(size, ops.full_like(size, numpy.inf)), size)
        gap = ops.where(ops.lt(x, 0), ops.neg(gap), gap)
    return ops.where(ops.is_finite(x), gap, numpy.nan)


spacing = Ufunc(numpy.spacing, _spacing, "Returns the distance to the next number away from zero elementwise.")
