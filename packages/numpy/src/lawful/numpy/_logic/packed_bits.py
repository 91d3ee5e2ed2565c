"""Booleans packed as the bits of bytes."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.shape import moveaxis, ravel
from lawful.ops import canonical_axis, is_axis_of_scalar, static_integers

__all__ = ["packbits", "unpackbits"]

_BITS = 8


def _last(name: str, a: Any, axis: int | None) -> tuple[Any, int]:
    """Returns an array with a dimension moved to the end, and its original position; a scalar is a vector of one."""
    if axis is None or is_axis_of_scalar(axis, get_aval(a).ndim):
        return ravel(a), 0
    axis = canonical_axis(name, axis, get_aval(a).ndim)
    return moveaxis(a, axis, -1), axis


def _shifts(name: str, bitorder: str) -> Any:
    """Returns the shifts of the eight bits of a byte."""
    if bitorder not in ("big", "little"):
        raise ArgumentValueError(f"{name}: expected bitorder='big' or 'little', got {bitorder!r}; give one of them")
    shifts = numpy.arange(_BITS, dtype=numpy.uint8)
    return shifts[::-1].copy() if bitorder == "big" else shifts


@eager(numpy.packbits)
def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Returns booleans, eight at a time, as the bits of uint8; the last ones are filled up with zeros.

    Args:
      a: booleans, or integers, which are true unless zero.
      axis: the dimension; None for that of the flattened array.
      bitorder: ``'big'`` where the first of eight is the highest bit, ``'little'`` where it is the lowest.

    Raises:
      ArgumentTypeError: they are neither.
      ArgumentValueError: there is no such order.
      AxisError: there is no such dimension.

    >>> packbits(numpy.array([True, False, True]))
    array([160], dtype=uint8)

    Source: ``numpy.packbits``.
    """
    aval, shifts = get_aval(a), _shifts("packbits", bitorder)
    if aval.dtype.kind not in "biu":
        raise ArgumentTypeError(f"packbits: expected booleans or integers, got {aval}; compare with zero")
    x, axis = _last("packbits", a, axis)
    *shape, size = get_aval(x).shape
    is_set = ops.convert_element_type(ops.convert_element_type(x, bool), numpy.uint8)
    count = -(-size // _BITS)
    padded = ops.pad(is_set, numpy.uint8(0), [*[(0, 0, 0)] * len(shape), (0, count * _BITS - size, 0)])
    bits = ops.shift_left(ops.reshape(padded, (*shape, count, _BITS)), shifts)
    return moveaxis(ops.reduce_or(bits, (len(shape) + 1,)), -1, axis)


@eager(numpy.unpackbits)
def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """Returns the bits of uint8 as zeros and ones: the inverse of `packbits`.

    Args:
      a: an array of uint8.
      axis: the dimension; None for that of the flattened array.
      count: how many bits are given: a negative one leaves out as many at the end, a larger one adds zeros.
      bitorder: ``'big'`` where the first of eight is the highest bit, ``'little'`` where it is the lowest.

    Raises:
      ArgumentTypeError: the array is of another dtype.
      ArgumentValueError: there is no such order, or there are not as many bits to leave out.
      AxisError: there is no such dimension.

    >>> unpackbits(numpy.array([160], numpy.uint8), count=3)
    array([1, 0, 1], dtype=uint8)

    Source: ``numpy.unpackbits``.
    """
    aval, shifts = get_aval(a), _shifts("unpackbits", bitorder)
    if aval.dtype != numpy.uint8:
        raise ArgumentTypeError(f"unpackbits: expected an array of uint8, got {aval}; convert with astype")
    x, axis = _last("unpackbits", a, axis)
    *shape, size = get_aval(x).shape
    bits = ops.shift_right_logical(ops.expand_dims(x, (len(shape) + 1,)), shifts)
    flat = ops.reshape(ops.bitwise_and(bits, numpy.uint8(1)), (*shape, size * _BITS))
    wanted = size * _BITS
    if count is not None:
        (number,) = static_integers("unpackbits", "count", count)
        wanted = number if number >= 0 else wanted + number
    if wanted < 0:
        raise ArgumentValueError(f"unpackbits: expected at most {size * _BITS} bits to leave out, got {count}")
    config = [*[(0, 0, 0)] * len(shape), (0, wanted - size * _BITS, 0)]
    return moveaxis(ops.pad(flat, numpy.uint8(0), config), -1, axis)
