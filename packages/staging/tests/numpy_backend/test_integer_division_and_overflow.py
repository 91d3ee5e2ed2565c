"""Integers where machines differ, eagerly and compiled alike: division by zero, and numbers that do not fit."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.staging import jit


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_division_by_zero_gives_zero_as_numpy(dtype: str) -> None:
    x, y = np.array([7, 0, 5, 7], dtype), np.array([0, 0, 2, 7], dtype)
    with np.errstate(all="ignore"):
        want = [x // y, x % y, ops.div(x, y), ops.rem(x, y)]
    got = jit(lambda x, y: [x // y, x % y, ops.div(x, y), ops.rem(x, y)])(x, y)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("number", [-2, 300, 3, 0])
@pytest.mark.parametrize("compare", [ops.lt, ops.le, ops.gt, ops.ge, ops.eq, ops.ne])
def test_a_python_integer_is_compared_by_value(number: int, compare: Any) -> None:
    x = np.array([0, 3, 255], "uint8")
    want = compare(number, x)
    np.testing.assert_array_equal(np.asarray(jit(compare)(number, x)), want)
    np.testing.assert_array_equal(np.asarray(jit(lambda x: compare(number, x))(x)), want)


@pytest.mark.parametrize("numbers", [(3, -2, 300), (-2, 3), (300, 3, -2)], ids=str)
def test_how_one_integer_was_compared_says_nothing_of_the_next(numbers: tuple[int, ...]) -> None:
    # A shape of its own, so that no other comparison came before.
    x = np.arange(40 + len(numbers) + numbers[0] % 7, dtype="uint8")
    for number in numbers:
        np.testing.assert_array_equal(np.asarray(jit(lambda x, n=number: x < n)(x)), x < number)


def test_booleans_have_no_quotient() -> None:
    for divide in (ops.div, jit(ops.div)):
        with pytest.raises(TypeError, match="div"):
            divide(True, np.bool_(True))
