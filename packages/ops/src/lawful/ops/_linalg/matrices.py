"""Matrices as the last two dimensions of arrays: helpers for the rules of linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, ShapedArray, get_aval
from lawful.ops._elementwise.comparison import eq, ge, gt
from lawful.ops._elementwise.complex_parts import complex, conj, real
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._elementwise.select import where
from lawful.ops._products.dot_general import dot_general
from lawful.ops._products.functions import matmul
from lawful.ops._reduction.reduction import reduce_sum
from lawful.ops._shape.iota import broadcasted_iota
from lawful.ops._shape.joining import concatenate, pad
from lawful.ops._shape.reshape import broadcast_in_dim, transpose
from lawful.ops._shape.slicing import slice_in_dim
from lawful.ops._support.dtypes import COMPLEX_OF, REAL_OF

#: The dtypes that LAPACK, and so NumPy, supports.
matrix_dtypes: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128")))


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of absolute values."""
    return REAL_OF.get(dtype, dtype)


def complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the complex dtype whose parts have this dtype."""
    return COMPLEX_OF.get(dtype, dtype)


def check_matrices(name: str, aval: ShapedArray, *, square: bool = False) -> None:
    """Checks that an array contains matrices that LAPACK supports.

    Raises:
      ArgumentTypeError: LAPACK does not support its dtype.
      ArgumentValueError: it has fewer than two dimensions, or the matrices must be square and are not.
    """
    if aval.dtype not in matrix_dtypes:
        raise ArgumentTypeError(
            f"{name}: expected matrices of {', '.join(dtype.name for dtype in matrix_dtypes)}, got {aval}; "
            "convert with astype"
        )
    if aval.ndim < 2 or (square and aval.shape[-1] != aval.shape[-2]):
        raise ArgumentValueError(
            f"{name}: expected {'square matrices' if square else 'matrices'} in the last two dimensions, got {aval}; "
            "reshape it"
        )


# Functions of arrays and tracers


def matrix_transpose(x: Any) -> Any:
    """Returns each matrix transposed."""
    ndim = get_aval(x).ndim
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def adjoint(x: Any) -> Any:
    """Returns each matrix transposed and conjugated."""
    return matrix_transpose(conjugate(x))


def conjugate(x: Any) -> Any:
    """Returns the complex conjugate; a real array itself."""
    return conj(x) if get_aval(x).dtype.kind == "c" else x


def real_part(x: Any) -> Any:
    """Returns the real part; a real array itself."""
    return real(x) if get_aval(x).dtype.kind == "c" else x


def with_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns an array converted to a dtype if it has another one."""
    return x if get_aval(x).dtype == dtype else convert_element_type(x, dtype)


def below_diagonal(rows: int, columns: int, k: int = 0) -> Any:
    """Returns the matrix that is true on a diagonal and below it."""
    row, column = (broadcasted_iota("int64", (rows, columns), dim) for dim in (0, 1))
    if k == -1:
        return gt(row, column)
    return ge(row + k if k else row, column)


def triangle(x: Any, *, lower: bool, k: int = 0) -> Any:
    """Returns matrices with zeros above a diagonal, or below it."""
    rows, columns = get_aval(x).shape[-2:]
    zero = get_aval(x).dtype.type(0)
    if lower:
        return where(below_diagonal(rows, columns, k), x, zero)
    return where(below_diagonal(rows, columns, k - 1), zero, x)


def identity(rows: int, columns: int, dtype: Any) -> Any:
    """Returns a matrix of zeros with ones on the diagonal."""
    return convert_element_type(_on_diagonal(rows, columns), dtype)


def _on_diagonal(rows: int, columns: int) -> Any:
    row, column = (broadcasted_iota("int64", (rows, columns), dim) for dim in (0, 1))
    return eq(row, column)


def diagonal(x: Any) -> Any:
    """Returns the main diagonal of each matrix."""
    aval = get_aval(x)
    rows, columns = aval.shape[-2:]
    kept = where(_on_diagonal(rows, columns), x, aval.dtype.type(0))
    out = reduce_sum(kept, (aval.ndim - 1,))
    return _part(out, 0, min(rows, columns), aval.ndim - 2)


