"""Elementwise ops of a tracer and a constant array: cached rules are told apart by the position and the type."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.core import plain

X = np.array([0.5, -1.5, 2.0])
CONSTANTS: dict[str, Any] = {
    "doubles": np.array([2.0, 3.0, -4.0]),
    "singles": np.array([2.0, 3.0, -4.0], np.float32),
    "integers": np.array([2, 3, -4]),
    "truth values": np.array([True, False, True]),
    "complex numbers": np.array([2.0, 3j, -4.0]),
    "one number": np.array(3.0),
    "a matrix": np.array([[2.0, 3.0, -4.0], [1.0, 5.0, 6.0]]),
    "a column": np.array([[2.0], [1.0]]),
    "another byte order": np.array([2.0, 3.0, -4.0], ">f8"),
}
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "x - c": lambda x, c: x - c,
    "c - x": lambda x, c: c - x,
    "x / c": lambda x, c: x / (c + 7),
    "c / x": lambda x, c: c / x,
    "subtract(x, c)": lambda x, c: lnp.subtract(x, c),
    "subtract(c, x)": lambda x, c: lnp.subtract(c, x),
    "x * (x > c)": lambda x, c: x * (x > c.real),
    "logical_and(x, c)": lambda x, c: x * lnp.logical_and(x, c),
    "float_power(x, c)": lambda x, c: lnp.float_power(x * x, c),
    "dot(c, x)": lambda x, c: lnp.dot(c, x if c.shape[-1:] == (3,) else x[0]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("constant", CONSTANTS)
def test_grad_and_jvp_with_constant_arrays(constant: str, dtype: Any) -> None:
    x, c = X.astype(dtype), CONSTANTS[constant]

    def derivatives() -> list[Any]:
        found = []
        for function in FUNCTIONS.values():
            gradient = grad(lambda x, function=function: lnp.sum(lnp.real(function(x, c)) ** 2))(x)
            found += [gradient, *jvp(lambda x, function=function: function(x, c), (x,), (x * 2,))]
        return found

    with plain():
        expected = derivatives()
    for _ in range(3):
        for value, wanted in zip(derivatives(), expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-6 if dtype == np.float32 else 1e-14, strict=True)


def test_grad_keeps_a_constant_array_that_is_overwritten() -> None:
    def function(x: Any) -> Any:
        c = np.array([2.0, 3.0, -4.0])
        y = x * c
        c[:] = 0.0
        return lnp.sum(y)

    for _ in range(4):
        assert grad(function)(X).tolist() == [2.0, 3.0, -4.0]
