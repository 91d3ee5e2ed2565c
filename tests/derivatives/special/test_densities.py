"""Derivatives of the incomplete gamma and beta functions by the last argument: densities, to the last digits."""

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.staging import jit

RNG = np.random.default_rng(0)
BACKENDS = pytest.mark.parametrize("backend", ["", "numpy", "xla"])


def slope(function: Callable[..., Any], backend: str, *args: Any) -> Any:
    def total(*args: Any) -> Any:
        return ops.reduce_sum(function(*args), (0,))

    gradient = grad(total, len(args) - 1)
    return np.asarray((jit(gradient, backend=backend) if backend else gradient)(*args))


def gamma_density(a: float, x: float) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def beta_density(a: float, b: float, x: float) -> Any:
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - log_beta)


def error(found: Any, density: Callable[..., Any], *args: Any) -> float:
    with mp.workdps(60):
        wanted = [density(*map(mp.mpf, map(float, row))) for row in zip(*args, strict=True)]
        return float(max(abs(mp.mpf(float(y)) - z) / z for y, z in zip(found, wanted, strict=True)))


def powers_of_ten(low: float, high: float) -> Any:
    return 10 ** RNG.uniform(low, high, 200)


GAMMA = {
    "moderate": (RNG.uniform(0.5, 8, 200), RNG.uniform(0.1, 12, 200)),
    "small": (powers_of_ten(-12, 0), powers_of_ten(-20, 1.5)),
    "near ten": (RNG.uniform(9, 11, 200), RNG.uniform(4, 20, 200)),
}
BETA = {
    "moderate": (RNG.uniform(0.5, 8, 200), RNG.uniform(0.5, 8, 200), RNG.uniform(0.05, 0.95, 200)),
    "small": (powers_of_ten(-10, 0), powers_of_ten(-10, 0), RNG.uniform(0.001, 0.999, 200)),
    "near ten": (RNG.uniform(8, 12, 200), RNG.uniform(8, 12, 200), RNG.uniform(0.1, 0.9, 200)),
}
_SMALL, _LARGE = powers_of_ten(-2, 1), powers_of_ten(1, 8)
_NEAR_MEAN = RNG.uniform(0.1, 1, 200) * _SMALL / (_SMALL + _LARGE)
BETA["second large"] = (_SMALL, _LARGE, _NEAR_MEAN)
BETA["first large"] = (_LARGE, _SMALL, 1 - _NEAR_MEAN)


@BACKENDS
@pytest.mark.parametrize("name", GAMMA)
def test_igamma_slope_to_the_last_digits(name, backend):
    assert error(slope(ops.igamma, backend, *GAMMA[name]), gamma_density, *GAMMA[name]) < 1e-14


@BACKENDS
@pytest.mark.parametrize("name", BETA)
def test_betainc_slope_to_the_last_digits(name, backend):
    args = BETA[name]
    assert error(slope(ops.betainc, backend, *args), beta_density, *args) < 1e-14


@BACKENDS
def test_densities_near_ends_beside_others(backend):
    """A compiled program takes another branch if an element is near an end; the others do not change."""
    x = np.array([0.5, 0.0, 1e-40, 0.25, 1.0])
    ones = np.ones_like(x)
    found = slope(ops.igamma, backend, 1.5 * ones, x)
    assert error(found[[0, 2, 3, 4]], gamma_density, 1.5 * ones[:4], x[[0, 2, 3, 4]]) < 1e-14
    assert found[1] == 0.0
    found = slope(ops.betainc, backend, 1.5 * ones, 1.0 * ones, x)
    assert error(found[[0, 2, 3]], beta_density, 1.5 * ones[:3], ones[:3], x[[0, 2, 3]]) < 1e-14
    assert found[1] == 0.0
    np.testing.assert_allclose(found[4], 1.5, rtol=1e-14)


@BACKENDS
def test_betainc_slope_underflows_near_an_end(backend):
    """The inverse of the beta function overflows, and the power of ``x`` underflows."""
    large = np.array([600.0, 1e5, 1e10, 200.0])
    found = slope(ops.betainc, backend, large, np.array([600.0, 1e5, 1e5, 1e5]), np.full(4, 1e-300))
    np.testing.assert_array_equal(found, 0.0)


