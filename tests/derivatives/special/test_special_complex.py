"""Special functions of complex numbers, to all digits."""

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from lawful import ops, special
from lawful.autodiff import jvp
from lawful.staging import jit

from .reference import ULP


def wofz_derivatives(z: complex, orders: int) -> list[Any]:
    with mp.workdps(80):
        out = [mp.exp(-(mp.mpc(z) ** 2)) * mp.erfc(-1j * mp.mpc(z))]
        out.append(2j / mp.sqrt(mp.pi) - 2 * mp.mpc(z) * out[0])
        for n in range(1, orders + 1):
            out.append(-2 * (mp.mpc(z) * out[n] + n * out[n - 1]))
        return out


def test_wofz_has_all_digits() -> None:
    random = np.random.default_rng(0)
    z = random.uniform(-8, 8, 40) + 1j * random.uniform(-3, 8, 40)
    z = np.concatenate([z, random.uniform(-8, 8, 8) + 0j, 1j * random.uniform(-3, 9, 8), [0j, 1e-9j, 1e9 + 1e9j]])

    def rows(z: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [special.wofz]
        for _ in range(2):
            functions.append(lambda z, f=functions[-1]: jvp(f, (z,), (np.ones(z.shape, complex),))[1])
        return [f(z) for f in functions]

    for found in (rows(z), jit(rows, backend="xla")(z)):
        for x, values in zip(z, np.array(found).T, strict=True):
            exact = wofz_derivatives(complex(x), 3)
            for order, value in enumerate(values):
                error = 8 * 4**order * ULP * (abs(exact[order]) + abs(mp.mpc(complex(x)) * exact[order + 1]))
                assert abs(mp.mpc(complex(value)) - exact[order]) <= error, (x, order, value)


def test_wofz_of_real_numbers_keeps_the_real_part() -> None:
    x = np.linspace(-20, 20, 31)
    np.testing.assert_allclose(special.wofz(x).real, np.exp(-x * x), rtol=1e-14)
    np.testing.assert_allclose(special.wofz(x).imag, special.dawsn(x) * (2 / math.sqrt(math.pi)), rtol=1e-14)
    np.testing.assert_allclose(special.erfcx(x[10:] + 0j), special.erfcx(x[10:]), rtol=1e-14)
    ends = np.array([complex(math.inf, 0), complex(0, math.inf), complex(0, -math.inf), complex(1, -30)])
    np.testing.assert_array_equal(special.wofz(ends), [0, 0, math.inf, complex(-math.inf, -math.inf)])
    assert special.wofz(np.float32(1)).dtype == np.complex64


@pytest.mark.parametrize("backend", [None, "numpy", "xla"])
def test_wofz_near_the_largest_number(backend: str | None) -> None:
    """It is about i / (√π z) there; in the lower half plane too, where the exponential vanishes."""
    large = np.finfo(float).max
    z = np.array([complex(x, y) for x in (-large, large, 1e200) for y in (-3.0, 0.0, 1.0, 3.23)] + [complex(0, large)])
    f = special.wofz if backend is None else jit(special.wofz, backend=backend)
    expected = 1j / (math.sqrt(math.pi) * (z / 2.0**600)) / 2.0**600
    np.testing.assert_allclose(f(z), expected, rtol=1e-12, atol=4e-308)  # XLA takes subnormal numbers as 0


@pytest.mark.parametrize("backend", [None, "numpy", "xla"])
def test_expi_and_quotient_of_gamma_near_the_largest_number(backend: str | None) -> None:
    """XLA takes subnormal numbers as 0, among them the inverse of the largest number."""
    x = np.array([1e300, 8e307, np.finfo(float).max])
    expi, quotient = special.expi, lambda x: ops.log_gamma_quotient(x, -2.5)
    if backend is not None:
        expi, quotient = jit(expi, backend=backend), jit(quotient, backend=backend)
    np.testing.assert_array_equal(expi(x), np.inf)
    np.testing.assert_allclose(quotient(x), -2.5 * np.log(x), rtol=1e-15)


def test_loggamma_of_complex_numbers_has_all_digits() -> None:
    random = np.random.default_rng(0)
    z = random.uniform(-15, 15, 40) + 1j * random.uniform(-12, 12, 40)
    z = np.concatenate([z, random.uniform(0.1, 8, 6) + 0j, random.uniform(-8, 8, 6) + 1e-9j, [-0.5 + 0j, 1e9 - 1e9j]])

    def rows(z: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [special.loggamma]
        for _ in range(2):
            functions.append(lambda z, f=functions[-1]: jvp(f, (z,), (np.ones(z.shape, complex),))[1])
        return [f(z) for f in functions]

    for found in (rows(z), jit(rows, backend="xla")(z)):
        for x, values in zip(z, np.array(found).T, strict=True):
            point = mp.mpc(complex(x))
            with mp.workdps(40):
                exact = [mp.loggamma(point), *[mp.psi(n, point) for n in range(3)]]
            for order, value in enumerate(values):
                error = 32 * ULP * (abs(exact[order]) + abs(point * exact[order + 1]))
                assert abs(mp.mpc(complex(value)) - exact[order]) <= error, (x, order, value)


def test_loggamma_on_its_branch_cut() -> None:
    found = special.loggamma(np.array([complex(-0.5, 0.0), complex(-0.5, -0.0), complex(-2.5, 0.0)]))
    np.testing.assert_allclose(found.imag / math.pi, [-1, 1, -3], rtol=1e-15)
    np.testing.assert_array_equal(special.loggamma(np.array([-0.5, 0.0, 1.0])), [math.nan, math.inf, 0.0])
    assert special.loggamma(np.complex64(1j)).dtype == np.complex64
