"""Iota and constant arrays."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float64", "complex64", ml_dtypes.bfloat16])
def test_iota_counts(dtype: Any, assert_same: Any) -> None:
    for size in range(4):
        assert_same(ops.iota(dtype, size), np.arange(size).astype(dtype))


def test_iota_wraps_around_as_in_xla() -> None:
    assert ops.iota("int8", 130)[-1] == -127


def test_broadcasted_iota_counts_along_a_dimension() -> None:
    for dimension in range(-3, 3):
        np.testing.assert_array_equal(
            ops.broadcasted_iota("int32", (2, 3, 4), dimension), np.indices((2, 3, 4))[dimension]
        )


def test_iota_is_staged_without_operands(strictly: Any) -> None:
    with strictly() as trace:
        ops.iota(np.int64, np.int32(3))
    assert trace.names == ["iota"]
    assert trace.params == [{"dtype": np.dtype("int64"), "shape": (3,), "dimension": 0}]


@pytest.mark.parametrize(
    ("dtype", "shape", "dimension", "error"),
    [
        ("bool", (2,), 0, ArgumentTypeError),
        ("float64", (), 0, np.exceptions.AxisError),
        ("float64", (2,), 1, np.exceptions.AxisError),
        ("float64", (-2,), 0, ArgumentValueError),
        ("text", (2,), 0, ArgumentTypeError),
        ("float64", (2.0,), 0, ArgumentTypeError),
    ],
)
def test_iota_errors(dtype: Any, shape: Any, dimension: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        ops.broadcasted_iota(dtype, shape, dimension)


@pytest.mark.parametrize("value", [2, 2.5, True, 1j, np.float32(2), np.array(2, "int8"), ml_dtypes.bfloat16(2)])
@pytest.mark.parametrize("shape", [(), (2,), (2, 0), np.array([2, 3])])
def test_full_repeats_a_scalar_and_is_strong(value: Any, shape: Any, strictly: Any, assert_same: Any) -> None:
    want = np.full(shape, value)
    assert_same(ops.full(shape, value), want)
    with strictly() as trace:
        out = ops.full(shape, value)
    assert_same(out, want)
    assert not get_aval(out).weak_type
    assert trace.names == (["broadcast_in_dim"] if len(shape) else [])


def test_full_converts() -> None:
    assert ops.full((2,), 2.5, "int8").tolist() == [2, 2]
    assert ops.full((2,), 2.5, "int8").dtype == "int8"


def test_full_like_needs_the_type_only(strictly: Any, abstract: Any, assert_same: Any) -> None:
    with strictly() as trace:
        assert_same(ops.full_like(abstract((2, 3), "float32"), 7), np.full((2, 3), 7, "float32"))
        assert_same(ops.full_like(abstract((2, 3), "float32"), 7, "int8", (1,)), np.full((1,), 7, "int8"))
    assert trace.names == ["broadcast_in_dim"] * 2
    assert not get_aval(ops.full_like(1.0, 2)).weak_type


def test_full_refuses_an_array() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a scalar as fill_value"):
        ops.full((2,), np.ones(2))
    with pytest.raises(ArgumentValueError, match="not negative"):
        ops.full((-2,), 1.0)


def test_full_returns_a_writable_copy() -> None:
    value = np.array(1.0)
    out = ops.full((2,), value)
    out[0] = 5.0
    assert out.tolist() == [5.0, 1.0]
    assert value == 1.0
