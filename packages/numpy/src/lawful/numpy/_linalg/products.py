"""Products of vectors, matrices and arrays of more dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ShapeMismatchError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._integers import with_dtype
from lawful.numpy._manipulation.shape import ravel

__all__ = ["matmul", "dot", "vdot", "inner", "outer", "tensordot"]


@eager(numpy.matmul, arrays=2, looks=False)
def matmul(x1: Any, x2: Any, /) -> Any:
    """Returns the matrix product: what ``x1 @ x2`` is.

    Args:
      x1: an array with at least one dimension, the last of length k. The last two are matrices.
      x2: an array with at least one dimension. The last two are matrices, of k rows; if there is only one it is a
        column. The dimensions before them are broadcast.

    Raises:
      ArgumentValueError: an operand is a scalar, or the shapes do not fit.

    >>> matmul(numpy.array([[1, 2], [3, 4]]), numpy.array([1, 1]))
    array([3, 7])

    Source: ``numpy.matmul``.
    """
    return ops.matmul(x1, x2)


def _refuse_single_zero(a: Any, b: Any) -> None:
    """Raises an error, so that `eager` leaves the product to lawful: BLAS takes a single 0 times NaN for 0."""
    if any(numpy.size(x) == 1 and not x for x in (a, b)):
        raise ValueError("expected no single zero")


def _by_blas(function: Callable[[Any, Any], Any]) -> Any:
    """Returns NumPy's product for `eager`. Its signature is exact: any other takes 0.2 µs more."""
    of_arrays = inspect.unwrap(function)

    def product(a: Any, b: Any) -> Any:
        try:
            is_single = a.size == 1 or b.size == 1
        except AttributeError:  # a Python number
            is_single = True
        if is_single:
            _refuse_single_zero(a, b)
        return of_arrays(a, b)

    return product


def _tensordot_by_blas(a: Any, b: Any, axes: Any = 2) -> Any:
    _refuse_single_zero(a, b)
    return numpy.tensordot(a, b, axes)


@eager(_by_blas(numpy.dot), arrays=2, looks=False)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Returns the product over the last dimension of ``a`` and the last but one of ``b``.

    Of two vectors this is the inner product, of two matrices the matrix product; with a scalar it is ``a * b``.

    Raises:
      ShapeMismatchError: these dimensions differ in length.

    >>> dot(numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0]))
    np.float64(11.0)

    Source: ``numpy.dot``.
    """
    return ops.dot(_strong(a), _strong(b))


def _strong(x: Any) -> Any:
    """Returns an array for a Python number: NumPy converts it before promotion."""
    x = with_dtype(x)
    return ops.convert_element_type(x, get_aval(x).dtype)


@eager(numpy.vdot, arrays=2)
def vdot(a: Any, b: Any, /) -> Any:
    """Returns the inner product of the flattened arrays, the first conjugated.

    Raises:
      ShapeMismatchError: they have not as many elements.

    >>> vdot(numpy.array([1j, 2.0]), numpy.array([1j, 1.0]))
    np.complex128(3+0j)

    Source: ``numpy.vdot``.
    """
    return ops.dot(ravel(ops.conj(a)), ravel(b))


@eager(_by_blas(numpy.inner), arrays=2)
def inner(a: Any, b: Any, /) -> Any:
    """Returns the inner products of the last dimensions; with a scalar it is ``a * b``.

    Raises:
      ShapeMismatchError: the last dimensions differ in length.

    >>> inner(numpy.array([[1.0, 2.0]]), numpy.array([3.0, 4.0]))
    array([11.])

    Source: ``numpy.inner``.
    """
    a, b = _strong(a), _strong(b)
    left, right = get_aval(a), get_aval(b)
    if not left.shape or not right.shape:
        return ops.mul(a, b)
    if left.shape[-1] != right.shape[-1]:
        raise ShapeMismatchError(
            f"inner: expected last dimensions of one length, got the shapes "
            f"{left.shape} and {right.shape}; transpose one"
        )
    return ops.dot_general(a, b, (((left.ndim - 1,), (right.ndim - 1,)), ((), ())))


@eager(numpy.outer, arrays=2)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Returns the products of each element of ``a`` with each of ``b``, both flattened: a matrix.

    >>> outer(numpy.array([1, 2]), numpy.array([3, 4]))
    array([[3, 4],
           [6, 8]])

    Source: ``numpy.outer``.
    """
    left, right = ravel(_strong(a)), ravel(_strong(b))
    return ops.mul(ops.expand_dims(left, (1,)), right)


@eager(_tensordot_by_blas, arrays=2)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Returns the product over several pairs of dimensions.

    Args:
      a: an array.
      b: an array.
      axes: how many of the last dimensions of ``a`` and the first of ``b`` are contracted, or a pair: the
        dimensions of ``a``, and those of ``b`` that belong to them.

    Raises:
      ArgumentValueError: the dimensions differ in number or length.
      AxisError: there is no such dimension.

    >>> tensordot(numpy.ones((2, 3)), numpy.ones((3, 4)), 1).shape
    (2, 4)

    Source: ``numpy.tensordot``.
    """
    return ops.tensordot(_strong(a), _strong(b), axes)
