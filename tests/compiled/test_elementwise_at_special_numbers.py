"""Functions of real and complex numbers on XLA are those of NumPy at infinities, NaN, branch cuts and zeros."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import jvp
from lawful.core import ArgumentTypeError
from lawful.ops._elementwise.declaration import Elementwise
from lawful.staging import jit

PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e3, np.inf, -np.inf, np.nan)
UNARY = (
    *("abs", "sign", "neg", "conj", "real", "imag", "square", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log1p"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "logistic"),
)
REAL = (
    *("abs", "sign", "square", "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p", "logistic"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
BINARY = ("add", "sub", "mul", "div")


def grid() -> Any:
    out = np.empty(len(PARTS) ** 2, np.complex128)
    out.real, out.imag = np.array(list(product(PARTS, PARTS))).T
    return out


def of_two_integers() -> list[str]:
    """Returns the names of the elementwise ops that take two integers."""
    found = []
    for name in ops.__all__:
        function = getattr(ops, name)
        if isinstance(function, Elementwise) and function.arity == 2:
            try:
                function(np.int64(1), np.int64(1))
            except ArgumentTypeError:
                continue
            found.append(name)
    return found


def agree(function: Callable[..., Any], *args: Any) -> None:
    with np.errstate(all="ignore"):
        expected = function(*args)
    for got, wanted in zip(tree.leaves(jit(function, backend="xla")(*args)), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", UNARY)
def test_complex_function_at_special_numbers(name: str) -> None:
    agree(getattr(ops, name), grid())


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_rsqrt_parts_at_special_numbers(dtype: Any) -> None:
    """It is NumPy's quotient of 1 and the root, with all infinities, NaN and signs of zeros; 0 of infinite numbers."""
    z = grid().astype(dtype)
    with np.errstate(all="ignore"):
        quotient = 1 / np.sqrt(z)
        single = np.array([ops.rsqrt(x) for x in z])
        forms = ops.rsqrt(z), single, *[np.asarray(jit(ops.rsqrt, backend=name)(z)) for name in ("numpy", "xla")]
    for found in forms:
        assert found.dtype == dtype
        for part in ("real", "imag"):
            wanted = np.where(np.isinf(z), 0, getattr(quotient, part))
            np.testing.assert_allclose(getattr(found, part), wanted, rtol=1e-6)
            signs = [np.signbit(getattr(x, part)) & (getattr(x, part) == 0) for x in (found, forms[0])]
            np.testing.assert_array_equal(*signs)


@pytest.mark.parametrize("name", BINARY)
def test_complex_arithmetic_at_special_numbers(name: str) -> None:
    x, y = np.meshgrid(grid(), grid())
    agree(getattr(ops, name), x.ravel(), y.ravel())


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 4, 5, 7])
def test_complex_integer_pow_at_special_numbers(exponent: int) -> None:
    z = grid()
    agree(lambda z: ops.integer_pow(z, exponent), z)
    if exponent == -1:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(ops.integer_pow(z, -1), z**-1, rtol=1e-15)


@pytest.mark.parametrize(
    "name", ["abs", "sign", "sqrt", "rsqrt", "log", "log1p", "asin", "acosh", "atan", "exp", "tanh"]
)
def test_complex_derivative_at_special_numbers(name: str) -> None:
    z = grid()
    agree(lambda z, t: jvp(getattr(ops, name), (z,), (t,))[1], z, np.full_like(z, 0.5 + 0.25j))


@pytest.mark.parametrize("name", REAL)
def test_real_function_and_derivative_at_special_numbers(name: str) -> None:
    limits = np.finfo(np.float64)
    x = np.array([*PARTS, limits.max, limits.min, limits.tiny, -limits.tiny])
    agree(lambda x, t: jvp(getattr(ops, name), (x,), (t,)), x, np.full_like(x, 0.75))


def test_complex_power_of_zero() -> None:
    """Where the exponent has a positive real part the power is 0; the logarithm of 0 must not meet its angle."""
    z = np.zeros(4, np.complex128)
    agree(ops.pow, z, np.array([2.5, 2 - 2j, 0, 1 + 1j]))
    agree(ops.pow, z.astype(np.complex64), np.array([2.5, 2 - 2j, 0, 1 + 1j], np.complex64))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_division_of_large_numbers(dtype: Any) -> None:
    """The square of the divisor overflows."""
    size = np.finfo(dtype).max / 4
    z, w = (np.array([size * number], dtype) for number in (1 + 2j, 2 - 1j))
    np.testing.assert_allclose(jit(ops.div, backend="xla")(z, w), [1j], rtol=1e-6, atol=1e-6)


INTEGERS = (0, 1, 2, 3, 5, 7, -1, -2, -3, -8, 15, 16, 31, 32, 63, 64, 65, 100)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64", "uint64"])
@pytest.mark.parametrize("name", of_two_integers())
def test_function_of_two_integers(name: str, dtype: str) -> None:
    """XLA's own power reads six bits of an exponent, and a processor's shift as many of the distance."""
    ends = np.iinfo(dtype)
    points = (*INTEGERS, ends.max, ends.max - 1, ends.min, ends.min + 1)
    each = np.array([number for number in points if ends.min <= number <= ends.max], dtype)
    x, y = (part.ravel() for part in np.meshgrid(each, each))
    if name == "pow":  # NumPy raises an error
        x, y = x[y >= 0], y[y >= 0]
    function = getattr(ops, name)
    with np.errstate(all="ignore"):
        expected = function(x, y)
    got = np.asarray(jit(function, backend="xla")(x, y))
    assert got.dtype == expected.dtype
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=max(1e-13, 4 * np.finfo(expected.dtype).eps), atol=1e-30)
    else:
        np.testing.assert_array_equal(got, expected)
