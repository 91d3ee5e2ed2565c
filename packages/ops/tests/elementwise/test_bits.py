"""Ops on bits: counts, bitcasts, reduced precision and the next float."""

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError

INTEGERS = [f"{kind}{width}" for kind in ("int", "uint") for width in (8, 16, 32, 64)]


def of_bits(dtype):
    bounds = np.iinfo(dtype)
    return np.array([0, 1, 2, 5, 100, bounds.max, bounds.min, bounds.min + 1], dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_population_count_and_clz_equal_python(dtype):
    x, width = of_bits(dtype), 8 * np.dtype(dtype).itemsize
    patterns = [int(n) % 2**width for n in x]
    for function, expected in (
        (ops.population_count, [n.bit_count() for n in patterns]),
        (ops.clz, [width - n.bit_length() for n in patterns]),
    ):
        out = function(x)
        assert out.dtype == dtype
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("function", [ops.population_count, ops.clz])
@pytest.mark.parametrize("x", [True, 1.0, 1j, np.array([1.0], np.float32), np.array([True])])
def test_population_count_and_clz_refuse_floats(function, x):
    with pytest.raises(ArgumentTypeError, match=f"{function.__name__}: expected integers, got"):
        function(x)


def test_population_count_of_python_integers_is_int64():
    assert ops.clz(1) == 63
    assert ops.population_count(-1).dtype == np.int64


def test_bitcast_convert_type_reads_memory():
    x = np.array([[1.0, -2.0], [0.5, np.inf]])
    np.testing.assert_array_equal(ops.bitcast_convert_type(x, "int64"), x.view("int64"))
    np.testing.assert_array_equal(ops.bitcast_convert_type(x, "int16"), x.view("int16").reshape(2, 2, 4))
    np.testing.assert_array_equal(ops.bitcast_convert_type(x.astype("float32"), "uint64"), [
        int.from_bytes(row.tobytes(), "little") for row in x.astype("float32")
    ])  # fmt: skip
    np.testing.assert_array_equal(ops.bitcast_convert_type(x.T, "int64"), x.T.copy().view("int64"))
    assert ops.bitcast_convert_type(np.zeros((0, 3)), "int32").shape == (0, 3, 2)
    assert ops.bitcast_convert_type(np.zeros((0, 2), "int32"), "float64").shape == (0,)


def test_bitcast_convert_type_round_trip():
    x = np.random.default_rng(0).normal(size=(3, 4))
    for dtype in ("int8", "bfloat16", "float16", "uint32", "int64"):
        np.testing.assert_array_equal(ops.bitcast_convert_type(ops.bitcast_convert_type(x, dtype), "float64"), x)


def test_bitcast_convert_type_returns_a_copy():
    x = np.zeros(2)
    out = ops.bitcast_convert_type(x, "float64")
    out[0] = 1.0
    assert x[0] == 0.0


@pytest.mark.parametrize(
    ("x", "dtype", "error", "match"),
    [
        (np.array([True]), "uint8", ArgumentTypeError, "integers or floats, got bool and uint8"),
        (np.array([1j]), "float64", ArgumentTypeError, "real and imag"),
        (np.array([1, 2], "uint8"), "bool", ArgumentTypeError, "integers or floats"),
        (np.ones(3, "float32"), "float64", ArgumentValueError, r"length 2 to make float64 of float32, got .* \(3,\)"),
        (np.float32(1), "float64", ArgumentValueError, r"the shape \(\)"),
        (np.ones(3), "str", ArgumentTypeError, "dtype"),
    ],
)  # fmt: skip
def test_bitcast_convert_type_errors(x, dtype, error, match):
    with pytest.raises(error, match=match):
        ops.bitcast_convert_type(x, dtype)


def test_bitcast_convert_type_to_same_dtype():
    """Bool and complex arrays convert to their own dtype."""
    for x in (np.array([True, False]), np.array([1j])):
        np.testing.assert_array_equal(ops.bitcast_convert_type(x, x.dtype), x)


NUMBERS = np.array([0.0, -0.0, 1.1, -1.1, 65504.0, 65519.9, 65520.0, 1e300, 6.1e-5, 6e-5, 1e-300, np.nan, np.inf])


@pytest.mark.parametrize(("dtype", "bits"), [("float32", (8, 23)), ("float16", (5, 10)), ("bfloat16", (8, 7))])
def test_reduce_precision_equals_conversion_round_trip(dtype, bits):
    x = np.concatenate([NUMBERS, np.random.default_rng(0).normal(size=1000)])
    narrow = np.dtype(getattr(ml_dtypes, dtype, dtype))
    with np.errstate(over="ignore", under="ignore"):
        expected = x.astype(narrow).astype("float64")
    # reduce_precision flushes subnormal numbers to zero, with their sign.
    expected[np.abs(expected) < float(ml_dtypes.finfo(narrow).tiny)] *= 0.0
    np.testing.assert_array_equal(ops.reduce_precision(x, *bits), expected)
    np.testing.assert_array_equal(np.signbit(ops.reduce_precision(x, *bits)), np.signbit(expected))


def test_reduce_precision_rounds_ties_to_even():
    np.testing.assert_array_equal(ops.reduce_precision(np.array([1.125, 1.375, 1.625]), 8, 2), [1.0, 1.5, 1.5])


def test_reduce_precision_errors():
    for x in (1, np.array([True]), 1j):
        with pytest.raises(ArgumentTypeError, match="reduce_precision: expected floats"):
            ops.reduce_precision(x, 8, 7)
    with pytest.raises(ArgumentValueError, match="exponent_bits of at least 1, got 0"):
        ops.reduce_precision(1.0, 0, 7)
    with pytest.raises(ArgumentValueError, match="mantissa_bits of at least 0, got -1"):
        ops.reduce_precision(1.0, 8, -1)
    with pytest.raises(ArgumentTypeError, match="integers as numbers of bits"):
        ops.reduce_precision(1.0, 8.0, 7)


def test_nextafter_equals_numpy():
    x = np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 1e308, 0.0])
    with np.errstate(all="ignore"):
        for y in (np.inf, -np.inf, 0.0, np.nan):
            np.testing.assert_array_equal(ops.nextafter(x, y), np.nextafter(x, y))
    assert ops.nextafter(np.float16(1), np.float16(2)).dtype == np.float16
    with pytest.raises(ArgumentTypeError, match="nextafter"):
        ops.nextafter(1j, 1.0)
