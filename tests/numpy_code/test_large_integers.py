"""Python integers beyond int64 beside arrays, and integers rounded to tens: traced and compiled as evaluated."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import jvp
from lawful.core import IntegerOverflowError, LawfulError, plain
from lawful.staging import jit
from lawful.xla_backend import Array, device_put

NAMES = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "maximum",
    "minimum", "fmax", "fmin", "hypot", "arctan2", "logaddexp", "logaddexp2", "copysign", "nextafter", "heaviside",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
    "bitwise_and", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm", "ldexp",
)  # fmt: skip
OPERATORS = ("truediv", "add", "sub", "mul", "floordiv", "mod", "pow")
FUNCTIONS = {name: getattr(lnp, name) for name in NAMES} | {f"operator {n}": getattr(operator, n) for n in OPERATORS}
DTYPES = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64")
LARGE = (2**63, 2**64, -(2**63) - 1, 2**100)
#: XLA compiles these only: the types of operands do not depend on the backend.
COMPILED = {("divide", "int8"), ("hypot", "int32"), ("power", "float64"), ("operator truediv", "int64")}
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def outcome(function: Callable[..., Any], x: Any) -> Any:
    """Returns dtype and values, or None for an error; NaN and infinite parts of complex numbers as NaN."""
    try:
        with np.errstate(all="ignore"):
            out = np.asarray(function(x))
    except (TypeError, ValueError, OverflowError):
        return None
    return out.dtype, np.where(np.isfinite(out), out, np.nan if out.dtype.kind == "c" else out)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_integer_beyond_int64_beside_an_array(name: str) -> None:
    function = FUNCTIONS[name]
    for dtype in DTYPES:
        x = np.array([1, 0, 1], dtype)
        for number in LARGE:
            for call in (lambda x, k=number: function(x, k), lambda x, k=number: function(k, x)):
                expected = outcome(call, x)
                for backend in ("numpy", "xla") if number == 2**63 and (name, dtype) in COMPILED else ("numpy",):
                    found = outcome(jit(call, backend=backend), x)
                    message = f"{dtype}, {number}, {backend}: expected {expected}, got {found}"
                    assert (found is None) == (expected is None), message
                    if expected is not None:
                        assert found[0] == expected[0], message
                        np.testing.assert_allclose(found[1], expected[1], 1e-6, err_msg=message)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_integer_near_the_largest_float(backend: str) -> None:
    largest = 2**1024 - 2**970 - 1
    for number in (2**1023, -largest, largest):
        compiled = jit(lambda x, k=number: lnp.maximum(lnp.add(x, k), x), backend=backend)
        np.testing.assert_array_equal(compiled(np.float64(0)), np.maximum(float(number), 0.0))
    with pytest.raises(OverflowError):
        jit(lambda x: lnp.add(x, largest + 1), backend=backend)(np.float64(0))


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("y", [2**53 + 1, 2**53 + 2, 2**60, 2**60 + 1, 2**63, -(2**63) - 1], ids=str)
def test_integer_power_beyond_float64_keeps_its_sign(y: int, backend: str) -> None:
    """An odd exponent is rounded to an even one, which has another sign and another derivative at -1."""
    power = jit(lambda x: x**y, backend=backend)
    for dtype in ("float32", "float64"):
        for x in (np.array([-1.0, 1.0], dtype), np.array(-1.0, dtype)):
            sign = np.where(x < 0, -1.0, 1.0)
            np.testing.assert_array_equal(power(x), sign ** (y % 2))
            np.testing.assert_array_equal(
                jvp(power, (x,), (np.ones_like(x),))[1], np.dtype(dtype).type(y) * sign ** ((y - 1) % 2)
            )


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_round_of_integers_to_tens_wraps_around(dtype: str, backend: str) -> None:
    """Beyond 16 bits only numbers whose multiple of ten exists: NumPy's cast of others depends on the processor."""
    info = np.iinfo(dtype)
    ends = [info.min, info.min + 1, info.max - 1, info.max] if info.bits <= 16 else []
    middle = [x for x in (-128, -115, -45, -5) if info.min < 0] + [0, 4, 5, 6, 15, 25, 95, 105, 115, 127]
    for number in ends + middle:
        x = np.array([number], dtype)
        for decimals in (-1, -2, 0, 2):
            expected = np.round(x, decimals)
            for found in (lnp.round(x, decimals), jit(lambda x, d=decimals: lnp.round(x, d), backend=backend)(x)):
                assert np.asarray(found).dtype == expected.dtype
                np.testing.assert_array_equal(np.asarray(found), expected, f"{number}, {decimals}")


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_round_of_the_ends_of_int8(backend: str) -> None:
    x = np.int8([127, -128])
    np.testing.assert_array_equal(np.round(x, -1), [-126, 126])
    np.testing.assert_array_equal(np.asarray(jit(lambda x: lnp.round(x, -1), backend=backend)(x)), [-126, 126])


