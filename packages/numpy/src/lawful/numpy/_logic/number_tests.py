"""Tests of elements: real, complex, infinite; and the parts and angles of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, get_aval, is_array, is_inexact
from lawful.numpy._eager import eager
from lawful.numpy._ufuncs.elementwise import trunc

__all__ = ["real", "imag", "angle", "fix", "iscomplex", "isneginf", "isposinf", "isreal", "isscalar", "iterable"]


def real(val: Any) -> Any:
    """Returns the real parts, of real numbers themselves.

    >>> real(numpy.array([1 + 2j]))
    array([1.])

    Source: ``numpy.real``.
    """
    return ops.real(val)


def imag(val: Any) -> Any:
    """Returns the imaginary parts, of real numbers zeros.

    >>> imag(numpy.array([1 + 2j]))
    array([2.])

    Source: ``numpy.imag``.
    """
    return ops.imag(val)


@eager(numpy.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """Returns the angles of complex numbers with the positive real axis, between -pi and pi.

    Args:
      z: an array.
      deg: whether in degrees.

    >>> angle(numpy.array([1.0, 1j, -1.0]), deg=True)
    array([  0.,  90., 180.])

    Source: ``numpy.angle``.
    """
    aval = get_aval(z)
    if aval.dtype.kind == "c":
        real, imaginary = ops.real(z), ops.imag(z)
    else:
        real, imaginary = z, 0
    found = ops.atan2(imaginary, real)
    return ops.mul(found, 180 / math.pi) if deg else found


def iscomplex(x: Any) -> Any:
    """Returns whether the imaginary part is not zero, elementwise.

    >>> iscomplex(numpy.array([1.0, 1j]))
    array([False,  True])

    Source: ``numpy.iscomplex``.
    """
    aval = get_aval(x)
    if aval.dtype.kind != "c":
        return ops.full(aval.shape, False, bool)
    return ops.ne(ops.imag(x), 0)


def isreal(x: Any) -> Any:
    """Returns whether the imaginary part is zero, elementwise.

    >>> isreal(numpy.array([1.0, 1j]))
    array([ True, False])

    Source: ``numpy.isreal``.
    """
    return ops.bitwise_not(iscomplex(x))


def _infinite(name: str, x: Any, value: float) -> Any:
    aval = get_aval(x)
    if aval.dtype.kind == "c":
        raise ArgumentTypeError(f"{name}: expected real numbers, got {aval}: complex ones have no order; take a part")
    return ops.eq(x, value) if is_inexact(aval.dtype) else ops.full(aval.shape, False, bool)


@eager(numpy.isposinf)
def isposinf(x: Any, out: Any = None) -> Any:
    """Returns whether ``x`` is positive infinity, elementwise.

    Raises:
      ArgumentTypeError: the numbers are complex, or ``out`` is given.

    >>> isposinf(numpy.array([numpy.inf, -numpy.inf]))
    array([ True, False])

    Source: ``numpy.isposinf``.
    """
    return _infinite("isposinf", x, numpy.inf)


@eager(numpy.isneginf)
def isneginf(x: Any, out: Any = None) -> Any:
    """Returns whether ``x`` is negative infinity, elementwise; all else is as in `isposinf`.

    >>> isneginf(numpy.array([numpy.inf, -numpy.inf]))
    array([False,  True])
    """
    return _infinite("isneginf", x, -numpy.inf)


@eager(numpy.trunc)
def fix(x: Any, out: Any = None) -> Any:
    """Returns the integer nearest to ``x`` that is not further from zero, as `trunc`.

    >>> fix(numpy.array([-1.5, 1.5]))
    array([-1.,  1.])

    Source: ``numpy.fix``.
    """
    return trunc(x)


def isscalar(element: Any) -> bool:
    """Returns whether a value is a number, or an array of no dimensions that is traced or on a device.

    >>> isscalar(3.0), isscalar(numpy.float32(3)), isscalar(numpy.array(3.0))
    (True, True, False)

    Source: ``numpy.isscalar``.
    """
    if isinstance(element, numpy.ndarray) or not is_array(element):
        return False
    return not get_aval(element).ndim


def iterable(y: Any) -> bool:
    """Returns whether a value can be iterated over: an array of at least one dimension, a list, a text.

    >>> iterable(numpy.zeros(3)), iterable(3.0)
    (True, False)

    Source: ``numpy.iterable``.
    """
    if is_array(y):
        return get_aval(y).ndim > 0
    return hasattr(y, "__iter__") or hasattr(y, "__getitem__")
