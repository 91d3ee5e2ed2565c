"""Convolutions: promotion, accumulation, lengths of zero, infinities, transposes and errors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, UndefinedPrimal, Zero, get_aval

RANDOM = np.random.default_rng(0)


def params(x: Any, y: Any, **changed: Any) -> dict[str, Any]:
    n = x.ndim - 2
    order = tuple(range(x.ndim))
    return {
        "window_strides": (1,) * n,
        "padding": ((0, 0),) * n,
        "lhs_dilation": (1,) * n,
        "rhs_dilation": (1,) * n,
        "dimension_numbers": (order, order, order),
        "feature_group_count": 1,
        "batch_group_count": 1,
        "precision": None,
        "preferred_element_type": None,
        **changed,
    }


def test_conv_promotes_dtypes() -> None:
    x, y = np.ones((1, 1, 3), np.int32), np.ones((1, 1, 2), np.float32)
    assert ops.conv_general_dilated(x, y, (1,), "VALID").dtype == np.float64
    assert ops.conv_general_dilated(x > 0, x, (1,), "VALID").dtype == np.int32


def test_conv_of_booleans_is_and_then_or() -> None:
    x = np.array([[[True, False, False]]])
    assert ops.conv_general_dilated(x, np.array([[[True, True]]]), (1,), "VALID").tolist() == [[[True, False]]]


def test_conv_in_low_precision_rounds_once() -> None:
    x = np.ones((1, 1000, 1), ml_dtypes.bfloat16)
    assert ops.conv_general_dilated(x, x, (1,), "VALID").item() == 1000


def test_conv_of_64_bit_integers_is_exact() -> None:
    x = np.array([[[2**62 + 1]]], np.uint64)
    y = np.ones((1, 1, 1), np.uint64)
    got = ops.conv_general_dilated(x, y, (1,), "VALID", preferred_element_type="int64")
    assert got.dtype == np.int64
    assert got.item() == 2**62 + 1


@pytest.mark.parametrize(
    ("lhs", "rhs", "out"),
    [
        ((0, 2, 3), (4, 2, 2), (0, 4, 2)),
        ((2, 0, 3), (4, 0, 2), (2, 4, 2)),
        ((2, 2, 3), (0, 2, 2), (2, 0, 2)),
        ((2, 2, 1), (4, 2, 2), (2, 4, 0)),
        ((2, 2, 0), (4, 2, 2), (2, 4, 0)),
        ((2, 2, 3), (4, 2, 0), (2, 4, 4)),
    ],
)
def test_conv_with_lengths_of_zero(lhs: Any, rhs: Any, out: Any) -> None:
    x, y = np.ones(lhs), np.ones(rhs)
    got = ops.conv_general_dilated(x, y, (1,), "VALID")
    assert np.array_equal(got, np.zeros(out))
    rule = ops.conv_general_dilated_p.rule("transpose")
    assert np.array_equal(rule(got, UndefinedPrimal(get_aval(x)), y, **params(x, y))[0], np.zeros(lhs))
    assert np.array_equal(rule(got, x, UndefinedPrimal(get_aval(y)), **params(x, y))[1], np.zeros(rhs))


def test_conv_without_spatial_dimensions_is_a_product() -> None:
    x, y = RANDOM.normal(size=(3, 2)), RANDOM.normal(size=(4, 2))
    np.testing.assert_allclose(ops.conv_general_dilated(x, y, (), ()), x @ y.T)
    np.testing.assert_allclose(ops.conv_general_dilated(x, y, (), "SAME"), x @ y.T)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_conv_infinite_kernel_meets_no_padding(dtype: str) -> None:
    """Padding and the gaps of a dilated array are not multiplied by the kernel: the product would be NaN."""
    x, y = np.ones((1, 1, 2), dtype), np.array([[[np.inf, 1.0]]])
    with np.errstate(invalid="ignore"):  # a complex product with infinity
        got = ops.conv_general_dilated(x, y.astype(dtype), (1,), [(1, 0)])
    assert got.real.tolist() == [[[1.0, np.inf]]]
    got = ops.conv_general_dilated(np.ones((1, 1, 2)), y, (1,), [(0, 0)], lhs_dilation=(2,))
    assert got.tolist() == [[[np.inf, 1.0]]]


def test_conv_with_reversed_kernel_equals_numpy() -> None:
    x, y = RANDOM.normal(size=7), RANDOM.normal(size=3)
    for mode, padding in (("full", [(2, 2)]), ("valid", "VALID"), ("same", "SAME")):
        got = ops.conv(x[None, None], y[None, None, ::-1], (1,), padding)  # type: ignore[arg-type]
        np.testing.assert_allclose(got[0, 0], np.convolve(x, y, mode))


def test_conv_keeps_symbolic_zeros() -> None:
    x, y = np.ones((1, 1, 3)), np.ones((1, 1, 2))
    zero = Zero(get_aval(np.ones((1, 1, 2))))
    rule = ops.conv_general_dilated_p.rule("transpose")
    assert type(rule(zero, UndefinedPrimal(get_aval(x)), y, **params(x, y))[0]) is Zero
    jvp = ops.conv_general_dilated_p.rule("jvp")
    tangents = (Zero(get_aval(x)), Zero(get_aval(y)))
    assert type(jvp((x, y), tangents, **params(x, y))[1]) is Zero


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        ({"window_strides": (0,)}, ArgumentValueError, "window_strides of at least 1"),
        ({"lhs_dilation": (0,)}, ArgumentValueError, "lhs_dilation of at least 1"),
        ({"rhs_dilation": (1, 1)}, ArgumentValueError, "rhs_dilation of at least 1"),
        ({"window_strides": (1.5,)}, ArgumentTypeError, "expected integers as window_strides"),
        ({"padding": "FULL"}, ArgumentValueError, "expected 'VALID', 'SAME'"),
        ({"padding": [(1,)]}, ArgumentValueError, "expected a pair as padding"),
        ({"padding": [(1, 1), (1, 1)]}, ArgumentValueError, "expected a pair as padding"),
        ({"dimension_numbers": "NCW"}, ArgumentTypeError, "expected three dimension_numbers"),
        ({"dimension_numbers": ("NCW", "OIW", "NWX")}, ArgumentTypeError, "with 'N', 'C' and other letters"),
        ({"dimension_numbers": ((0, 1, 1), (0, 1, 2), (0, 1, 2))}, ArgumentTypeError, "that name each of 3"),
        ({"feature_group_count": 3}, ArgumentValueError, "expected a kernel with lhs features"),
        ({"feature_group_count": -1}, ArgumentValueError, "expected groups of features or of the batch"),
        ({"preferred_element_type": "int8"}, ArgumentTypeError, "expected a preferred_element_type"),
    ],
)
def test_conv_errors(kwargs: dict[str, Any], error: type[Exception], text: str) -> None:
    x, y = np.ones((2, 4, 5)), np.ones((2, 4, 2))
    with pytest.raises(error, match=text):
        ops.conv_general_dilated(x, y, **{"window_strides": (1,), "padding": "SAME", **kwargs})


def test_conv_primitive_is_strict() -> None:
    x, y = np.ones((2, 4, 5)), np.ones((2, 4, 2), np.float32)
    with pytest.raises(ArgumentTypeError, match=r"call lawful\.ops\.conv_general_dilated"):
        ops.conv_general_dilated_p.rule("abstract_eval")(get_aval(x), get_aval(y), **params(x, y))
