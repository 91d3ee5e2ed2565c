"""Matrices that are ones and zeros by a diagonal, and the triangles of others."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, as_dtype, current, get_aval, placed
from lawful.ops import static_integers

__all__ = ["eye", "identity", "tri", "tril", "triu"]

_FLOAT = numpy.dtype(numpy.float64)


def _diagonal_and_column(name: str, rows: Any, columns: Any, k: Any) -> tuple[Any, Any]:
    """Returns, for each element, the column in which the diagonal is in its row, and its own column."""
    columns = rows if columns is None else columns
    *shape, k = static_integers(name, "the numbers of rows and columns and the diagonal", (rows, columns, k))
    row, column = (ops.broadcasted_iota("int64", shape, dim) for dim in (0, 1))
    return ops.add(row, k), column


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None) -> Any:
    """Returns a matrix of zeros with ones on a diagonal.

    Args:
      N: the number of rows.
      M: the number of columns; by default that of rows.
      k: which diagonal: 0 for the main one, positive above it, negative below it.
      dtype: the dtype, float64 by default.
      device: ``"cpu"``, or the device of an array.

    >>> eye(2, 3, 1)
    array([[0., 1., 0.],
           [0., 0., 1.]])

    Source: ``numpy.eye``.
    """
    (N, M, k) = static_integers(
        "eye", "the numbers of rows and columns and the diagonal", (N, N if M is None else M, k)
    )
    dtype = _FLOAT if dtype is None else as_dtype(dtype)
    if current.trace.evaluates_constants:
        return placed("eye", numpy.eye(N, M, k, dtype), device)
    row, column = (ops.broadcasted_iota("int64", (N, M), dim) for dim in (0, 1))
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
    (N, M, k) = static_integers(
        "tri", "the numbers of rows and columns and the diagonal", (N, N if M is None else M, k)
    )
    row, column = (ops.broadcasted_iota("int64", (N, M), dim) for dim in (0, 1))
    return ops.convert_element_type(ops.ge(ops.add(row, k), column), _FLOAT if dtype is None else dtype)


def _triangle(name: str, m: Any, k: int, *, lower: bool) -> Any:
    aval = get_aval(m)
    if aval.ndim < 2:
        raise ArgumentTypeError(f"{name}: expected an array of at least two dimensions, got {aval}; reshape it")
    below = tri(aval.shape[-2], aval.shape[-1], k if lower else k - 1, bool)
    zero = aval.dtype.type(0)
    return ops.where(below, m, zero) if lower else ops.where(below, zero, m)


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


def triu(m: Any, k: int = 0) -> Any:
    """Returns matrices with zeros below a diagonal; arguments and errors are those of :func:`tril`.

    >>> triu(numpy.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return _triangle("triu", m, k, lower=False)