@BACKENDS
def test_betainc_slope_at_one_of_unlike_parameters(backend):
    """The quotient of the parameters is subnormal."""
    large, small = np.array([1e300, 1e305]), np.array([1e-8, 0.5])
    np.testing.assert_array_equal(slope(ops.betainc, backend, large, small, np.ones(2)), np.inf)
    np.testing.assert_array_equal(slope(ops.betainc, backend, small, large, np.zeros(2)), np.inf)


@BACKENDS
def test_betainc_curvature_near_one(backend):
    """Derivatives of a polynomial: the terms of the last factor do not cancel there."""
    a, b, rest = (
        np.array([1e-8, 3.0, 2.0, 4.0]),
        np.array([1.0, 1.0, 2.0, 1.0]),
        2.0 ** np.array([-40.0, -33, -50, -20]),
    )

    def by_x(f: Any) -> Any:
        return lambda x: jvp(f, (x,), (np.ones(4),))[1]

    second = by_x(by_x(lambda x: ops.betainc(a, b, x)))
    x = 1 - rest
    for function, wanted in (
        (second, [a[0] * (a[0] - 1) * x[0] ** (a[0] - 2), 6 * x[1], 6 * (2 * rest[2] - 1), 12 * x[3] ** 2]),
        (by_x(second), [a[0] * (a[0] - 1) * (a[0] - 2) * x[0] ** (a[0] - 3), 6.0, -12.0, 24 * x[3]]),
    ):
        found = (jit(function, backend=backend) if backend else function)(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def moments(a: float, x: float) -> dict[tuple[int, ...], tuple[Any, Any]]:
    """Returns derivatives of the lower incomplete gamma function by ``x`` and others, and how large their terms are."""
    p = gamma_density(a, x)
    by_a, by_x = mp.log(x) - mp.psi(0, a), (a - 1) / x - 1
    bend_a, bend_x = mp.psi(1, a), (a - 1) / x**2
    terms = {
        (1,): (1, 1),
        (0, 1): (by_a, by_a),
        (1, 1): (by_x, by_x),
        (0, 0, 1): (by_a**2 - bend_a, by_a**2 + bend_a),
        (0, 1, 1): (by_a * by_x + 1 / x, abs(by_a * by_x) + 1 / x),
        (1, 1, 1): (by_x**2 - bend_x, by_x**2 + bend_x),
    }
    return {numbers: (p * value, p * size) for numbers, (value, size) in terms.items()}


@BACKENDS
def test_igamma_mixed_derivatives_of_large_arguments(backend):
    """Where the terms of a derivative cancel, its error is bounded by their size."""
    a = np.repeat(10.0 ** np.array([3, 6, 9, 12, 14, 16]), 7)
    x = np.rint(a + np.tile([-5.0, -2.0, -0.3, 0.0, 0.01, 1.0, 6.0], 6) * np.sqrt(a))
    with mp.workdps(60):
        wanted = [moments(mp.mpf(y), mp.mpf(z)) for y, z in zip(a.tolist(), x.tolist(), strict=True)]
    for numbers in wanted[0]:
        derivative: Callable[..., Any] = ops.igamma
        for i in numbers:

            def derivative(a: Any, x: Any, f: Any = derivative, i: int = i) -> Any:
                one, other = (a, x) if i == 0 else (x, a)
                return jvp(lambda y: f(y, other) if i == 0 else f(other, y), (one,), (np.ones_like(one),))[1]

        found = (jit(derivative, backend=backend) if backend else derivative)(a, x)
        for row, value in zip(wanted, np.asarray(found).tolist(), strict=True):
            assert abs(value - row[numbers][0]) <= 2e-12 * abs(row[numbers][1]), numbers


@BACKENDS
def test_igamma_curvature_near_its_root(backend):
    """The second derivative by ``a`` is about ``density(a, x) / (12 a²)`` at ``a = x``, a sum of terms that cancel."""
    a = np.array([1e4, 1e6, 1e8, 1e12, 1e14])
    wanted = [3.32460210830871e-12, 3.3245198344742e-17, 3.3245190116566e-22, 3.3245190033461e-32, 3.3245190033453e-37]

    def slope(f: Any) -> Any:
        return lambda a: jvp(f, (a,), (np.ones_like(a),))[1]

    second = slope(slope(lambda y: ops.igamma(y, a)))
    found = (jit(second, backend=backend) if backend else second)(a)
    terms = 1 / np.sqrt(2 * np.pi * a) / a
    # Below 1e6 they are those of a power series, of which there are more.
    np.testing.assert_array_less(np.abs(found - wanted), np.array([1e-12, 1e-14, 1e-14, 1e-14, 1e-14]) * terms)
