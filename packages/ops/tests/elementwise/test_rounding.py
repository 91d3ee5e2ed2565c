"""Rounding to the nearest integer: ties go away from zero, or to the even one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import ops
from lawful.core import ArgumentValueError, bfloat16

TIES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]


@pytest.mark.parametrize("dtype", ["float16", bfloat16, "float32", "float64"])
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (ops.RoundingMethod.AWAY_FROM_ZERO, [-3, -2, -1, 1, 2, 3]),
        (ops.RoundingMethod.TO_NEAREST_EVEN, [-2, -2, -0.0, 0, 2, 2]),
    ],
)
def test_round_of_ties(dtype, method: ops.RoundingMethod, expected: list[float]) -> None:
    x = np.array(TIES, dtype)
    found = ops.round(x, method)
    assert found.dtype == x.dtype
    assert found.astype(float).tolist() == expected
    np.testing.assert_array_equal(np.signbit(found.astype(float)), np.signbit(x.astype(float)))


@given(st.floats())
def test_round_to_the_nearest_integer(x: float) -> None:
    found = float(ops.round(np.float64(x)))
    if math.isfinite(x):
        whole = int(abs(x))
        assert abs(found) == whole + (abs(x) - whole >= 0.5)
        assert math.copysign(1.0, found) == math.copysign(1.0, x)
    else:
        np.testing.assert_equal(found, x)


def test_round_just_below_a_half() -> None:
    """The floor of the number plus a half would be 1."""
    assert ops.round(np.nextafter(0.5, 0.0)) == 0.0
    assert ops.round(2.0**52 + 1.0) == 2.0**52 + 1.0


def test_round_unknown_method_raises() -> None:
    with pytest.raises(ArgumentValueError, match="round: expected a rounding_method of RoundingMethod, got 7"):
        ops.round(1.0, 7)
