"""Signs of numbers by their sign bit, also of zero and NaN."""

from typing import Any

import numpy as np
import pytest

from lawful.ops import copysign, signbit, with_zero_of_sign

VALUES = [1.5, -1.5, 0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
class TestAllPairs:
    def test_signbit(self, dtype: str) -> None:
        x = np.array(VALUES, dtype)
        np.testing.assert_array_equal(signbit(x), np.signbit(x))

    def test_copysign(self, dtype: str) -> None:
        x, y = np.meshgrid(np.array(VALUES, dtype), np.array(VALUES, dtype))
        check_bits(copysign(x, y), np.copysign(x, y))

    def test_with_zero_of_sign_changes_zeros_only(self, dtype: str) -> None:
        x, y = np.meshgrid(np.array(VALUES, dtype), np.array(VALUES, dtype))
        check_bits(with_zero_of_sign(x, y), np.where(x == 0, np.copysign(x, y), x))


def check_bits(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize(("x", "y"), [(0.0, np.float16(-1)), (np.float16(0), -1.0), (0.5, np.float32(1)), (0.0, -1.0)])
def test_with_zero_of_sign_of_python_scalars(x: Any, y: Any) -> None:
    check_bits(with_zero_of_sign(x, y), np.copysign(x, y))
