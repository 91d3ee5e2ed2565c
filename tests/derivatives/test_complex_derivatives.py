"""Derivatives of complex functions on their branch cuts, and of large, small and far numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from lawful import ops, special
from lawful.autodiff import jvp
from lawful.staging import jit
from lawful.taylor import jet

Function = Callable[..., Any]
BACKENDS: dict[str, Callable[[Function], Function]] = {
    "eager": lambda f: f,
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
}
WITH_CUTS: dict[str, Function] = {
    "asin": ops.asin,
    "acos": ops.acos,
    "asinh": ops.asinh,
    "acosh": ops.acosh,
    "atan": ops.atan,
    "atanh": ops.atanh,
    "log": ops.log,
    "log1p": ops.log1p,
    "sqrt": ops.sqrt,
    "rsqrt": ops.rsqrt,
    "pow": lambda z: z**1.7,
    "loggamma": special.loggamma,
}
#: Functions and their derivatives.
SLOPES: dict[str, tuple[Function, Function]] = {
    "square": (ops.square, lambda z: 2 * z),
    "sqrt": (ops.sqrt, lambda z: 0.5 / mpmath.sqrt(z)),
    "rsqrt": (ops.rsqrt, lambda z: -0.5 / (mpmath.sqrt(z) * z)),
    "log": (ops.log, lambda z: 1 / z),
    "log1p": (ops.log1p, lambda z: 1 / (1 + z)),
    "reciprocal": (lambda z: 1 / z, lambda z: -1 / z**2),
    "quotient": (lambda z: z / (2 + 1j), lambda z: 1 / mpmath.mpc(2, 1)),
    "cube": (lambda z: z**3, lambda z: 3 * z**2),
    "asin": (ops.asin, lambda z: 1 / (mpmath.sqrt(1 - z) * mpmath.sqrt(1 + z))),
    "acos": (ops.acos, lambda z: -1 / (mpmath.sqrt(1 - z) * mpmath.sqrt(1 + z))),
    "atan": (ops.atan, lambda z: 1 / (1 + z * z)),
    "asinh": (ops.asinh, lambda z: 1 / (mpmath.sqrt(1 + 1j * z) * mpmath.sqrt(1 - 1j * z))),
    "acosh": (ops.acosh, lambda z: 1 / (mpmath.sqrt(z - 1) * mpmath.sqrt(z + 1))),
    "atanh": (ops.atanh, lambda z: 1 / (1 - z * z)),
    "tanh": (ops.tanh, lambda z: 1 - mpmath.tanh(z) ** 2),
    "tan": (ops.tan, lambda z: 1 + mpmath.tan(z) ** 2),
    "logistic": (ops.logistic, lambda z: 1 / (2 + mpmath.exp(z) + mpmath.exp(-z))),
}
#: Off the axes, where the functions have their branch cuts.
DIRECTIONS = (0.6 + 0.8j, -0.8 + 0.6j, 0.28 - 0.96j, -0.96 - 0.28j)
SIZES: dict[type, tuple[float, ...]] = {
    np.complex64: (1e-30, 1e-20, 0.5, 1.5, 12.0, 1e18, 1e20, 1e30),
    np.complex128: (1e-250, 1e-160, 0.5, 1.5, 20.0, 1e150, 1e160, 1e250),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", WITH_CUTS)
def test_complex_derivative_on_a_branch_cut(name: str, backend: str) -> None:
    """The derivative along the cut is that of the side that the sign of the zero part selects."""
    function = BACKENDS[backend](WITH_CUTS[name])
    step = 2.0**-17
    for along in (0, 1):
        for position in (-3.3, -2.5, -0.5, 0.5, 2.5):
            for zero in (0.0, -0.0):
                points = [
                    np.complex128(complex(*((x, zero) if along == 0 else (zero, x))))
                    for x in (position - step, position, position + step)
                ]
                before, _, after = map(WITH_CUTS[name], points)
                tangent = np.complex128(1j if along else 1)
                found = jvp(function, (points[1],), (tangent,))[1]
                expected = (after - before) / (2 * step)
                np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8, err_msg=f"{points[1]!r}")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SLOPES)
def test_complex_derivative_at_any_magnitude(name: str, backend: str) -> None:
    """It is right wherever it is a normal number: no square on its way overflows, no difference cancels."""
    function, slope = SLOPES[name]
    function = BACKENDS[backend](function)
    compared = 0
    for dtype, sizes in SIZES.items():
        info = np.finfo(dtype)
        for size in sizes:
            for direction in DIRECTIONS:
                z = dtype(size * direction)
                if name in ("tanh", "tan", "logistic") and size > 100:
                    continue
                with mpmath.workdps(1200):
                    expected = slope(mpmath.mpc(complex(z)))
                    length = abs(expected)
                if not 4 * info.tiny < length < info.max / 4:
                    continue
                with np.errstate(over="ignore", invalid="ignore"):  # of values; the derivatives are normal numbers
                    found = jvp(function, (z,), (dtype(1),))[1]
                error = abs(mpmath.mpc(complex(found)) - expected) / length
                assert error < 1e3 * info.eps, f"at {z!r}: expected {complex(expected)}, got {found!r}"
                compared += 1
    assert compared >= 8


@pytest.mark.parametrize("backend", BACKENDS)
def test_wofz_at_infinity_below_the_real_axis(backend: str) -> None:
    z = np.array([complex(-np.inf, -1.0), complex(np.inf, -1.0), complex(np.inf, 2.0), complex(-np.inf, -0.0)])
    np.testing.assert_array_equal(BACKENDS[backend](special.wofz)(z), 0)


def by_jvp(f: Function) -> Function:
    """Returns a function of the derivatives to the third order."""

    def derivative(g: Function) -> Function:
        return lambda z: jvp(g, (z,), (ops.full_like(z, 1),))[1]

    first = derivative(f)
    return lambda z: [first(z), derivative(first)(z), derivative(derivative(first))(z)]


def by_jet(f: Function) -> Function:
    return lambda z: jet(f, (z,), ([ops.full_like(z, 1), ops.full_like(z, 0), ops.full_like(z, 0)],))[1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("along", [by_jvp, by_jet])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "atanh"])
def test_complex_inverse_derivatives_at_infinity(
    name: str, backend: str, along: Callable[[Function], Function]
) -> None:
    """The limit of derivatives that fall as a power is 0, whatever the direction; so is one that underflows."""
    parts = (np.inf, -np.inf, 0.0, -0.0, 1.0, -2.0)
    points = [complex(x, y) for x in parts for y in parts if np.isinf(x) or np.isinf(y)]
    points += [complex(np.inf, np.nan), complex(np.nan, -np.inf)]
    for dtype, far in ((np.complex128, 1e200), (np.complex64, 1e25)):
        farther = [complex(far, far), complex(0, -far), complex(-far, 1)] if name in ("atan", "atanh") else []
        z = np.array([*points, *farther], dtype)
        for found in BACKENDS[backend](along(WITH_CUTS[name]))(z):
            np.testing.assert_array_equal(np.asarray(found), np.zeros_like(z))


def _near_circle(center: float, dtype: Any) -> np.ndarray[Any, Any]:
    """Returns numbers whose distance from the center is near 1, next to it where ``x`` is the nearest number to it."""
    random, part = np.random.default_rng(0), np.finfo(dtype).dtype.type
    numbers = [*(center + np.exp(1j * random.uniform(-np.pi, np.pi, 40))), center + 0.6 + 0.8j, center + 1j, center - 1]
    numbers += [complex(center + 1 - y * y / 2, y) for y in 10.0 ** random.uniform(-6, 0, 20)]
    for y in random.uniform(-1, 1, 40).astype(part):
        x = part(float(center + mpmath.sqrt(1 - mpmath.mpf(float(y)) ** 2)))
        numbers += [complex(x, y), complex(np.nextafter(x, part(3)), y)]
    numbers += [center + z for z in random.uniform(0.3, 2.5, 20) * np.exp(1j * random.uniform(-np.pi, np.pi, 20))]
    return np.array(numbers).astype(dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(("name", "center"), [("log", 0), ("log1p", -1)])
def test_complex_logarithm_near_its_zeros(name: str, center: int, dtype: Any, backend: str) -> None:
    """There the terms of the square of the length cancel."""
    z = _near_circle(center, dtype)
    z = np.append(z, [complex(center + 1, 1e-15), complex(-1e-30, 1e-15)] if center else []).astype(dtype)
    if center and dtype is np.complex128:
        z = np.append(z, [1e-150j, complex(-5e-301, 1.1e-150), 1e-170j, -1.8358036474144281 + 0.5490284719108275j])
    found = np.asarray(BACKENDS[backend](WITH_CUTS[name])(z))
    slopes = jvp(BACKENDS[backend](WITH_CUTS[name]), (z,), (np.ones_like(z),))[1]
    eps = float(np.finfo(dtype).eps)
    for at, value, slope in zip(z.tolist(), found.tolist(), slopes.tolist(), strict=True):
        with mpmath.workprec(1200):
            x, y = mpmath.mpf(at.real) - center, mpmath.mpf(at.imag)
            size, angle = mpmath.log(x * x + y * y) / 2, mpmath.atan2(y, x)
            inverse = 1 / mpmath.mpc(x, y)
        assert abs(value.real - size) <= 3 * eps * abs(size) + 1e-307, at
        assert abs(value.imag - angle) <= 3 * eps * abs(angle), at
        assert abs(mpmath.mpc(slope) - inverse) <= 3 * eps * abs(inverse), at
