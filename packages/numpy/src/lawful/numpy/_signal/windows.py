"""Window functions, and the Bessel function of the Kaiser window."""

from __future__ import annotations

import math
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, current, get_aval, is_inexact, require_size
from lawful.numpy._eager import eager
from lawful.ops import static_integers

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]


def _numpy_i0(x: Any) -> Any:
    """Returns NumPy's result, but lawful's where NumPy's overflows early, and infinity instead of NaN at infinities."""
    with numpy.errstate(over="ignore", invalid="ignore"):
        out = numpy.i0(x)
    if numpy.all(numpy.isfinite(out)):
        return out
    root = numpy.exp(numpy.abs(numpy.asarray(x, out.dtype)) / 2)
    with numpy.errstate(invalid="ignore", over="ignore"):
        far = root * (root * ops.bessel_i0e.numpy_function(numpy.asarray(x, out.dtype)))
    out = numpy.where(numpy.isposinf(out) & numpy.isfinite(far), far, out)
    return numpy.where(numpy.isinf(x), numpy.inf, out).astype(out.dtype)[()]


@eager(_numpy_i0)
def i0(x: Any) -> Any:
    """Returns the modified Bessel function of the first kind and order 0.

    Args:
      x: an array of real numbers.

    Raises:
      ArgumentTypeError: they are complex.

    >>> i0(numpy.array([0.0, 1.0]))
    array([1.        , 1.26606588])

    Source: ``numpy.i0``.
    """
    aval = get_aval(x)
    if aval.dtype.kind == "c":
        raise ArgumentTypeError(f"i0: expected real numbers, got {aval}; take their real parts")
    x = ops.convert_element_type(x, aval.dtype if is_inexact(aval.dtype) else numpy.float64)
    return ops.bessel_in(x, 0)


def _size(name: str, M: Any) -> int:
    """Returns the length of a window, which is empty where it is not positive."""
    (size,) = static_integers(name, "M", M)
    require_size((max(size, 0),), numpy.dtype(numpy.float64))
    return size


def _angles(name: str, M: Any) -> tuple[int, Any]:
    """Returns the length of a window, and its sample angles from 0 to 2 pi."""
    size = _size(name, M)
    count = ops.iota("float64", max(size, 0))
    return size, ops.mul(count, 2 * math.pi / max(size - 1, 1))


def _cosines(name: str, M: Any, *weights: float) -> Any:
    """Returns a weighted sum of cosines of multiples of the angle; 1 for a window of one sample."""
    size, angles = _angles(name, M)
    if size == 1:
        return ops.full((1,), 1.0)
    out: Any = ops.full_like(angles, weights[0])
    for k, weight in enumerate(weights[1:], 1):
        out = ops.add(out, ops.mul(weight, ops.cos(ops.mul(k, angles))))
    return out


def hanning(M: int) -> Any:
    """Returns the Hann window: half of 1 minus a cosine.

    Args:
      M: the number of samples; the window is empty where it is not positive.

    Raises:
      ArgumentTypeError: it is not an integer.

    >>> hanning(5)
    array([0. , 0.5, 1. , 0.5, 0. ])

    Source: ``numpy.hanning``.
    """
    return numpy.hanning(_size("hanning", M)) if _at_once() else _cosines("hanning", M, 0.5, -0.5)


def hamming(M: int) -> Any:
    """Returns the Hamming window: 0.54 minus 0.46 times a cosine; arguments as `hanning`.

    >>> hamming(3)
    array([0.08, 1.  , 0.08])

    Source: ``numpy.hamming``.
    """
    return numpy.hamming(_size("hamming", M)) if _at_once() else _cosines("hamming", M, 0.54, -0.46)


def blackman(M: int) -> Any:
    """Returns the Blackman window, a sum of two cosines; arguments as `hanning`.

    >>> blackman(3).round(6) + 0
    array([0., 1., 0.])

    Source: ``numpy.blackman``.
    """
    if _at_once():
        return numpy.blackman(_size("blackman", M))
    return _cosines("blackman", M, 0.42, -0.5, 0.08)


def bartlett(M: int) -> Any:
    """Returns the Bartlett window, a triangle; arguments as `hanning`.

    >>> bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])

    Source: ``numpy.bartlett``.
    """
    size = _size("bartlett", M)
    if _at_once():
        return numpy.bartlett(size)
    if size == 1:
        return ops.full((1,), 1.0)
    position = ops.div(ops.mul(ops.iota("float64", max(size, 0)), 2.0), max(size - 1, 1))
    return ops.sub(1.0, ops.abs(ops.sub(position, 1.0)))


def kaiser(M: int, beta: Any) -> Any:
    """Returns the Kaiser window, of Bessel functions.

    Args:
      M: the number of samples.
      beta: its shape: 0 for a rectangle, larger for a narrower window. It may be traced.

    Raises:
      ArgumentTypeError: ``M`` is not an integer.

    >>> kaiser(3, 0.0)
    array([1., 1., 1.])

    Source: ``numpy.kaiser``.
    """
    size = _size("kaiser", M)
    if ops.is_eager(beta) and get_aval(beta).dtype.kind != "c":
        return numpy.kaiser(size, beta)
    if get_aval(beta).dtype.kind == "c":
        raise ArgumentTypeError(f"kaiser: expected a real beta, got {get_aval(beta)}; take real(beta)")
    beta = ops.convert_element_type(beta, numpy.float64)
    if size == 1:
        return ops.full((1,), 1.0)
    position = ops.iota("float64", max(size, 0))
    # 1 - t² for t from -1 to 1, as a product that is exactly zero at the ends.
    inside = ops.mul(ops.mul(position, ops.sub(float(size - 1), position)), 4.0 / max(size - 1, 1) ** 2)
    # The square root has an infinite derivative at both ends, but the function of it is even.
    is_end = ops.eq(inside, 0.0)
    root = ops.where(is_end, 0.0, ops.sqrt(ops.where(is_end, 1.0, inside)))
    return ops.div(i0(ops.mul(beta, root)), i0(beta))


def _at_once() -> bool:
    return current.trace.evaluates_constants
