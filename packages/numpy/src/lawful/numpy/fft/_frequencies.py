"""The frequencies of a spectrum, and shifts of the zero frequency to the middle."""

from __future__ import annotations

import operator
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, as_dtype, get_aval, placed
from lawful.numpy._manipulation.shape import roll
from lawful.ops import canonical_axis, static_integers


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Returns the frequencies of the elements of a transform, in cycles per unit of ``d``.

    Args:
      n: the number of samples, a static integer of at least 1.
      d: the distance of two samples.
      device: ``"cpu"``, or the device of an array.
      dtype: the dtype of the result; by default float64.

    Raises:
      ArgumentValueError: ``n`` is not an integer or negative, or there is no such device.

    >>> fftfreq(4, 0.5)
    array([ 0. ,  0.5, -1. , -0.5])

    Source: ``numpy.fft.fftfreq``, in the array API with a dtype.
    """
    n = _check("fftfreq", n)
    half = n // 2
    # 0, 1, …, -2, -1
    steps = ops.sub(ops.rem(ops.add(ops.iota("int64", n), half), max(n, 1)), half)
    return placed("fftfreq", _scaled(steps, n, d, dtype), device)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Returns the frequencies, none negative, of the elements of the transform of a real signal; as `fftfreq`.

    >>> rfftfreq(4, 0.5)
    array([0. , 0.5, 1. ])

    Source: ``numpy.fft.rfftfreq``.
    """
    n = _check("rfftfreq", n)
    return placed("rfftfreq", _scaled(ops.iota("int64", n // 2 + 1), n, d, dtype), device)


def _check(name: str, n: Any) -> int:
    try:
        number = operator.index(n)
    except TypeError:
        if not hasattr(n, "aval"):  # a tracer raises a more precise error
            raise ArgumentValueError(
                f"{name}: expected an integer as n, got {n!r}; give the number of samples"
            ) from None
        raise
    if number < 0:
        raise ArgumentValueError(
            f"{name}: expected a number of samples that is not negative, got n={number}; give the length of the signal"
        )
    return number


def _scaled(steps: Any, n: int, d: Any, dtype: Any) -> Any:
    # As in NumPy: the reciprocal of the length first, with Python's division and its error for zero.
    is_number = isinstance(d, int | float | numpy.number)
    unit = 1.0 / (n * d) if is_number else ops.true_divide(1.0, ops.mul(n, d))
    frequencies = ops.mul(steps, unit)
    return frequencies if dtype is None else ops.convert_element_type(frequencies, as_dtype(dtype))


def fftshift(x: Any, axes: Any = None) -> Any:
    """Returns a spectrum with the frequency zero moved to the middle of each dimension.

    Args:
      x: an array.
      axes: the dimension, or a sequence of them; all by default.

    Raises:
      AxisError: there is no such dimension.

    >>> fftshift(fftfreq(5, 0.2))
    array([-2., -1.,  0.,  1.,  2.])

    Source: ``numpy.fft.fftshift``.
    """
    return _shifted("fftshift", x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """Returns the inverse of :func:`fftshift`, which has the same arguments.

    >>> ifftshift(numpy.array([-2, -1, 0, 1, 2]))
    array([ 0,  1,  2, -2, -1])

    Source: ``numpy.fft.ifftshift``.
    """
    return _shifted("ifftshift", x, axes, -1)


def _shifted(name: str, x: Any, axes: Any, sign: int) -> Any:
    shape = get_aval(x).shape
    if axes is None:
        axes = range(len(shape))
    dims = tuple(canonical_axis(name, axis, len(shape)) for axis in static_integers(name, "axes", axes))
    return roll(x, tuple(sign * (shape[axis] // 2) for axis in dims), dims)