BEYOND_INT64 = [dtype(x) for dtype in (ml_dtypes.bfloat16, np.float32, np.float64) for x in (3e38, -3e38, 2.0**63)]


@pytest.mark.parametrize("x", BEYOND_INT64, ids=lambda x: f"{x.dtype} {x}")
def test_int_of_floats_beyond_int64_is_exact(x: Any) -> None:
    expected = int(float(x))
    for array in (device_put(x), jit(lambda x: x * 1, backend="xla")(x), np.asarray(x)):
        assert isinstance(array, (Array, np.ndarray))
        assert int(array) == expected
    found: list[int] = []

    def f(x: Any) -> Any:
        found.append(int(x))
        found.append(int(x * 1))
        return x

    jvp(f, (x,), (x,))
    with plain():
        jvp(f, (x,), (x,))
    assert found == [expected] * 4


def test_int_of_bfloat16_scalars_is_that_of_ml_dtypes() -> None:
    """docs/numpy.md says that it is not exact."""
    x = lnp.sum(np.array([3e38], ml_dtypes.bfloat16))
    assert int(x) != int(float(x))


TAKE_INTEGERS: dict[str, Callable[[Any], Any]] = {
    "where": lambda x: lnp.where(x > 1, 2**63, x),
    "where, second": lambda x: lnp.where(x > 1, x, 2**63),
    "insert": lambda x: lnp.insert(x, 1, 2**63),
    "piecewise": lambda x: lnp.piecewise(x, [x > 1], [2**63, 0]),
    "at": lambda x: lnp.put_along_axis(x, np.array([0]), 2**63, 0, inplace=False),
    "sum": lambda x: lnp.sum(x, initial=2**63),
    "max": lambda x: lnp.max(x, initial=2**63),
    "isclose": lambda x: lnp.isclose(x, 2**63),
    "diff": lambda x: lnp.diff(x, append=2**63),
    "ediff1d": lambda x: lnp.ediff1d(x, to_begin=2**63, to_end=2**63),
    "nan_to_num": lambda x: lnp.nan_to_num(x / x, nan=2**63),
    "interp": lambda x: lnp.interp(x, np.array([0.0, 1.0]), np.array([0.0, 1.0]), right=2**63),
}


