"""Positions of extrema: ties, NaN, the dtype of the index, errors."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, MissingRuleError, ShapedArray


def test_argmax_of_equal_elements_is_the_first() -> None:
    x = np.array([[1, 3, 3], [2, 2, 1]])
    np.testing.assert_array_equal(ops.argmax(x, 1, "int32"), np.array([1, 0]))
    np.testing.assert_array_equal(ops.argmin(x, 0, "int64"), np.array([0, 1, 1]))
    assert ops.argmax(x, 1, "int32").dtype == np.int32


@pytest.mark.parametrize("dtype", ["float64", "float16", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_argmax_with_nan_is_the_first_nan(dtype: str) -> None:
    x = np.array([5, np.nan, np.nan, -5]).astype(dtype)
    assert ops.argmax(x, 0, "int64") == 1
    assert ops.argmin(x, -1, "int64") == 1


def test_argmax_without_elements_raises() -> None:
    with pytest.raises(ValueError, match=r"argmax: expected at least one element along axis 1, got the shape \(2, 0\)"):
        ops.argmax(np.zeros((2, 0)), 1, "int64")
    with pytest.raises(ArgumentTypeError, match="argmax_p: expected one axis with at least one element"):
        ops.argmax_p.rule("abstract_eval")(ShapedArray((0,), float), axes=(0,), index_dtype=np.dtype("int32"))


def test_argmax_with_small_index_dtype_raises() -> None:
    with pytest.raises(ArgumentTypeError, match="argmin: expected an integer index_dtype, got float32"):
        ops.argmin(np.zeros(3), 0, "float32")
    with pytest.raises(ValueError, match="argmin: expected an index_dtype that positions up to 128 fit, got int8"):
        ops.argmin(np.zeros(129), 0, "int8")
    assert ops.argmin(np.zeros(128), 0, "int8") == 0


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("last", [1j, complex(np.nan, 0), complex(0, np.nan)])
def test_argmax_of_complex_equals_numpy(name: str, last: complex) -> None:
    x = np.array([1 + 1j, 1 + 2j, 1 + 2j, last, 0])
    assert getattr(ops, name)(x, 0, "int64") == getattr(np, name)(x)


def test_argmax_transpose_is_absent() -> None:
    with pytest.raises(MissingRuleError, match="Transpose rule for 'argmax' does not exist: it is not linear"):
        ops.argmax_p.rule("transpose")
