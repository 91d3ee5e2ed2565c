"""Products and matrices scaled by powers of two, so that partial products neither overflow nor underflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, get_aval
from lawful.ops._bits.bitcast import bitcast_convert_type
from lawful.ops._elementwise.arithmetic.arithmetic import abs, div, max, min, mul, sub
from lawful.ops._elementwise.arithmetic.division import floor_divide
from lawful.ops._elementwise.comparison import bitwise_and, eq, gt, is_finite, lt, shift_left, shift_right_logical
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._elementwise.select import where
from lawful.ops._linalg.matrices import check_matrices, matrix_dtypes, real_dtype
from lawful.ops._reduction.reduction import reduce_max, reduce_prod, reduce_sum
from lawful.ops._shape.iota import iota
from lawful.ops._shape.squeeze import expand_dims

_STEPS = 4


def product_of_pivots(x: Any) -> Any:
    """Returns the product along the last dimension, finite and not zero wherever the exact one is.

    The derivative is that of the product. Pivots below the smallest normal number are not scaled.
    """
    size = abs(x)
    exponents, scale = _exponents(size)
    axes = (get_aval(x).ndim - 1,)
    product = reduce_prod(div(x, convert_element_type(scale, get_aval(x).dtype)), axes)
    return times_power_of_two(product, reduce_sum(exponents, axes))


def sum_of_products(x: Any) -> Any:
    """Returns sums of products: finite and not zero wherever the exact sum is, up to rounding of the largest product.

    Numbers below the smallest normal number are not scaled.

    Args:
      x: an array of shape (…, terms, factors) of floating or complex dtype.

    Returns:
      An array of shape (…).

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the array has fewer than two dimensions.

    >>> sum_of_products(np.array([[1e200, 1e200, 1e-300], [2e-200, 1e200, 1e100]])) / 1e100
    np.float64(3.0)
    """
    check_matrices("sum_of_products", get_aval(x))
    ndim = get_aval(x).ndim
    exponents, scale = _exponents(abs(x))
    products = reduce_prod(div(x, convert_element_type(scale, get_aval(x).dtype)), (ndim - 1,))
    # A product that is zero has no size.
    exponents = where(eq(abs(products), 0), np.int64(-(2**40)), reduce_sum(exponents, (ndim - 1,)))
    largest = reduce_max(exponents, (ndim - 2,))
    relative = sub(exponents, expand_dims(largest, (ndim - 2,)))
    return times_power_of_two(reduce_sum(times_power_of_two(products, relative), (ndim - 2,)), largest)


def balanced(x: Any) -> Any:
    """Returns square matrices of the same determinants whose elements are near to each other in size.

    Rows and columns are multiplied by powers of two whose product is one; they are constants for derivatives, as the
    bits of floats have none. Matrices whose determinants may over- or underflow are returned as they are.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    >>> balanced(np.diag([2.0**200, 2.0**-200]))
    array([[1., 0.],
           [0., 1.]])
    """
    aval = get_aval(x)
    check_matrices("balanced", aval, square=True)
    columns = (aval.ndim - 2,)
    by_row, by_column = _exponents_of_lines(x)
    total, mean = _total_and_mean(by_row, by_column)
    # The mean of all exponents is given back to each row, and the rest of the division to the first rows.
    count = np.int64(aval.shape[-1] or 1)
    rest = convert_element_type(
        lt(iota(np.dtype(np.int64), aval.shape[-1]), expand_dims(sub(total, mean * count), columns)), np.int64
    )
    exponents = _sum_of_lines(expand_dims(mean, columns) + rest - by_row, sub(np.int64(0), by_column))
    most = np.int64(_bias(real_dtype(aval.dtype)) - 1)
    is_safe = expand_dims(lt(abs(total), most), (aval.ndim - 2, aval.ndim - 1))
    return times_power_of_two(x, where(is_safe, exponents, np.int64(0)))


def mean_exponents(x: Any) -> Any:
    """Returns integers e for square matrices of n rows whose determinants are near to ``2**(n e)`` or smaller.

    Args:
      x: an array of shape (…, n, n) of floating or complex dtype.

    Returns:
      An array of shape (…) of int64. Its derivative is zero.

    Raises:
      ArgumentTypeError: the dtype is not float32, float64, complex64 or complex128.
      ArgumentValueError: the matrices are not square.

    >>> mean_exponents(np.diag([2.0**200, 2.0**100]))
    np.int64(150)
    """
    check_matrices("mean_exponents", get_aval(x), square=True)
    _, mean = _total_and_mean(*_exponents_of_lines(x))
    return mean


def _total_and_mean(by_row: Any, by_column: Any) -> tuple[Any, Any]:
    aval = get_aval(by_row)
    total = reduce_sum(by_row + by_column, (aval.ndim - 1,))
    return total, floor_divide(total, np.int64(aval.shape[-1] or 1))


def _exponents_of_lines(x: Any) -> tuple[Any, Any]:
    """Returns the exponents of powers of two by which rows, then columns, are divided to have elements of size 1."""
    ndim = get_aval(x).ndim
    size = abs(x)
    by_row, scale = _exponents(reduce_max(size, (ndim - 1,)))
    by_column, _ = _exponents(reduce_max(div(size, expand_dims(scale, (ndim - 1,))), (ndim - 2,)))
    return by_row, by_column


def _sum_of_lines(by_row: Any, by_column: Any) -> Any:
    ndim = get_aval(by_row).ndim
    return expand_dims(by_row, (ndim,)) + expand_dims(by_column, (ndim - 1,))


def times_power_of_two(x: Any, exponents: Any) -> Any:
    """Returns ``x * 2**exponents``, also where the power overflows and the product does not.

    Args:
      x: an array of dtype float32, float64, complex64 or complex128.
      exponents: an array of int64 of the same shape.

    Raises:
      ArgumentTypeError: ``x`` has another dtype.

    >>> times_power_of_two(np.array([3.0, 2.0**-1000]), np.array([-1, 1999]))
    array([1.50000000e+000, 5.35754304e+300])
    """
    aval = get_aval(x)
    if aval.dtype not in matrix_dtypes:
        names = ", ".join(dtype.name for dtype in matrix_dtypes)
        raise ArgumentTypeError(f"times_power_of_two: expected an array of {names}, got {aval}; convert with astype")
    dtype = real_dtype(aval.dtype)
    most = np.int64(_bias(dtype) - 1)
    for _ in range(_STEPS):  # after so many steps the product is infinite or zero
        step = max(min(exponents, most), np.int64(-most))
        x = mul(x, _power_of_two(step, dtype))
        exponents = sub(exponents, step)
    return x


def _bias(dtype: np.dtype[Any]) -> int:
    return int(np.finfo(dtype).maxexp) - 1


def _bits(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"uint{8 * dtype.itemsize}")


def _exponents(size: Any) -> tuple[Any, Any]:
    """Returns integers e, and the powers 2**e that are nearest to numbers that are not negative."""
    dtype = get_aval(size).dtype
    bits = _bits(dtype)
    # The exponent of a number times the root of 1/2, plus 1, is that of the nearest power.
    scaled = bitcast_convert_type(mul(size, dtype.type(math.sqrt(0.5))), bits)
    biased = shift_right_logical(scaled, np.asarray(np.finfo(dtype).nmant, bits)[()])
    exponents = sub(convert_element_type(biased, np.int64), np.int64(_bias(dtype) - 1))
    is_normal = bitwise_and(gt(size, np.finfo(dtype).tiny), is_finite(size))
    exponents = where(is_normal, max(exponents, np.int64(1 - _bias(dtype))), np.int64(0))
    exponents = min(exponents, np.int64(_bias(dtype) - 1))
    return exponents, _power_of_two(exponents, dtype)


def _power_of_two(exponents: Any, dtype: np.dtype[Any]) -> Any:
    bits = _bits(dtype)
    biased = convert_element_type(max(exponents + np.int64(_bias(dtype)), np.int64(1)), bits)
    return bitcast_convert_type(shift_left(biased, np.asarray(np.finfo(dtype).nmant, bits)[()]), dtype)