@pytest.mark.parametrize("function", TAKE_INTEGERS.values(), ids=TAKE_INTEGERS)
@pytest.mark.parametrize("dtype", ["uint64", "float64"])
def test_integer_beyond_int64_as_another_argument(function: Callable[[Any], Any], dtype: str) -> None:
    x = np.array([1, 2, 5], dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(function(x))
    for backend in ("numpy", "xla"):
        found = np.asarray(jit(function, backend=backend)(x))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


#: Functions that make an array of a Python integer, before they promote it: of uint64 where it is beyond int64.
MAKE_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "append": lambda x: lnp.append(x, 2**63),
    "append to an integer": lambda x: lnp.append(2**64 - 1, x),
    "append along an axis": lambda x: lnp.append(x[:, None], lnp.atleast_2d(2**63), 0),
    "concatenate": lambda x: lnp.concatenate([x, 2**63], axis=None),
    "concatenate in a dtype": lambda x: lnp.concatenate([x, 2**63], axis=None, dtype=complex),
    "concatenate what wraps around": lambda x: lnp.concatenate([x, -1, 300], axis=None),
    "stack": lambda x: lnp.stack([x[0], 2**63]),
    "hstack": lambda x: lnp.hstack([x, 2**63]),
    "vstack": lambda x: lnp.vstack([x[0], 2**63]),
    "dstack": lambda x: lnp.dstack([x[0], 2**63]),
    "column_stack": lambda x: lnp.column_stack([x[0], 2**63]),
    "block": lambda x: lnp.block([[x, 2**63], [x, 1]]),
    "broadcast_arrays": lambda x: lnp.broadcast_arrays(x, 2**63)[1],
    "atleast_1d": lambda x: lnp.atleast_1d(x, 2**63)[1],
    "meshgrid": lambda x: lnp.meshgrid(x, 2**63)[1],
    "dot": lambda x: lnp.dot(x, 2**63),
    "inner": lambda x: lnp.inner(2**63, x),
    "outer": lambda x: lnp.outer(x, 2**63),
    "kron": lambda x: lnp.kron(x, 2**63),
    "searchsorted": lambda x: lnp.searchsorted(x[1:], 2**63),
    "isin": lambda x: lnp.isin(x, 2**63),
    "array_equal": lambda x: np.asarray(lnp.array_equal(x, 2**63)),
}


@pytest.mark.parametrize("name", MAKE_ARRAYS)
@np.errstate(over="ignore")  # of float16
def test_integer_beyond_int64_as_an_array(name: str) -> None:
    function = MAKE_ARRAYS[name]
    for dtype in DTYPES:
        x = np.array([1, 0, 1], dtype)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "lnp", np)
            expected = function(x)
        np.testing.assert_array_equal(function(x), expected, f"{name} {dtype}", strict=True)
        backends = ("numpy", "xla") if dtype == "int64" else ("numpy",)
        for found in [np.asarray(jit(function, backend=backend)(x)) for backend in backends]:
            np.testing.assert_array_equal(found, expected, f"{name} {dtype}", strict=True)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_clip_by_integers_beyond_the_dtype(dtype: str) -> None:
    """They are no bounds, unless no number of the dtype is inside of them."""
    x = np.array([1, 0, 100], dtype)
    for low, high in ((0, 2**70), (-(2**70), 5), (-1, 2**64), (None, 2**63), (2**70, None), (2**70, 2**71), (5, 6)):
        expected = outcome(lambda x, low=low, high=high: np.clip(x, low, high), x)
        for clip in (lnp.clip, jit(lnp.clip, backend="numpy", static_argnums=(1, 2))):
            found = outcome(lambda x, low=low, high=high, clip=clip: clip(x, low, high), x)
            assert str(found) == str(expected), (low, high)
        method = jit(lambda x, low=low, high=high: x.clip(low, high), backend="numpy")
        assert str(outcome(method, x)) == str(expected), (low, high)


def test_linspace_to_an_integer_beyond_int64() -> None:
    x = np.array([1, 2])
    for end in (2**63, 2**70):
        expected = np.linspace(x, end, 3)
        np.testing.assert_array_equal(lnp.linspace(x, end, 3), expected)
        np.testing.assert_allclose(jit(lambda x, end=end: lnp.linspace(x, end, 3), backend="numpy")(x), expected)


