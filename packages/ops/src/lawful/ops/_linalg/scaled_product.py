"""Products and matrices scaled by powers of two, so that partial products neither overflow nor underflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import get_aval
from lawful.ops._bits.bitcast import bitcast_convert_type
from lawful.ops._elementwise.arithmetic import abs, div, max, min, mul, sub
from lawful.ops._elementwise.comparison import bitwise_and, gt, is_finite, lt, shift_left, shift_right_logical
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._elementwise.division import floor_divide
from lawful.ops._elementwise.select import where
from lawful.ops._linalg.matrices import check_matrices
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
    total = reduce_sum(exponents, axes)
    most = np.int64(_bias(get_aval(size).dtype) - 1)
    for _ in range(_STEPS):  # after so many steps the product is infinite or zero
        step = max(min(total, most), np.int64(-most))
        product = mul(product, _power_of_two(step, get_aval(size).dtype))
        total = sub(total, step)
    return product


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
    size = abs(x)
    rows, columns = (aval.ndim - 1,), (aval.ndim - 2,)
    by_row, scale = _exponents(reduce_max(size, rows))
    by_column, _ = _exponents(reduce_max(div(size, expand_dims(scale, rows)), columns))
    total = reduce_sum(by_row + by_column, columns)
    # The mean of all exponents is given back to each row, and the rest of the division to the first rows.
    count = np.int64(aval.shape[-1])
    mean = floor_divide(total, count)
    rest = convert_element_type(
        lt(iota(np.dtype(np.int64), aval.shape[-1]), expand_dims(sub(total, mean * count), columns)), np.int64
    )
    by_row = expand_dims(mean, columns) + rest - by_row
    exponents = expand_dims(by_row, rows) - expand_dims(by_column, columns)
    out, most = x, np.int64(_bias(get_aval(size).dtype) - 1)
    exponents = where(expand_dims(lt(abs(total), most), (*columns, *rows)), exponents, np.int64(0))
    for _ in range(_STEPS):
        step = max(min(exponents, most), np.int64(-most))
        out = mul(out, _power_of_two(step, get_aval(size).dtype))
        exponents = sub(exponents, step)
    return out


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
