"""Evenly spaced numbers. They are recorded too when a program is recorded."""

from __future__ import annotations

import math
from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    IntegerOverflowError,
    ShapeMismatchError,
    Tracer,
    TracerArrayConversionError,
    as_dtype,
    current,
    get_aval,
    placed,
    require_size,
    shorten,
    storage_dtypes,
)
from lawful.numpy._eager import PLAIN_TYPES, direct
from lawful.numpy._manipulation.shape import moveaxis
from lawful.ops import static_integers

__all__ = ["arange", "linspace"]

_FLOAT = numpy.dtype(numpy.float64)


# Other dtypes come from integers beyond 64 bits.
@direct(
    numpy.arange,
    arrays=None,
    types=frozenset([int, float]),
    results=frozenset([numpy.dtype(numpy.int64), numpy.dtype(numpy.float64)]),
)
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns numbers at equal distances, from ``start`` (0 if there is one number only) to before ``stop``.

    Args:
      start: the first number, or the end of the interval where there is no ``stop``.
      stop: the end of the interval, which is not included.
      step: the distance, which may be negative.
      dtype: the dtype; by default that of the numbers, 64 bits of them.
      device: ``"cpu"``, or the device of an array.

    Raises:
      TracerArrayConversionError: a number is traced: the length of the result depends on it.
      ArgumentValueError: the distance is zero.
      ArgumentTypeError: more than two booleans are asked for.

    >>> arange(3), arange(1.0, 0.0, -0.25)
    (array([0, 1, 2]), array([1.  , 0.75, 0.5 , 0.25]))

    Source: ``numpy.arange``.
    """
    for number in (start, stop, step):
        if isinstance(number, Tracer):
            raise TracerArrayConversionError(
                f"arange: expected known numbers, got {number!r}, on which the length of the result depends; make the "
                "argument static (static_argnums of jit), take its value by getval of lawful.autograd, or write "
                "start + step * lawful.numpy.arange(n) with a known n"
            )
    start, stop = (0, start) if stop is None else (start, stop)
    if not step:
        raise ArgumentValueError("arange: expected a step other than zero, got 0; give the distance of two numbers")
    wanted = numpy.result_type(*map(numpy.asarray, (start, stop, step))) if dtype is None else as_dtype(dtype)
    if wanted.kind == "O":
        raise IntegerOverflowError(
            f"arange: expected numbers that fit 64 bits, got {shorten((start, stop, step))}; use floats"
        )
    if wanted in storage_dtypes:
        return ops.convert_element_type(arange(start, stop, step, device=device), wanted)
    length = max(0, math.ceil((stop - start) / step)) if wanted.kind == "b" else 0
    if length > 2:
        raise ArgumentTypeError(f"arange: expected at most two booleans, got {length}; compare an integer arange")
    if current.trace.evaluates_constants or wanted.kind == "b":
        try:
            return placed("arange", numpy.arange(start, stop, step, dtype=wanted), device)
        except ValueError:
            require_size((max(0, math.ceil((stop - start) / step)),), wanted)
            raise
        except OverflowError:
            pass  # the conversion below raises the error
    length = max(0, math.ceil((stop - start) / step))
    for x in (start, start + step) if length else ():
        ops.convert_element_type(x, wanted)  # raises if it does not fit
    # As in NumPy: from the difference of the first two numbers in the dtype of the result.
    first, second = numpy.asarray(start).astype(wanted)[()], numpy.asarray(start + step).astype(wanted)[()]
    return placed("arange", ops.add(ops.mul(ops.iota(wanted, length), second - first), first), device)


@direct(numpy.linspace, arrays=2, types=PLAIN_TYPES, most=4, names=("num", "endpoint"))
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Returns numbers at equal distances from ``start`` to ``stop``, both included.

    Args:
      start: the first number, or an array of them.
      stop: the last number, or an array of them.
      num: how many.
      endpoint: whether ``stop`` is included; if not, it would be the next number.
      retstep: whether to return the distance too: ``(numbers, distance)``.
      dtype: the dtype of the result; by default the floating one that ``start`` and ``stop`` are promoted to.
      axis: the position of the new dimension in the result, if the ends are arrays.
      device: ``"cpu"``, or the device of an array.

    Raises:
      ArgumentValueError: ``num`` is negative.

    >>> linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])

    Source: ``numpy.linspace``.
    """
    (num,) = static_integers("linspace", "num", num)
    if num < 0:
        raise ArgumentValueError(f"linspace: expected a number of samples that is not negative, got {num}")
    shape = shape_of_ends("linspace", start, stop)
    require_size((num, *shape), _FLOAT if dtype is None else as_dtype(dtype))
    numbers, step = _spaced(start, stop, num, endpoint, dtype, axis)
    numbers = placed("linspace", numbers, device)
    return (numbers, step) if retstep else numbers


def shape_of_ends(name: str, *ends: Any) -> tuple[int, ...]:
    """Returns the common shape of the ends of a range; raises ShapeMismatchError if there is none."""
    shapes = [() if type(x) is int else get_aval(x).shape for x in ends]
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ShapeMismatchError(
            f"{name}: expected ends of shapes that broadcast together, got {' and '.join(map(str, shapes))}; "
            "reshape or transpose one"
        ) from error


def _spaced(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> tuple[Any, Any]:
    """Returns evenly spaced numbers, and their distance."""
    if ops.is_eager(start, stop):
        numbers, step = numpy.linspace(start, stop, num, endpoint, True, dtype, axis)  # type: ignore[call-overload]
        return numbers, step
    low, high = ops.promote("linspace", numpy.true_divide, (start, stop))
    aval = get_aval(low)
    intervals = num - 1 if endpoint else num
    whole = (num, *aval.shape)
    step = ops.div(ops.sub(high, low), intervals) if intervals > 0 else ops.full_like(low, numpy.nan)
    counted = ops.broadcasted_iota(aval.dtype, whole, 0)
    numbers = ops.add(ops.mul(counted, step) if intervals > 0 else ops.mul(counted, ops.sub(high, low)), low)
    if endpoint and num > 1:
        numbers = ops.where(ops.eq(counted, num - 1), high, numbers)
    if dtype is not None:
        wanted = as_dtype(dtype)
        numbers = ops.convert_element_type(ops.floor(numbers) if wanted.kind in "iu" else numbers, wanted)
    if axis:
        numbers = moveaxis(numbers, 0, axis)
    return numbers, step
