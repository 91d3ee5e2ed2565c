"""Bits of numbers: how many are set, how many lead, the next float, and reduced precision.

>>> population_count(np.array([0, 3, 7]))
array([0, 2, 3])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, Call, Choose, Interval, ShapedArray, get_aval, is_float
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.structural import static_integers, strong

__all__ = [
    "clz",
    "clz_p",
    "nextafter",
    "nextafter_p",
    "population_count",
    "population_count_p",
    "reduce_precision",
    "reduce_precision_p",
]

Dtype = np.dtype[Any]


def _require(name: str, wanted: str, is_wanted: Callable[[Dtype], bool], dtype: Dtype) -> Dtype:
    """Returns the dtype of an operand; raises ArgumentTypeError if the op is not defined for it."""
    if not is_wanted(dtype):
        raise ArgumentTypeError(f"{name}: expected {wanted}, got {dtype}; convert with astype")
    return dtype


def _is_integer(dtype: Dtype) -> bool:
    return dtype.kind in "iu"


def _unsigned(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the bits of an array as unsigned integers."""
    return x.view(f"u{x.dtype.itemsize}")


def _numpy_population_count(x: Any) -> Any:
    x = np.asarray(x)
    return np.bitwise_count(_unsigned(x)).astype(x.dtype)[()]


def _numpy_clz(x: Any) -> Any:
    x = np.asarray(x)
    width, bits = 8 * x.dtype.itemsize, _unsigned(x)
    step = 1
    while step < width:  # sets every bit below the first one
        bits = bits | (bits >> bits.dtype.type(step))
        step *= 2
    return (width - np.bitwise_count(bits)).astype(x.dtype)[()]


def _count(name: str, numpy_function: Callable[..., Any], hlo: str) -> Elementwise:
    return elementwise(
        name,
        "",
        numpy_function,
        hlo,
        result=lambda dtype: _require(name, "integers", _is_integer, dtype),
        kinds="iu",
        domain=(Interval(-100.0, 100.0),),
    )


population_count_p = _count("population_count", _numpy_population_count, "popcnt").primitive
clz_p = _count("clz", _numpy_clz, "count_leading_zeros").primitive


def population_count(x: Any) -> Any:
    """Returns how many bits of each integer are set: of a negative one, of its two's complement.

    Args:
      x: integers of any width; the result has their shape and dtype.

    Raises:
      ArgumentTypeError: ``x`` has another dtype.

    >>> population_count(np.array([7, -1], "int8"))
    array([3, 8], dtype=int8)

    Source: ``jax.lax.population_count``. ``numpy.bitwise_count`` counts in the absolute value.
    """
    _require("population_count", "integers", _is_integer, get_aval(x).dtype)
    return population_count_p.bind(strong(x))


def clz(x: Any) -> Any:
    """Returns how many zero bits each integer begins with: none if it is negative, all if it is 0.

    Args:
      x: integers of any width; the result has their shape and dtype.

    Raises:
      ArgumentTypeError: ``x`` has another dtype.

    >>> clz(np.array([0, 1, -1], "int8"))
    array([8, 7, 0], dtype=int8)

    Source: ``jax.lax.clz``.
    """
    _require("clz", "integers", _is_integer, get_aval(x).dtype)
    return clz_p.bind(strong(x))


def _numpy_nextafter(x1: Any, x2: Any) -> Any:
    with np.errstate(all="ignore"):  # the number after the largest is infinity, without a warning, as in XLA
        return np.nextafter(x1, x2)


nextafter: Elementwise = elementwise(
    "nextafter",
    """Returns the number next to ``x1`` in the direction of ``x2``, as ``numpy.nextafter``.

    As a function of ``x1`` it is the identity but for less than rounding, so that its derivative is 1, and 0 by ``x2``.

    >>> nextafter(1.0, 2.0) - 1.0
    np.float64(2.220446049250313e-16)

    Source: ``jax.lax.nextafter``.
    """,
    _numpy_nextafter,
    lambda ctx, x, y: ctx.chlo.next_after(x, y),
    arity=2,
    promote_as=np.nextafter,
    derivatives=(lambda t, ans, x, y: t, None),
    domain=(Interval(-2.0, -0.1), Interval(0.1, 2.0)),
)
nextafter_p = nextafter.primitive


