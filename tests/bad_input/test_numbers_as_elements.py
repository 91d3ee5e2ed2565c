"""Numbers that become elements of an array, `initial=` of reductions and what `pad` adds: as NumPy assigns them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.core import ArgumentTypeError, ArgumentValueError, IntegerOverflowError
from lawful.staging import jit

pytestmark = pytest.mark.filterwarnings("ignore:invalid value", "ignore:Casting complex")

NUMBERS = [
    2.7, -2.7, 300, -1, np.nan, np.inf, -np.inf, 1e30, 300.7, 1j, True,
    np.int64(300), np.float64(300.7), np.float64(np.nan), np.float32(2.5), np.complex128(1 + 1j), np.array(5),
]  # fmt: skip
CLASSES = OverflowError, ValueError, TypeError


def forms(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    return [function, jit(function, backend="numpy"), jit(function, backend="xla")]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Returns the dtype and the elements, or the base class of an error."""
    try:
        out = np.asarray(function(*args))
    except CLASSES as error:
        return next(base for base in CLASSES if isinstance(error, base))
    return out.dtype, repr(out.tolist())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32"])
@pytest.mark.parametrize("name", ["max", "min", "sum", "prod", "nanmax"])
def test_initial_is_assigned_as_by_numpy(name: str, dtype: str) -> None:
    x = np.array([1, 2, 3], dtype)
    for number in NUMBERS:
        expected = outcome(lambda x, k=number: getattr(np, name)(x, initial=k), x)
        for function in forms(lambda x, k=number: getattr(lnp, name)(x, initial=k)):
            assert outcome(function, x) == expected, number


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32"])
def test_pad_assigns_constant_values_as_numpy(dtype: str) -> None:
    """NumPy makes them scalars before, of which the unsigned ones wrap around."""
    x = np.array([1, 2, 3], dtype)
    for number in [*NUMBERS, 2**63, (300, 5), np.array([4, 400])]:
        expected = outcome(lambda x, k=number: np.pad(x, 2, constant_values=k), x)
        for function in forms(lambda x, k=number: lnp.pad(x, 2, constant_values=k)):
            assert outcome(function, x) == expected, number


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "float16", "float32", "complex64"])
def test_pad_with_ramps_to_numbers_beyond_the_dtype(dtype: str) -> None:
    """They are computed in float64, and wrap around."""
    x = np.array([1, 2, -128]).astype(dtype)
    for end in (0, 300, -200, (-5, 7.7), 2.5, np.int64(300), np.array(-3), 1e9):
        with np.errstate(over="ignore"):
            expected = np.pad(x, 3, "linear_ramp", end_values=end)
            for function in forms(lambda x, k=end: lnp.pad(x, 3, "linear_ramp", end_values=k)):
                np.testing.assert_array_equal(np.asarray(function(x)), expected, strict=True)


def test_pad_with_ramps_to_negative_numbers_of_uint64() -> None:
    x = np.array([1, 2, 5], np.uint64)
    for end in (-1, -300, -2.7):
        for function in forms(lambda x, k=end: lnp.pad(x, 3, "linear_ramp", end_values=k)):
            expected = np.pad(x.astype(np.int64), 3, "linear_ramp", end_values=end).astype(np.uint64)
            np.testing.assert_array_equal(np.asarray(function(x)), expected, strict=True)


def test_number_that_is_no_element_is_refused_by_name() -> None:
    x = np.array([1, 2], "int8")
    for call, error, message in [
        (lambda x: lnp.max(x, initial=np.nan), ArgumentValueError, "max: expected a number for int8, got nan; convert"),
        (lambda x: lnp.min(x, initial=1e9), IntegerOverflowError, "min: expected a number that fits int8, got 1000000"),
        (lambda x: lnp.sum(x, initial=1j), ArgumentTypeError, "sum: expected a real number for int64, got 1j; take"),
        (lambda x: lnp.place(x, x > 1, np.nan, inplace=False), ArgumentValueError, "place: expected a number for int8"),
        (lambda x: lnp.place(x, x > 1, -1e9, inplace=False), IntegerOverflowError, "place: .* fits int8, got -1000000"),
        (lambda x: lnp.place(x, x > 1, 1j, inplace=False), ArgumentTypeError, "place: expected a real number for int8"),
        (lambda x: lnp.pad(x, 1, constant_values=300), IntegerOverflowError, "pad: expected .* fits int8, got 300;"),
    ]:
        for function in forms(call):
            with pytest.raises(error, match=message):
                function(x)


@pytest.mark.parametrize("space", [lnp.geomspace, lambda *args, **options: lnp.logspace(0, 8, 9, base=2, **options)])
def test_integers_at_equal_ratios_are_exact(space: Callable[..., Any]) -> None:
    """NumPy rounds 7.999999999999999 down to 7."""
    expected = 2 ** np.arange(9)
    for dtype in ("int16", "uint16", "int64"):
        for function in forms(lambda start, dtype=dtype: space(start, 256, 9, dtype=dtype)):
            np.testing.assert_array_equal(np.asarray(function(np.int8(1))), expected.astype(dtype), strict=True)
    np.testing.assert_array_equal(lnp.geomspace(1, 8, 7, dtype=int), [1, 1, 2, 2, 4, 5, 8])
    np.testing.assert_array_equal(jit(lambda x: lnp.geomspace(x, -5, 4, dtype="int8"))(-5), [-5] * 4)
