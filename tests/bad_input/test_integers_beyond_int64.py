"""Python integers beyond int64 that meet no array, or whose array has booleans: one outcome eagerly and compiled."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.core import ArgumentValueError, IntegerOverflowError, as_dtype, plain
from lawful.staging import jit

BACKENDS = ("numpy", "xla")
X = np.array([1, 0, 1])

#: NumPy gives objects, or reads objects.
OBJECTS: dict[str, Callable[[Any, int], Any]] = {
    "array": lambda x, k: lnp.array([k]),
    "asarray of a range": lambda x, k: lnp.asarray(range(k, k + 2)),
    "array with floats": lambda x, k: lnp.array([k, 1.5]),
    "full": lambda x, k: lnp.full(2, k),
    "abs": lambda x, k: lnp.abs(k),
    "negative": lambda x, k: lnp.negative(k),
    "add of numbers": lambda x, k: lnp.add(1, k),
    "bitwise_count": lambda x, k: lnp.bitwise_count(k),
    "angle": lambda x, k: lnp.angle(k),
    "sum": lambda x, k: lnp.sum(k),
    "max": lambda x, k: lnp.max(k),
    "argmax": lambda x, k: lnp.argmax(k),
    "mean": lambda x, k: lnp.mean(k),
    "dot": lambda x, k: lnp.dot(x, k),
    "outer": lambda x, k: lnp.outer(x, k),
    "kron": lambda x, k: lnp.kron(k, x),
    "diff": lambda x, k: lnp.diff(x, prepend=k),
    "diff with a list": lambda x, k: lnp.diff(x, append=[k]),
    "isin": lambda x, k: lnp.isin(x, k),
    "searchsorted": lambda x, k: lnp.searchsorted(x, k),
    "array_equal": lambda x, k: lnp.array_equal(x, k),
    "transpose": lambda x, k: lnp.transpose(k),
}


def outcome(function: Callable[..., Any], x: Any) -> Any:
    """Returns the dtype and the values, or the class of an error."""
    try:
        with np.errstate(over="ignore"):
            out = np.asarray(function(x))
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)
    return out.dtype, out.tolist()


def outcomes(function: Callable[..., Any], x: Any) -> list[Any]:
    """Returns the outcomes eagerly, without accelerators and compiled."""
    with plain():
        found = [outcome(function, x)]
    return [*found, outcome(function, x), *[outcome(jit(function, backend=name), x) for name in BACKENDS]]


@pytest.mark.parametrize("name", OBJECTS)
def test_integer_beyond_64_bits_is_an_overflow(name: str) -> None:
    for number in (2**64, -(2**63) - 1, 2**2000):
        assert outcomes(lambda x, k=number: OBJECTS[name](x, k), X) == [IntegerOverflowError] * 4


@pytest.mark.parametrize("name", OBJECTS)
def test_integer_beyond_int64_by_itself(name: str) -> None:
    found = outcomes(lambda x: OBJECTS[name](x, 2**63), X)
    assert found == found[:1] * 4


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1])
def test_large_integer_that_becomes_a_boolean(number: int) -> None:
    x = X > 0
    for name, function in {
        "full_like": lambda x: lnp.full_like(x, number),
        "pad": lambda x: lnp.pad(x, 1, constant_values=number),
        "max": lambda x: lnp.max(x, initial=number),
        "min": lambda x: lnp.min(x, initial=number),
    }.items():
        found = outcomes(function, x)
        assert not isinstance(found[0], type), name
        assert found == found[:1] * 4, name
        if name in ("max", "min"):
            assert found[0] == outcome(lambda x, name=name: getattr(np, name)(x, initial=number), x)


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64"])
def test_pad_with_an_integer_beyond_64_bits(dtype: str) -> None:
    found = outcomes(lambda x: lnp.pad(x, 1, constant_values=2**64), X.astype(dtype))
    assert found == [outcome(lambda x: np.pad(x, 1, constant_values=2**64), X.astype(dtype))] * 4


@pytest.mark.parametrize("function", [lnp.less, lnp.equal, lnp.greater_equal, operator.lt, operator.ne])
def test_large_integer_compared_with_numbers(function: Callable[..., Any]) -> None:
    for x in (np.array([1e30, 3.0, np.inf]), np.complex64([1e30, 3]), np.int8([3]), np.uint64([2**64 - 1])):
        for number in (2**64, -(2**100), 2**1000, 2**2000):
            expected = outcome(lambda x, k=number: function(x, k), x)
            for name in BACKENDS:
                found = outcome(jit(lambda x, k=number: function(x, k), backend=name), x)
                is_error = isinstance(expected, type)
                assert issubclass(found, expected) if is_error else found == expected, (x.dtype, number, name)


POWERS = [
    ("bool", -1),
    ("int8", -1),
    ("int64", -(2**62)),
    ("uint8", -1),
    ("uint64", -1),
    ("uint8", 300),
    ("int8", -129),
]


@pytest.mark.parametrize(("dtype", "exponent"), POWERS)
def test_power_with_a_refused_exponent(dtype: str, exponent: int) -> None:
    x = X.astype(dtype)
    expected = outcome(lambda x: np.power(x, exponent), x)
    named = {ValueError: ArgumentValueError, OverflowError: IntegerOverflowError}[expected]
    assert outcomes(lambda x: lnp.power(x, exponent), x) == [named] * 4
    for name in BACKENDS:
        assert outcome(jit(lambda x: x**exponent, backend=name), x) is named


FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "float32", "complex64")
INTO_FLOATS: dict[str, Callable[[int, Any], Any]] = {
    "array": lambda k, dtype: lnp.array([k], dtype),
    "asarray of rows": lambda k, dtype: lnp.asarray([[k]], dtype)[0],
    "array of a number": lambda k, dtype: lnp.array(k, dtype)[None],
    "full": lambda k, dtype: lnp.full(1, k, dtype),
    "full of ops": lambda k, dtype: ops.full((1,), k, dtype),
    "convert_element_type": lambda k, dtype: ops.convert_element_type(k, dtype)[None],
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", INTO_FLOATS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_integer_beyond_int64_becomes_a_float(name: str, dtype: str) -> None:
    for number in (2**63, -(2**64), 2**100):
        expected = np.array([float(number)]).astype(as_dtype(dtype))
        for function in (INTO_FLOATS[name], jit(INTO_FLOATS[name], static_argnums=(0, 1), backend="numpy")):
            found = np.asarray(function(number, dtype))
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.astype(complex), expected.astype(complex))
    with pytest.raises(IntegerOverflowError):
        INTO_FLOATS[name](2**2000, dtype)


@pytest.mark.parametrize("dtype", ["int1", "uint1"])
def test_array_of_unsupported_integers_names_the_dtype(dtype: str) -> None:
    with pytest.raises(TypeError, match=f"dtype: expected one of bool, .*, got {dtype}; convert with astype"):
        lnp.array([2**63], dtype)