def _layout(dtype: Dtype) -> tuple[int, int]:
    """Returns how many bits of a float are its exponent, and how many its mantissa."""
    mantissa = int(ml_dtypes.finfo(dtype).nmant)
    return 8 * dtype.itemsize - 1 - mantissa, mantissa


def _numpy_reduce_precision(x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    x = np.asarray(x)
    exponent, mantissa = _layout(x.dtype)
    bits = _unsigned(x).copy()
    sign = bits & bits.dtype.type(1 << (exponent + mantissa))
    bits ^= sign
    dropped = mantissa - mantissa_bits
    if dropped > 0:
        # Rounds to the nearest even: adds half of the last bit kept, less one unit if that bit is 0. A carry increments
        # the exponent.
        last = (bits >> bits.dtype.type(dropped)) & bits.dtype.type(1)
        bits += last + bits.dtype.type((1 << (dropped - 1)) - 1)
        bits &= ~bits.dtype.type((1 << dropped) - 1)
    if exponent_bits < exponent:
        bias, reduced = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        power = bits >> bits.dtype.type(mantissa)
        infinity = bits.dtype.type(((1 << exponent) - 1) << mantissa)
        bits = np.where(power > bias + reduced, infinity, np.where(power <= bias - reduced, 0, bits))
        bits = bits.astype(sign.dtype)
    return np.where(np.isnan(x), x, (bits | sign).view(x.dtype)).astype(x.dtype)[()]


def _lower_reduce_precision(ctx: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    exponent, mantissa = _layout(ctx.avals_in[0].dtype)
    # More bits than the dtype has change nothing, and the op refuses them.
    return ctx.hlo.reduce_precision(
        x, exponent_bits=min(exponent_bits, exponent), mantissa_bits=min(mantissa_bits, mantissa)
    )


reduce_precision_p = elementwise(
    "reduce_precision",
    "",
    _numpy_reduce_precision,
    _lower_reduce_precision,
    derivatives=(lambda t, ans, x, **_: t,),
    result=lambda dtype: _require("reduce_precision", "floats", is_float, dtype),
).primitive


def _sample_reduce_precision(choose: Choose) -> Call:
    dtype = choose.dtype("f")
    # Enough bits that finite differences, also in float64, see the identity and not the steps.
    exponent_bits, mantissa_bits = choose.one_of(((11, 52), (10, 48), (9, 46)))
    return (ShapedArray(choose.shape(), dtype),), {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}


assert reduce_precision_p.declaration is not None
reduce_precision_p.declaration = replace(reduce_precision_p.declaration, sample=_sample_reduce_precision)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Returns numbers rounded to those that a float of fewer bits has, in their own dtype.

    They are rounded to the nearest, of two to the even one. What is too large becomes infinite; what is smaller than
    the smallest normal number becomes zero.

    The derivative is that of the identity, and is not rounded itself, as JAX rounds it: else it were not linear.

    Args:
      operand: floats of any dtype and shape.
      exponent_bits: the bits of the exponent, at least 1.
      mantissa_bits: the bits of the mantissa after its first, at least 0.

    Raises:
      ArgumentTypeError: ``operand`` has no floats, or a number of bits is no integer.
      ArgumentValueError: there are too few bits.

    >>> reduce_precision(np.array([1.1, 1e300]), 5, 10)
    array([1.09960938,        inf])

    Source: ``jax.lax.reduce_precision``.
    """
    _require("reduce_precision", "floats", is_float, get_aval(operand).dtype)
    bits = static_integers("reduce_precision", "numbers of bits", (exponent_bits, mantissa_bits))
    for name, count, least in zip(("exponent_bits", "mantissa_bits"), bits, (1, 0), strict=True):
        if count < least:
            raise ArgumentValueError(f"reduce_precision: expected {name} of at least {least}, got {count}; give more")
    return reduce_precision_p.bind(strong(operand), exponent_bits=bits[0], mantissa_bits=bits[1])