@pytest.mark.parametrize("name", ["append", "stack", "hstack", "concatenate", "block", "broadcast_arrays"])
@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_integer_beyond_64_bits_as_an_array_is_refused(name: str, number: int) -> None:
    """NumPy makes arrays of objects of these, but in `concatenate`, where it refuses them beside integers."""

    def call(x: Any) -> Any:
        if name in ("append", "broadcast_arrays"):
            return getattr(lnp, name)(x, number)
        return lnp.concatenate([x, number], axis=None) if name == "concatenate" else getattr(lnp, name)([x, number])

    for x in (np.int8(1), np.float64(1)) if name != "concatenate" else (np.int8(1), np.bool(1)):
        for run in (call, jit(call, backend="numpy")):
            with pytest.raises(OverflowError, match="expected a value that fits 64 bits") as caught:
                run(x)
            assert isinstance(caught.value, LawfulError)


def test_where_of_integer_beyond_int64() -> None:
    x = np.array([1, 2], np.uint64)
    np.testing.assert_array_equal(lnp.where(x > 1, 2**63, x), np.where(x > 1, 2**63, x), strict=True)
    with pytest.raises(OverflowError):
        lnp.where(x > 1, 2**63, x.astype(np.int64))


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "bfloat16"])
@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanargmax", "nanargmin"])
def test_nan_extremum_without_infinities(name: str, dtype: str) -> None:
    """Some float8 dtypes have no infinity that could stand for a NaN."""
    x = np.array([[1.0, np.nan], [2.0, -3.0]])
    function = lambda x: getattr(lnp, name)(x, axis=1)  # noqa: E731
    for call in (function, jit(function, backend="numpy"), jit(function, backend="xla")):
        found = np.asarray(call(x.astype(getattr(ml_dtypes, dtype))))
        np.testing.assert_array_equal(found.astype(float), getattr(np, name)(x, axis=1))


SIGNED = np.array([0, 1, -1, 2**53, 2**53 + 1, 2**62])
UNSIGNED = np.array([2**53, 2**64 - 1, 1, 2**63], np.uint64)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("x", "others"), [(SIGNED, UNSIGNED), (UNSIGNED, SIGNED), (SIGNED[:3].astype(np.int32), UNSIGNED)]
)
def test_isin_compares_signed_with_unsigned_exactly(x: Any, others: Any, backend: str, invert: bool) -> None:
    """Their common dtype is float64, in which 2**53 equals 2**53 + 1."""
    found = jit(lambda x, others: lnp.isin(x, others, invert=invert), backend=backend)(x, others)
    np.testing.assert_array_equal(found, np.isin(x, others, invert=invert), strict=True)


#: What an integer that does not fit would overwrite or fill.
FILLS: dict[str, Callable[[Any], Any]] = {
    "fill_diagonal": lambda x: lnp.fill_diagonal(x, 300, inplace=False),
    "put": lambda x: lnp.put(x, np.array([0]), 300, inplace=False),
    "place": lambda x: lnp.place(x, x > 1, 300, inplace=False),
    "take": lambda x: lnp.take(x, np.array([0, 9]), mode="fill", fill_value=300),
    "compress": lambda x: lnp.compress(np.array([True, False]), x, size=3, fill_value=300),
    "extract": lambda x: lnp.extract(x > 1, x, size=3, fill_value=300),
    "where": lambda x: lnp.where(x > 1, x, 300),
    "full_like": lambda x: lnp.full_like(x, 300),
    "full": lambda x: lnp.full(2, 300, x.dtype),
    "select": lambda x: lnp.select([x > 1], [x], 300),
    "clip": lambda x: lnp.clip(x, 300, None),
    "add": lambda x: lnp.add(x, 300),
}


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", FILLS)
def test_integer_beyond_the_dtype_does_not_wrap_around(name: str, dtype: str) -> None:
    x = np.array([[1, 2], [3, 4]], dtype)
    for function in (FILLS[name], jit(FILLS[name], backend="numpy"), jit(FILLS[name], backend="xla")):
        with pytest.raises(IntegerOverflowError, match=f"fits {dtype}, got 300"):
            function(x)
