"""Sorting, the largest elements, and splitting: values, order of special numbers, types and errors."""

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentValueError, LawfulError, ShapedArray, as_dtype

SPECIAL = np.array([0.0, -0.0, np.nan, -np.nan, 3.0, -np.inf, np.nan, 0.0])


def test_sort_of_nan_and_zeros():
    values, places = ops.sort((SPECIAL, np.arange(8)))
    np.testing.assert_array_equal(places, [5, 0, 1, 7, 4, 2, 3, 6])
    np.testing.assert_array_equal(values, np.sort(SPECIAL))
    np.testing.assert_array_equal(np.signbit(values[1:4]), [False, True, False])


def test_sort_by_several_keys():
    first, second, third = ops.sort((np.array([1, 0, 1, 0]), np.array([2.0, 1, 1, 3]), np.arange(4)), num_keys=2)
    np.testing.assert_array_equal(first, [0, 0, 1, 1])
    np.testing.assert_array_equal(second, [1, 3, 1, 2])
    np.testing.assert_array_equal(third, [1, 3, 2, 0])


def test_sort_of_complex_numbers_by_parts():
    x = np.array([1 + 1j, 1 - 1j, complex(0, np.nan), complex(np.nan, 0), 0])
    np.testing.assert_array_equal(ops.argsort(x), [4, 2, 1, 0, 3])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64"])
def test_sort_keeps_the_dtype(dtype: str):
    x = np.array([[1, 0, 1], [0, 1, 0]]).astype(dtype)
    for axis in (0, 1, -1):
        out = ops.sort(x, axis)
        assert out.dtype == x.dtype
        np.testing.assert_array_equal(out, np.sort(x, axis))


def test_sort_of_low_precision():
    x = np.array([2.0, np.nan, -1.0]).astype("bfloat16")
    assert ops.sort(x).dtype == "bfloat16"
    np.testing.assert_array_equal(ops.sort(x).astype(float), [-1, 2, np.nan])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1,)])
def test_sort_of_few_elements(shape: tuple[int, ...]):
    assert ops.sort(np.zeros(shape)).shape == shape
    assert ops.argsort(np.zeros(shape)).dtype == np.int64
    values, indices = ops.top_k(np.zeros(shape), 0)
    assert values.shape == indices.shape == (*shape[:-1], 0)


def test_top_k_returns_the_largest_elements():
    values, places = ops.top_k(SPECIAL, 8)
    np.testing.assert_array_equal(places, [2, 3, 6, 4, 0, 1, 7, 5])
    np.testing.assert_array_equal(values, SPECIAL[places])
    assert places.dtype == np.int32
    values, places = ops.top_k(np.array([[1, 5], [3, 4], [7, 0]]), 2, axis=0)
    np.testing.assert_array_equal(values, [[7, 5], [3, 4]])
    np.testing.assert_array_equal(places, [[2, 0], [1, 1]])


def test_top_k_of_unsigned_and_booleans():
    np.testing.assert_array_equal(ops.top_k(np.array([3, 255, 0], "uint8"), 2)[0], [255, 3])
    np.testing.assert_array_equal(ops.top_k(np.array([False, True, True]), 2)[1], [1, 2])


ERRORS = {
    "no dimension": (lambda: ops.sort(1.0), np.exceptions.AxisError),
    "dimension": (lambda: ops.sort(SPECIAL, 1), np.exceptions.AxisError),
    "shapes": (lambda: ops.sort((SPECIAL, SPECIAL[:2])), TypeError),
    "no arrays": (lambda: ops.sort(()), TypeError),
    "keys": (lambda: ops.sort((SPECIAL, SPECIAL), num_keys=3), ValueError),
    "no keys": (lambda: ops.sort(SPECIAL, num_keys=0), ValueError),
    "dimension of argsort": (lambda: ops.argsort(SPECIAL, -2), np.exceptions.AxisError),
    "too many": (lambda: ops.top_k(SPECIAL, 9), ValueError),
    "negative": (lambda: ops.top_k(SPECIAL, -1), ValueError),
    "complex": (lambda: ops.top_k(SPECIAL + 1j, 1), TypeError),
    "scalar": (lambda: ops.top_k(1.0, 1), np.exceptions.AxisError),
    "parts": (lambda: ops.split(SPECIAL, (1, 2)), ValueError),
    "negative part": (lambda: ops.split(SPECIAL, (9, -1)), ValueError),
    "axis of parts": (lambda: ops.split(SPECIAL, (8,), 1), np.exceptions.AxisError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_sort_and_top_k_errors(name: str):
    call, cls = ERRORS[name]
    with pytest.raises(cls, match="expected") as error:
        call()
    assert isinstance(error.value, LawfulError)


def test_split_returns_parts():
    x = np.arange(12).reshape(3, 4)
    parts = ops.split(x, (1, 0, 3), axis=-1)
    assert isinstance(parts, list)
    for part, expected in zip(parts, np.split(x, [1, 1], axis=1), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_take_along_dimension_by_line():
    x = np.arange(12.0).reshape(3, 4)
    where = np.array([[3, 0], [1, 1], [2, 0]])
    np.testing.assert_array_equal(ops.take_along_dimension(x, where, 1), np.take_along_axis(x, where, 1))


def test_cumlogsumexp_does_not_overflow():
    x = np.array([-np.inf, 1000.0, 1000.0, -np.inf])
    np.testing.assert_allclose(ops.cumlogsumexp(x), [-np.inf, 1000, 1000 + np.log(2), 1000 + np.log(2)])
    np.testing.assert_allclose(ops.cumlogsumexp(x, reverse=True), ops.cumlogsumexp(x[::-1])[::-1])
    assert np.isnan(ops.cumlogsumexp(np.array([0.0, np.nan, 1.0])))[1:].all()
    with pytest.raises(TypeError, match="expected"):
        ops.cumlogsumexp(np.arange(3))


def test_top_k_of_more_elements_than_int32_counts() -> None:
    with pytest.raises(ArgumentValueError, match="indices are int32"):
        ops.top_k_p.rule("abstract_eval")(ShapedArray((2**31,), "int8"), k=1, axis=0, is_stable=True)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e5m2fnuz"])
def test_sort_of_low_precision_with_nan(dtype: str) -> None:
    x = np.array([np.nan, 1, np.nan, 2, 1, -1])
    narrow = x.astype(as_dtype(dtype))
    np.testing.assert_array_equal(ops.sort(narrow).astype(float), np.sort(x))
    np.testing.assert_array_equal(ops.argsort(narrow), np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(ops.top_k(narrow, 6)[1], ops.top_k(x, 6)[1])
