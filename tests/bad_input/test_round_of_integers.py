"""Integers rounded to tens, hundreds and so on: exact on every path, and wrapped around beyond the dtype."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.core import ArgumentTypeError
from lawful.staging import jit

DIGITS = (1, 2, 3, 4, 5, 9, 10, 18, 19, 20, 25, 400)


def _exact(x: int, digits: int, info: Any) -> int:
    rounded = round(Fraction(x, 10**digits)) * 10**digits
    return (rounded - info.min) % 2**info.bits + info.min


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_round_of_integers_is_exact(dtype: str) -> None:
    info = np.iinfo(dtype)
    middle = [0, 5, 15, 25, 45, 50, 55, 2**53 + 3, 10**18 + 5 * 10**17, 5 * 10**18, 5 * 10**18 + 1]
    values = (
        {v for x in middle for v in (x, -x)} | {info.min + k for k in (0, 1, 60)} | {info.max - k for k in (0, 1, 60)}
    )
    x = np.array(sorted(v for v in values if info.min <= v <= info.max), dtype)
    expected = {digits: [_exact(int(v), digits, info) for v in x] for digits in DIGITS}

    def by_functions(x: Any) -> dict[int, Any]:
        return {digits: lnp.round(x, -digits) for digits in DIGITS}

    def by_methods(x: Any) -> dict[int, Any]:
        return {digits: x.round(-digits) for digits in DIGITS}

    eager = by_functions(x)
    compiled = [jit(f, backend=b)(x) for f in (by_functions, by_methods) for b in ("numpy", "xla")]
    for found in (eager, *compiled):
        for digits in DIGITS:
            array = np.asarray(found[digits])
            assert (array.dtype, array.tolist()) == (x.dtype, expected[digits])


def test_round_of_integers_is_numpy_s_below_2_53() -> None:
    """NumPy's quotients of float64 are exact enough there, and its results fit."""
    x = np.random.default_rng(0).integers(-(2**53), 2**53, 1000)
    for digits in (1, 2, 7, 15):
        np.testing.assert_array_equal(lnp.round(x, -digits), np.round(x, -digits))


def test_round_of_a_number() -> None:
    assert type(lnp.round(25, -1)) is np.int64
    assert (lnp.round(25, -1), lnp.round(np.uint8(255), -1)) == (20, 4)


def test_round_integer_of_floats_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected integers"):
        ops.round_integer(1.5, 1)