def as_column(x: Any, columns: int = 1) -> Any:
    """Returns vectors as matrices with one column, or with several equal ones."""
    shape = get_aval(x).shape
    return broadcast_in_dim(x, (*shape, columns), tuple(range(len(shape))))


def as_row(x: Any, rows: int = 1) -> Any:
    """Returns vectors as matrices with one row, or with several equal ones."""
    shape = get_aval(x).shape
    return broadcast_in_dim(x, (*shape[:-1], rows, shape[-1]), (*range(len(shape) - 1), len(shape)))


def imaginary(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns real numbers times the imaginary unit, in a complex dtype."""
    x = with_dtype(x, real_dtype(dtype))
    return complex(x * x.dtype.type(0), x)


def hermitian_from(x: Any, *, lower: bool) -> Any:
    """Returns Hermitian matrices from one triangle; the other one is not read."""
    aval = get_aval(x)
    rows, columns = aval.shape[-2:]
    if lower:
        whole = where(below_diagonal(rows, columns), x, adjoint(x))
    else:
        whole = where(below_diagonal(rows, columns, -1), adjoint(x), x)
    if aval.dtype.kind != "c":
        return whole
    return where(_on_diagonal(rows, columns), with_dtype(real(x), aval.dtype), whole)


def hermitian_part(x: Any) -> Any:
    """Returns ``(x + xᴴ) / 2``."""
    return (x + adjoint(x)) * get_aval(x).dtype.type(0.5)


def inverse_differences(x: Any) -> Any:
    """Returns ``1 / (xⱼ − xᵢ)`` in row i and column j, and zeros on the diagonal: infinite where numbers are equal."""
    size, dtype = get_aval(x).shape[-1], get_aval(x).dtype
    ones = identity(size, size, dtype)
    return (dtype.type(1) - ones) / (as_row(x, size) - as_column(x, size) + ones)


def pad_matrix(x: Any, rows: int, columns: int) -> Any:
    """Returns matrices padded with zeros below and on the right."""
    aval = get_aval(x)
    have = aval.shape[-2:]
    if have == (rows, columns):
        return x
    config = [(0, 0, 0)] * (aval.ndim - 2) + [(0, rows - have[0], 0), (0, columns - have[1], 0)]
    return pad(x, aval.dtype.type(0), config)


def rows_of(x: Any, start: int, stop: int) -> Any:
    """Returns some rows of each matrix."""
    return _part(x, start, stop, get_aval(x).ndim - 2)


def columns_of(x: Any, start: int, stop: int) -> Any:
    """Returns some columns of each matrix."""
    return _part(x, start, stop, get_aval(x).ndim - 1)


def _part(x: Any, start: int, stop: int, axis: int) -> Any:
    whole = (start, stop) == (0, get_aval(x).shape[axis])
    return x if whole else slice_in_dim(x, start, stop, axis=axis)


def with_complement(thin: Any, thin_dot: Any, whole: Any) -> Any:
    """Returns the derivative of all columns of a unitary matrix: the others stay orthogonal to the first.

    Args:
      thin: the first columns.
      thin_dot: their derivative.
      whole: all columns.
    """
    rank, size = get_aval(thin).shape[-1], get_aval(whole).shape[-1]
    if rank == size:
        return thin_dot
    rest = -(thin @ (adjoint(thin_dot) @ columns_of(whole, rank, size)))
    return concatenate([thin_dot, rest], get_aval(whole).ndim - 1)


def product(*factors: Any) -> Any:
    """Returns the product of matrices, from the left."""
    out = factors[0]
    for factor in factors[1:]:
        out = matmul(out, factor)
    return out


def transposed_product(x: Any, y: Any) -> Any:
    """Returns ``xᵀ y`` for each matrix, without a transposed copy."""
    ndim = get_aval(x).ndim
    batch = tuple(range(ndim - 2))
    return dot_general(x, y, (((ndim - 2,), (ndim - 2,)), (batch, batch)))
