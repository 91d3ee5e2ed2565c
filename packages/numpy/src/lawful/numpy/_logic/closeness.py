"""Comparisons of whole arrays: equal, or close."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval
from lawful.numpy._dtypes import result_type
from lawful.numpy._eager import eager
from lawful.numpy._integers import with_dtype
from lawful.numpy._ufuncs.elementwise import abs, isfinite, isnan
from lawful.ops import numpy_reduction

__all__ = ["isclose", "allclose", "array_equal", "array_equiv"]


def _as_array(function: Callable[..., builtins.bool]) -> Callable[..., Any]:
    """Returns a function with a NumPy boolean result, like the traced result, instead of a Python boolean."""
    return lambda *args, **kwargs: numpy.bool(function(*args, **kwargs))


@eager(numpy.isclose, arrays=2)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: builtins.bool = False) -> Any:
    """Returns whether ``|a - b| <= atol + rtol * |b|`` elementwise.

    Args:
      a: an array or number.
      b: an array or number.
      rtol: the relative tolerance.
      atol: the absolute tolerance.
      equal_nan: whether a NaN is close to a NaN.

    >>> isclose(numpy.array([1.0, 2.0]), numpy.array([1.0 + 1e-7, 2.1]))
    array([ True, False])

    Source: ``numpy.isclose``.
    """
    # As in NumPy: a difference of unsigned integers would wrap around.
    b = ops.convert_element_type(b, result_type(b, 1.0))
    with numpy.errstate(invalid="ignore"):  # the difference of infinities
        near = ops.le(abs(ops.sub(a, b)), ops.add(atol, ops.mul(rtol, abs(b))))
    close = ops.bitwise_or(ops.bitwise_and(near, isfinite(b)), ops.eq(a, b))
    return ops.bitwise_or(close, ops.bitwise_and(isnan(a), isnan(b))) if equal_nan else close


@eager(lambda *args, **kwargs: numpy.isclose(*args, **kwargs).all(), arrays=2)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: builtins.bool = False) -> Any:
    """Returns whether all elements are close; arguments are those of :func:`isclose`.

    >>> allclose(numpy.array([1.0, 2.0]), numpy.array([1.0 + 1e-7, 2.0]))
    np.True_
    """
    return numpy_reduction.all(isclose(a, b, rtol, atol, equal_nan))


@eager(_as_array(numpy.array_equal), arrays=2)
def array_equal(a1: Any, a2: Any, equal_nan: builtins.bool = False) -> Any:
    """Returns whether two arrays have one shape and equal elements.

    Args:
      a1: an array.
      a2: an array.
      equal_nan: whether a NaN equals a NaN.

    >>> array_equal(numpy.array([1, 2]), numpy.array([1.0, 2.0]))
    np.True_

    Source: ``numpy.array_equal``.
    """
    a1, a2 = with_dtype(a1), with_dtype(a2)
    if get_aval(a1).shape != get_aval(a2).shape:
        return numpy.bool(False)
    equal = ops.eq(a1, a2)
    if equal_nan:
        equal = ops.bitwise_or(equal, ops.bitwise_and(ops.ne(a1, a1), ops.ne(a2, a2)))
    return numpy_reduction.all(equal)


@eager(_as_array(numpy.array_equiv), arrays=2)
def array_equiv(a1: Any, a2: Any) -> Any:
    """Returns whether two arrays broadcast together and have equal elements.

    >>> array_equiv(numpy.array([1, 1]), numpy.array([[1], [1]]))
    np.True_

    Source: ``numpy.array_equiv``.
    """
    try:
        numpy.broadcast_shapes(get_aval(a1).shape, get_aval(a2).shape)
    except ValueError:
        return numpy.bool(False)
    return numpy_reduction.all(ops.eq(a1, a2))
