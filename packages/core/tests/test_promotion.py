"""Promotion of dtypes is NumPy 2's, Python scalars included; the low-precision floats extend it."""

import itertools
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful.core import (
    ArgumentTypeError,
    as_dtype,
    bfloat16,
    float0,
    get_aval,
    is_complex,
    is_float,
    is_inexact,
    kind,
    promote_dtypes,
    python_scalar_dtype,
    short_name,
    supported_dtypes,
)

NUMPY_DTYPES = [
    np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
]
LOW = [dtype for dtype in supported_dtypes if dtype not in NUMPY_DTYPES]
SCALARS = [True, 3, 3.0, 3j]


def strong(dtype: Any) -> tuple[np.dtype[Any], bool]:
    return np.dtype(dtype), False


def weak(value: Any) -> tuple[np.dtype[Any], bool]:
    return python_scalar_dtype(type(value)), True


def test_promotion_two_families_of_dtypes_are_all_there() -> None:
    assert set(NUMPY_DTYPES) < set(supported_dtypes)
    assert {dtype.name for dtype in LOW} == {
        "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz",
    }  # fmt: skip


@pytest.mark.parametrize("a", NUMPY_DTYPES, ids=str)
def test_two_arrays_promote_as_in_numpy(a: np.dtype[Any]) -> None:
    for b in NUMPY_DTYPES:
        assert promote_dtypes(strong(a), strong(b)) == (np.result_type(a, b), False)


@pytest.mark.parametrize("a", NUMPY_DTYPES, ids=str)
def test_three_arrays_promote_as_in_numpy(a: np.dtype[Any]) -> None:
    for b, c in itertools.product(NUMPY_DTYPES, repeat=2):
        assert promote_dtypes(strong(a), strong(b), strong(c)) == (np.result_type(a, b, c), False)


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
@pytest.mark.parametrize("a", NUMPY_DTYPES, ids=str)
def test_an_array_and_a_python_scalar_promote_as_in_numpy(a: np.dtype[Any], scalar: Any) -> None:
    expected = np.result_type(a, scalar)
    assert promote_dtypes(strong(a), weak(scalar)) == (expected, False)
    assert promote_dtypes(weak(scalar), strong(a)) == (expected, False)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SCALARS, repeat=2)), ids=repr)
def test_python_scalars_promote_as_python_and_stay_weak(a: Any, b: Any) -> None:
    expected = bool if (type(a), type(b)) == (bool, bool) else type(a + b)
    assert promote_dtypes(weak(a), weak(b)) == (python_scalar_dtype(expected), True)


@pytest.mark.parametrize("a", NUMPY_DTYPES, ids=str)
def test_an_array_and_two_python_scalars_promote_as_in_numpy(a: np.dtype[Any]) -> None:
    for x, y in itertools.product([3, 3.0, 3j], repeat=2):
        assert promote_dtypes(weak(x), strong(a), weak(y)) == (np.result_type(x, a, y), False)


def test_promotion_numpy_scalar_is_strong() -> None:
    assert get_aval(np.float32(1)).weak_type is False
    assert promote_dtypes(strong(np.float32), strong(np.float64)) == (np.dtype(np.float64), False)


@pytest.mark.parametrize("low", LOW, ids=str)
def test_promote_dtypes_low_precision_float(low: np.dtype[Any]) -> None:
    """A low-precision float wins over integers and Python scalars, and loses to wider floats."""
    for other in NUMPY_DTYPES:
        if other.kind in "biu":
            assert promote_dtypes(strong(low), strong(other)) == (low, False)
            assert promote_dtypes(strong(other), strong(low)) == (low, False)
        elif (low, other) != (bfloat16, np.float16):
            assert promote_dtypes(strong(low), strong(other)) == (other, False), "the wider format wins"
    for scalar in [True, 3, 3.0]:
        assert promote_dtypes(strong(low), weak(scalar)) == (low, False)
    assert promote_dtypes(strong(low), weak(3j)) == (np.dtype(np.complex64), False)
    assert promote_dtypes(strong(low), strong(low)) == (low, False)


def test_promotion_two_half_precisions_meet_in_float32() -> None:
    assert promote_dtypes(strong(bfloat16), strong(np.float16)) == (np.dtype(np.float32), False)


@pytest.mark.parametrize("low", LOW[1:], ids=str)
def test_promotion_float_of_16_bits_wins_over_one_of_8(low: np.dtype[Any]) -> None:
    for half in (bfloat16, np.dtype(np.float16)):
        assert promote_dtypes(strong(low), strong(half)) == (half, False)


def test_promote_dtypes_incompatible_float8_error() -> None:
    """Low-precision floats without a common format do not promote."""
    with pytest.raises(ArgumentTypeError, match="convert with astype"):
        promote_dtypes(strong(ml_dtypes.float8_e4m3fn), strong(ml_dtypes.float8_e5m2))


def test_promotion_commutes() -> None:
    for a, b in itertools.product(supported_dtypes, repeat=2):
        try:
            expected = promote_dtypes(strong(a), strong(b))
        except ArgumentTypeError:
            with pytest.raises(ArgumentTypeError):
                promote_dtypes(strong(b), strong(a))
        else:
            assert promote_dtypes(strong(b), strong(a)) == expected


def test_promotion_of_many_is_found_at_once_as_in_numpy() -> None:
    dtypes = [np.dtype(name) for name in ("int16", "uint16", "float32")]
    assert reduce(np.promote_types, dtypes) == np.float64, "so that a fold is not enough"
    assert promote_dtypes(*map(strong, dtypes)) == (np.dtype(np.float32), False)


# Dtypes and their names.


def test_promotion_kinds() -> None:
    assert {str(dtype): kind(dtype) for dtype in supported_dtypes if dtype not in NUMPY_DTYPES} == {
        str(dtype): "f" for dtype in LOW
    }
    assert all(kind(dtype) == dtype.kind for dtype in NUMPY_DTYPES)
    for dtype in supported_dtypes:
        assert is_float(dtype) == (kind(dtype) == "f")
        assert is_complex(dtype) == (kind(dtype) == "c")
        assert is_inexact(dtype) == (kind(dtype) in "fc")
    assert not is_inexact(float0)


def test_promotion_short_names_are_different_and_those_of_jax() -> None:
    names = {short_name(dtype) for dtype in (*supported_dtypes, float0)}
    assert len(names) == len(supported_dtypes) + 1
    assert {"f64", "f32", "f16", "bf16", "i8", "u64", "c64", "c128", "bool", "float0"} <= names


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (float, np.float64),
        (int, np.int64),
        (bool, np.bool_),
        (complex, np.complex128),
        ("float32", np.float32),
        ("bfloat16", ml_dtypes.bfloat16),
        ("float8_e5m2", ml_dtypes.float8_e5m2),
        (np.int8, np.int8),
        (np.dtype("<f4"), np.float32),
        (np.dtype(">f4"), np.float32),
        (ml_dtypes.bfloat16, ml_dtypes.bfloat16),
        ("f4", np.float32),
    ],
)
def test_as_dtype_takes_what_numpy_takes(given: Any, expected: Any) -> None:
    assert as_dtype(given) == np.dtype(expected)
    assert as_dtype(given).isnative


@pytest.mark.parametrize(
    "given",
    ["float33", object, np.str_, "U3", "datetime64[s]", np.longdouble, [("a", int)], 3, None.__class__, "i2,i2"],
)
def test_as_dtype_refuses_what_lawful_has_no_arrays_of(given: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"dtype: expected"):
        as_dtype(given)
