"""Matrices of ones and zeros, and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, Tracer, as_dtype, current, get_aval, placed, require_size
from lawful.numpy._eager import direct
from lawful.ops import check_sizes, static_integers

__all__ = ["eye", "identity", "tri", "tril", "triu"]

_FLOAT = numpy.dtype(numpy.float64)


def _sizes(name: str, rows: Any, columns: Any, k: Any, dtype: numpy.dtype[Any]) -> tuple[int, int, Any]:
    """Returns the numbers of rows and columns, and the diagonal: an integer, or a tracer of one."""
    rows, columns = static_integers(
        name, "the numbers of rows and columns", (rows, rows if columns is None else columns)
    )
    check_sizes(name, (rows, columns))
    require_size((rows, columns), dtype)
    if not isinstance(k, Tracer):
        (k,) = static_integers(name, "the diagonal", (k,))
        k = min(max(k, -rows), columns)  # a diagonal far outside may not fit 64 bits
    elif get_aval(k).ndim or get_aval(k).dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"{name}: expected an integer as the diagonal, got {get_aval(k)}; convert it with astype, or "
            "map the function"
        )
    else:
        k = ops.convert_element_type(k, numpy.int64)
    return rows, columns, k


def _row_and_column(rows: int, columns: int) -> tuple[Any, Any]:
    """Returns the row and column numbers of all elements."""
    row, column = (ops.broadcasted_iota("int64", (rows, columns), dim) for dim in (0, 1))
    return row, column


def _numpy_eye(N: int, M: Any = None, k: Any = 0) -> Any:
    if type(k) is not int:  # NumPy accepts any number beyond the matrix
        raise TypeError(k)
    return numpy.eye(N, M, k)


@direct(_numpy_eye, types=frozenset([int]), most=3)
def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns a matrix of zeros with ones on a diagonal.

    Args:
      N: the number of rows.
      M: the number of columns; by default that of rows.
      k: which diagonal: 0 for the main one, positive above it, negative below it. It may be traced.
      dtype: the dtype, float64 by default.
      device: ``"cpu"``, or the device of an array.

    Raises:
      ArgumentTypeError: an argument is not an integer, or a number of rows or columns is traced.
      ArgumentValueError: a number of rows or columns is negative.

    >>> eye(2, 3, 1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    >>> from lawful.batching import vmap
    >>> vmap(lambda k: eye(2, k=k))(numpy.array([0, 1]))
    array([[[1., 0.],
            [0., 1.]],
    <BLANKLINE>
           [[0., 1.],
            [0., 0.]]])

    Source: ``numpy.eye``, ``jax.numpy.eye``.
    """
    dtype = _FLOAT if dtype is None else as_dtype(dtype)
    N, M, k = _sizes("eye", N, M, k, dtype)
    if current.trace.evaluates_constants and not isinstance(k, Tracer):
        return placed("eye", numpy.eye(N, M, k, dtype), device)
    row, column = _row_and_column(N, M)
    return placed("eye", ops.convert_element_type(ops.eq(ops.add(row, k), column), dtype), device)


def identity(n: int, dtype: Any = None) -> Any:
    """Returns the square matrix with ones on the main diagonal.

    >>> identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Returns a matrix with ones on a diagonal and below it, and zeros above; arguments are those of :func:`eye`.

    >>> tri(2)
    array([[1., 0.],
           [1., 1.]])

    Source: ``numpy.tri``.
    """
    dtype = _FLOAT if dtype is None else as_dtype(dtype)
    N, M, k = _sizes("tri", N, M, k, dtype)
    if current.trace.evaluates_constants and not isinstance(k, Tracer):
        return numpy.tri(N, M, k, dtype)
    row, column = _row_and_column(N, M)
    return ops.convert_element_type(ops.ge(ops.add(row, k), column), dtype)


def _triangle(name: str, m: Any, k: int, *, lower: bool) -> Any:
    aval = get_aval(m)
    if aval.ndim < 2:
        raise ArgumentTypeError(f"{name}: expected an array of at least two dimensions, got {aval}; reshape it")
    below = tri(aval.shape[-2], aval.shape[-1], k if lower else k - 1, bool)
    zero = aval.dtype.type(0)
    return ops.where(below, m, zero) if lower else ops.where(below, zero, m)


@ops.composite()
def tril(m: Any, k: int = 0) -> Any:
    """Returns matrices with zeros above a diagonal.

    Args:
      m: an array whose last two dimensions are the matrices.
      k: the diagonal, as in :func:`eye`.

    Raises:
      ArgumentTypeError: the array has fewer than two dimensions.

    >>> tril(numpy.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])

    Source: ``numpy.tril``.
    """
    return _triangle("tril", m, k, lower=True)


@ops.composite()
def triu(m: Any, k: int = 0) -> Any:
    """Returns matrices with zeros below a diagonal; arguments and errors are those of :func:`tril`.

    >>> triu(numpy.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return _triangle("triu", m, k, lower=False)
