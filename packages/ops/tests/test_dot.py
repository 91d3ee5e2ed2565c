"""Products: promotion, accumulation, NumPy's shapes, batching and errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, LawfulError, UndefinedPrimal, get_aval

RANDOM = np.random.default_rng(0)
MATRIX = (((1,), (0,)), ((), ()))


Strictly = Callable[..., Any]


def test_dot_general_promotes_dtypes() -> None:
    out = ops.dot_general(np.ones((2, 3), np.int32), np.ones((3, 2), np.float32), MATRIX)
    assert out.dtype == np.float64
    assert (
        ops.dot_general(np.ones((2, 3), ml_dtypes.bfloat16), np.ones((3,), np.int8), MATRIX).dtype == ml_dtypes.bfloat16
    )


def test_dot_general_takes_lists_and_negative_dimensions() -> None:
    x, y = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(4, 2, 5))
    got = ops.dot_general(x, y, [[[-1], [0]], [[0], [-2]]])
    np.testing.assert_allclose(got, np.einsum("bik,kbj->bij", x, y))


def test_dot_general_in_low_precision_rounds_once() -> None:
    x = np.ones((1, 1000), ml_dtypes.bfloat16)
    assert ops.dot_general(x, x.T, MATRIX) == 1000


def test_dot_general_adds_in_the_preferred_dtype() -> None:
    x = np.full((1, 1000), 100, np.int8)
    assert ops.dot_general(x, x.T, MATRIX, preferred_element_type="int32") == 10_000_000
    half = np.full((1, 1000), 30, np.float16)
    assert ops.dot_general(half, half.T, MATRIX, preferred_element_type="float32") == 900_000
    assert ops.dot_general(half, half.T, MATRIX, preferred_element_type="float16").dtype == np.float16
    with pytest.raises(ArgumentTypeError, match="expected a preferred_element_type that products of float16"):
        ops.dot_general(half, half.T, MATRIX, preferred_element_type="int32")


def test_dot_general_transpose_preferred_element_type() -> None:
    """The cotangent has the dtype of the operand, not the preferred element type."""
    x, y = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    params = {"dimension_numbers": MATRIX, "preferred_element_type": np.dtype(np.float64)}
    ct = np.ones((2, 4))
    assert get_aval(ops.dot_general_p.rule("transpose")(ct, UndefinedPrimal(get_aval(x)), y, **params)[0]) == get_aval(
        x
    )
    assert get_aval(ops.dot_general_p.rule("transpose")(ct, x, UndefinedPrimal(get_aval(y)), **params)[1]) == get_aval(
        y
    )


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((((1,), (1,)), ((), ())), "expected contracting dimensions in pairs of equal length"),
        ((((0, 1), (0,)), ((), ())), "expected contracting dimensions in pairs"),
        ((((), ()), ((0,), (0,))), "expected batch dimensions in pairs"),
        ((((1,), (0,)), ((1,), (0,))), "name each dimension at most once"),
        (((1, 0), ()), "give four sequences of dimensions"),
    ],
)
def test_dot_general_refuses_dimension_numbers(numbers: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        ops.dot_general(np.ones((2, 3)), np.ones((3, 4)), numbers)


def test_dot_general_primitive_refuses_mixed_dtypes() -> None:
    with pytest.raises(ArgumentTypeError, match="dot_general_p: expected operands of one dtype"):
        ops.dot_general_p.rule("abstract_eval")(
            get_aval(np.ones((2, 3))),
            get_aval(np.ones((3, 4), int)),
            dimension_numbers=MATRIX,
            preferred_element_type=None,
        )


@pytest.mark.parametrize("dims", [(0, None), (1, None), (2, None), (None, 0), (None, 2)])
def test_dot_general_batch_does_not_repeat_operands(dims: tuple[int | None, int | None], strictly: Strictly) -> None:
    x = RANDOM.normal(size=(2, 3) if dims[0] is None else np.insert([2, 3], dims[0], 7))
    y = RANDOM.normal(size=(3, 4) if dims[1] is None else np.insert([3, 4], dims[1], 7))
    with strictly() as trace:
        ops.dot_general_p.rule("batch")([x, y], dims, dimension_numbers=MATRIX, preferred_element_type=None)
    assert trace.names == ["dot_general"]


SHAPES = [(3,), (2, 3), (3, 2), (1, 3), (5, 2, 3), (1, 3, 2), (4, 1, 2, 3), (4, 5, 3, 2), (1, 1, 3, 2), (0, 3), (3, 0)]


@pytest.mark.parametrize(("a_shape", "b_shape"), list(itertools.product(SHAPES, SHAPES)))
def test_matmul_equals_numpy(a_shape: tuple[int, ...], b_shape: tuple[int, ...], strictly: Strictly) -> None:
    a, b = RANDOM.normal(size=a_shape), RANDOM.normal(size=b_shape)
    try:
        want = np.matmul(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="matmul: expected") as info:
            ops.matmul(a, b)
        assert isinstance(info.value, LawfulError)
        assert f"{a_shape} and {b_shape}" in str(info.value)
        return
    np.testing.assert_allclose(ops.matmul(a, b), want)
    with strictly() as trace:  # where NumPy's function is not called
        got = ops.matmul(a, b)
    assert "broadcast_in_dim" not in trace.names
    assert np.shape(got) == want.shape
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(
    "dtypes", list(itertools.product(["bool", "int8", "float16", "float32", "complex64"], repeat=2))
)
def test_matmul_promotes_as_numpy(dtypes: tuple[str, str], strictly: Strictly) -> None:
    a, b = np.ones((2, 3), dtypes[0]), np.ones((3, 2), dtypes[1])
    want = np.matmul(a, b)
    with strictly():
        got = ops.matmul(a, b)
    assert got.dtype == ops.matmul(a, b).dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_matmul_with_a_scalar_raises() -> None:
    with pytest.raises(ValueError, match=r"matmul: expected arrays with at least one dimension, got .*; multiply"):
        ops.matmul(np.ones((2, 3)), 2.0)


@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [((), (2, 3)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (5, 3, 2)), ((0,), (0, 2))],
)
def test_dot_equals_numpy(a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> None:
    a, b = RANDOM.normal(size=a_shape), RANDOM.normal(size=b_shape)
    np.testing.assert_allclose(ops.dot(a, b), np.dot(a, b))
    with pytest.raises(ValueError, match=r"dot: expected .* \(2, 3\) and \(2, 3\)"):
        ops.dot(np.ones((2, 3)), np.ones((2, 3)))


@pytest.mark.parametrize("axes", [0, 1, 2, ([0, 1], [1, 0]), (-1, 0), ([], [])])
def test_tensordot_equals_numpy(axes: Any) -> None:
    a, b = RANDOM.normal(size=(3, 3, 3)), RANDOM.normal(size=(3, 3, 4))
    np.testing.assert_allclose(ops.tensordot(a, b, axes), np.tensordot(a, b, axes))
    with pytest.raises(ValueError, match="tensordot: expected"):
        ops.tensordot(a, b, ([0], [2]))


def test_dot_general_precision() -> None:
    x, numbers = np.ones((2, 2), np.float32), MATRIX
    for precision in (None, "highest", ops.Precision.HIGH, ("default", ops.Precision.HIGHEST), "tensorfloat32"):
        np.testing.assert_array_equal(ops.dot_general(x, x, numbers, precision), [[2, 2], [2, 2]])
    for precision in ("exact", 3, ("highest",), ("highest", "exact")):
        with pytest.raises(ArgumentValueError, match="expected a precision of None"):
            ops.dot_general(x, x, numbers, precision)


def test_precision_by_name() -> None:
    names = {"high": "HIGH", "float32": "HIGHEST", "Default": "DEFAULT", "tensorfloat32": "HIGH"}
    assert {name: ops.Precision(name).name for name in names} == names
    with pytest.raises(ValueError, match="not a valid Precision"):
        ops.Precision("exact")
