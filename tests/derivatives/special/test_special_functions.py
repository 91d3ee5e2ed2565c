"""Values and derivatives of functions of `lawful.special` against mpmath, by each argument, over wide domains.

The error is bounded by that of the result for arguments with rounding errors: a few ulps, times one and the condition
number. Compiled programs are compared with the evaluated ones.
"""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special

from lawful import special
from lawful.autodiff import grad, jvp
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.special import stats
from lawful.staging import jit

from .reference import ULP, Case, expected


def wide(low: float, high: float, count: int, seed: int = 0) -> list[tuple[float, ...]]:
    """Returns calls with one argument, spread evenly over orders of magnitude."""
    return [(x,) for x in (10 ** np.random.default_rng(seed).uniform(low, high, count)).tolist()]


def between(*intervals: tuple[float, float], count: int = 10) -> list[tuple[float, ...]]:
    """Returns calls with arguments in intervals."""
    random = np.random.default_rng(1)
    return list(zip(*[random.uniform(*interval, count).tolist() for interval in intervals], strict=True))


def boxcox(x: Any, lmbda: Any) -> Any:
    # A small exponent makes the quotient a limit.
    return (x**lmbda - 1) / lmbda if lmbda else mp.log(x)


def dawson(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def erfc_inv(y: Any) -> Any:
    guess = -NormalDist().inv_cdf(float(y) / 2) / math.sqrt(2)
    return mp.findroot(lambda x: mp.log(mp.erfc(x)) - mp.log(y), guess) if y != 1 else mp.mpf(0)


def owens_t(h: Any, a: Any) -> Any:
    nodes = mp.linspace(0, a, 5)
    return mp.quad(lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), nodes) / (2 * mp.pi)


CASES = {
    "boxcox": Case(
        boxcox,
        [(1e-3, 0.5), (0.7, -3.0), (1.0 + 1e-9, 2.0), (2.0, 1e-9), (30.0, 2.5), (1e5, -1.5), (5.0, 40.0)],
        argnums=(0, 1),
    ),
    "boxcox1p": Case(
        lambda x, lmbda: boxcox(1 + x, lmbda),
        [(1e-20, 0.5), (-0.9, -3.0), (1e-9, 2.0), (2.0, 1e-9), (30.0, 2.5), (1e5, -1.5), (5.0, 40.0)],
        argnums=(0, 1),
    ),
    "gamma": Case(mp.gamma, [*between((-20, 20)), *between((20, 171)), *wide(-10, 0, 5)]),
    "factorial": Case(mp.factorial, [(0.0,), (5.0,), *between((0, 170))]),
    "comb": Case(
        mp.binomial,
        [(10.0, 3.0), (10.5, 0.25), (169.5, 20.25), (300.0, 7.0), (1e6, 2.0), (1e10, 2.5)],
        argnums=(0, 1),
        growth=16,
    ),
    "poch": Case(
        lambda z, m: mp.gammaprod([z + m], [z]),
        [(3.0, 2.0), (-3.5, 2.0), (-3.5, 7.25), (3.5, -6.25), (-2.5, -0.75), (1e8, 2.5), (50.0, 100.0), (300.0, 20.0)],
        argnums=(0, 1),
        growth=16,
    ),
    "erfcinv": Case(
        erfc_inv,
        [*between((0.01, 1.99)), (1e-10,), (1e-200,)],
        orders=1,
        slopes=[lambda y: -mp.sqrt(mp.pi) / 2 * mp.exp(erfc_inv(y) ** 2)],
    ),
    "erfcx": Case(lambda x: mp.exp(x * x) * mp.erfc(x), [*between((-5, 10)), *wide(-10, 2, 10)]),
    "dawsn": Case(dawson, [*between((-3, 10)), *wide(-10, 2, 10)], growth=8),
    "exp1": Case(mp.e1, [*between((0, 8)), *wide(-10, 2.5, 10)]),
    "expi": Case(mp.ei, [*between((0, 8)), *between((-10, 50)), *wide(-10, 2.5, 10)]),
    "expn": Case(
        mp.expint,
        [(0.0, 0.5), (1.0, 1e-5), (1.0, 30.0), (2.0, 0.5), (2.0, 1.5), (20.0, 0.9)],
        argnums=(1,),
        ulps=24,
        slopes=[lambda n, x: -mp.expint(n - 1, x)],
    ),
    "spence": Case(
        lambda x: mp.re(mp.polylog(2, 1 - x)),
        [*between((0.01, 4)), (1.0 + 1e-9,), (1e-9,), (1e9,)],
        slopes=[lambda x: mp.log(x) / (1 - x)],
    ),
    "owens_t": Case(
        owens_t,
        [(1.0, 0.5), (0.1, 1.0), (2.0, 3.0), (-0.5, -1.5), (3.0, 0.01), (5.0, 0.9)],
        orders=1,
        argnums=(0, 1),
        slopes=[
            lambda h, a: -mp.exp(-h * h / 2) / (2 * mp.sqrt(2 * mp.pi)) * mp.erf(a * h / mp.sqrt(2)),
            lambda h, a: mp.exp(-h * h * (1 + a * a) / 2) / (2 * mp.pi * (1 + a * a)),
        ],
    ),
}


PAIRS = {
    "sici": (
        Case(mp.si, [*between((-12, 12)), *wide(-8, 4, 10)]),
        Case(lambda x: mp.ci(abs(x)), [*between((0.01, 12)), *wide(-8, 4, 10)]),
    ),
    "fresnel": (
        Case(mp.fresnels, [*between((-5, 5)), *wide(-8, 4, 10)]),
        Case(mp.fresnelc, [*between((-5, 5)), *wide(-8, 4, 10)]),
    ),
}


def derivatives(function: Callable[..., Any], argnum: int, orders: int) -> Callable[..., list[Any]]:
    """Returns the function that returns the value and the derivatives by an argument."""

    def rows(*args: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [lambda x: function(*args[:argnum], x, *args[argnum + 1 :])]
        for _ in range(orders):
            functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (np.ones(np.shape(x)),))[1])
        return [f(args[argnum]) for f in functions]

    return rows


def check(case: Case, function: Callable[..., Any]) -> None:
    """Compares values and derivatives, evaluated and compiled, with the reference."""
    arrays = [np.array(x) for x in zip(*case.calls, strict=True)]
    for argnum in case.argnums:
        rows = derivatives(function, argnum, case.orders)
        found = np.array(rows(*arrays)).T
        compiled = np.array(jit(rows, backend="xla")(*arrays)).T
        for args, values, others in zip(case.calls, found, compiled, strict=True):
            exact = expected(case, argnum, args, case.orders + 1)
            # An error of each argument changes the value by its condition number.
            slopes = [exact[1] if i == argnum else expected(case, i, args, 1)[1] for i in case.argnums]
            change = sum([abs(mp.mpf(args[i]) * slope) for i, slope in zip(case.argnums, slopes, strict=True)])
            bound = case.ulps * ULP
            for order, (value, other) in enumerate(zip(values, others, strict=True)):
                if order:
                    change = abs(mp.mpf(args[argnum]) * exact[order + 1])
                error = float(bound * (abs(exact[order]) + change))
                for x in (value, other):
                    assert abs(x - exact[order]) <= error, (args, argnum, order, x, float(exact[order]), error)
                bound *= case.growth


@pytest.mark.parametrize("name", CASES)
def test_special_functions_have_all_digits(name: str) -> None:
    check(CASES[name], getattr(special, name))


@pytest.mark.parametrize("name", PAIRS)
def test_special_pairs_have_all_digits(name: str) -> None:
    for i, case in enumerate(PAIRS[name]):
        check(case, lambda x, i=i: getattr(special, name)(x)[i])


@pytest.mark.parametrize("v", [0, 1, 40])
def test_bessel_jn_has_all_digits(v: int) -> None:
    z = np.concatenate([np.random.default_rng(0).uniform(-60, 60, 12), [1e-5, 1.999, 2.0, 24.999, 25.0, 1e4]])
    exact = np.array([[float(mp.besselj(n, mp.mpf(x))) for x in z] for n in range(-1, v + 3)])
    slopes = (exact[:-2] - exact[2:]) / 2
    curves = (slopes[:-2] - slopes[2:]) / 2  # of orders 1 to v

    def values(z: Any) -> Any:
        return special.bessel_jn(z, v=v)

    compiled = jit(values, backend="xla")(z)
    bound = 16 * ULP * (np.abs(exact[1:-2]) + np.abs(z * slopes[:-1])) + 1e-300
    for found in (values(z), np.asarray(compiled)):
        assert (np.abs(found - exact[1:-2]) <= bound).all()
    ones = np.ones_like(z)
    first = jvp(values, (z,), (ones,))[1]
    np.testing.assert_allclose(first, slopes[:-1], rtol=1e-11, atol=1e-15)
    second = jvp(lambda z: jvp(values, (z,), (ones,))[1], (z,), (ones,))[1]
    np.testing.assert_allclose(second[1:], curves[:v], rtol=1e-11, atol=1e-15)


def test_bessel_jn_of_special_numbers() -> None:
    ends = special.bessel_jn(np.array([math.inf, -math.inf, 0.0, math.nan]), v=1)
    np.testing.assert_array_equal(ends, [[0, 0, 1, math.nan], [0, 0, 0, math.nan]])
    assert special.bessel_jn(np.float32(1), v=1).dtype == np.float32
    with pytest.raises(ArgumentValueError, match="bessel_jn: expected an order v"):
        special.bessel_jn(1.0, v=-1)
    with pytest.raises(ArgumentTypeError, match="static integer as v"):
        special.bessel_jn(1.0, v=1.5)


def test_special_functions_at_special_numbers() -> None:
    inf, nan = math.inf, math.nan
    with np.errstate(all="ignore"):
        found = special.boxcox(np.array([0.0, 0, 0, -1]), np.array([1, 0, -1, 1]))
        np.testing.assert_array_equal(found, [-1, -inf, -inf, nan])
        np.testing.assert_array_equal(special.factorial(np.array([-1.5, 0, 4, 200, nan])), [0, 1, 24, inf, nan])
        np.testing.assert_array_equal(special.comb(5, np.array([-1, 0, 2, 6])), [0, 1, 10, 0])
        found = special.poch(np.array([-3.0, -3, -3, 2, 0]), np.array([2, 4, 0.5, -3, 0]))
        np.testing.assert_array_equal(found, [6, 0, 0, inf, 1])
        np.testing.assert_array_equal(special.exp1(np.array([-1.0, 0, inf])), [nan, inf, 0])
        np.testing.assert_array_equal(special.expi(np.array([-inf, 0, inf])), [0, -inf, inf])
        np.testing.assert_array_equal(
            special.expn(np.array([0, 1, 2, 1]), np.array([0.0, 0, 0, -1])), [inf, inf, 1, nan]
        )
        np.testing.assert_array_equal(special.sici(np.array([0, inf])), [[0, math.pi / 2], [-inf, 0]])
        np.testing.assert_array_equal(special.fresnel(np.array([0, -inf])), [[0, -0.5], [0, -0.5]])
        np.testing.assert_array_equal(special.spence(np.array([-1.0, 1, inf])), [nan, 0, -inf])
        np.testing.assert_array_equal(special.erfcx(np.array([-inf, 0, inf])), [inf, 1, 0])
        np.testing.assert_array_equal(special.dawsn(np.array([-inf, 0, inf])), [0, 0, 0])
        np.testing.assert_array_equal(special.erfcinv(np.array([-1.0, 0, 1, 2])), [nan, inf, 0, -inf])
        np.testing.assert_allclose(
            special.owens_t(np.array([0, 1, inf]), np.array([inf, inf, 1])), [0.25, special.ndtr(-1.0) / 2, 0]
        )
    for n in (0, 1, 2, 30, 258):
        found = special.bernoulli(n)
        np.testing.assert_array_equal(found[2:], [float(mp.bernoulli(k)) for k in range(2, n + 1)])
        np.testing.assert_array_equal(found[:2], [1, -0.5][: n + 1])
    with pytest.raises(ArgumentValueError, match="exact=False"):
        special.factorial(3, exact=True)


def harmonic(n: int, m: int, theta: Any, phi: Any) -> Any:
    size = abs(m)
    norm = mp.sqrt((2 * n + 1) / (4 * mp.pi) * mp.factorial(n - size) / mp.factorial(n + size))
    legendre = mp.legenp(n, size, mp.cos(theta), type=2)
    return (-1 if m < 0 and m % 2 else 1) * norm * legendre * mp.expj(m * phi)


def test_sph_harm_y_has_all_digits() -> None:
    degrees, orders = np.array([0, 1, 1, 2, 3, 7, 7, 20, 3, 2]), np.array([0, 1, -1, 0, -2, 5, -7, 11, 4, -3])
    inside = np.abs(orders) <= degrees
    theta, phi = np.random.default_rng(0).uniform(0.1, 3.0, (2, 10))
    rows = list(zip(degrees.tolist(), orders.tolist(), theta.tolist(), phi.tolist(), inside, strict=True))
    exact = [complex(harmonic(*x)) if k else 0 for *x, k in rows]
    compiled = jit(lambda t, p: special.sph_harm_y(degrees, orders, t, p), backend="xla")(theta, phi)
    for found in (special.sph_harm_y(degrees, orders, theta, phi), np.asarray(compiled)):
        np.testing.assert_allclose(found, exact, rtol=1e-13)
    slopes = [complex(mp.diff(lambda t, x=x, y=y, p=p: harmonic(x, y, t, p), t)) if k else 0 for x, y, t, p, k in rows]
    ones = np.ones_like(theta)
    by_theta = jvp(lambda t: special.sph_harm_y(degrees, orders, t, phi), (theta,), (ones,))[1]
    np.testing.assert_allclose(by_theta, slopes, rtol=1e-11)
    by_phi = jvp(lambda p: special.sph_harm_y(degrees, orders, theta, p), (phi,), (ones,))[1]
    np.testing.assert_allclose(by_phi, 1j * orders * np.array(exact), rtol=1e-13)


def test_sph_harm_y_arguments() -> None:
    clipped = special.sph_harm_y(np.array([10]), np.array([2]), 0.3, 0.2, n_max=6)
    np.testing.assert_array_equal(clipped, special.sph_harm_y(np.array([6]), np.array([2]), 0.3, 0.2))
    assert special.sph_harm_y(2, 1, np.float32(0.5), np.float32(1)).dtype == np.complex64
    np.testing.assert_allclose(jit(lambda n: special.sph_harm_y(n, 2, 0.3, 0.2, n_max=6))(np.array([6])), clipped)
    with pytest.raises(ArgumentTypeError, match="give the largest degree as n_max"):
        jit(lambda n: special.sph_harm_y(n, 2, 0.3, 0.2))(np.array([6]))
    with pytest.raises(ArgumentTypeError, match="expected integers as degrees n"):
        special.sph_harm_y(1.0, 1, 0.3, 0.2)
    with pytest.raises(ArgumentValueError, match="expected diff_n=None"):
        special.sph_harm_y(1, 1, 0.3, 0.2, diff_n=1)


def poisson_entropy(mu: Any) -> Any:
    total, log_mu = mp.mpf(0), mp.log(mu)
    for k in range(max(0, int(mu - 14 * mp.sqrt(mu))), int(mu + 14 * mp.sqrt(mu)) + 40):
        log_probability = k * log_mu - mu - mp.loggamma(k + 1)
        total -= mp.exp(log_probability) * log_probability
    return total


def test_poisson_entropy_has_all_digits() -> None:
    mu = np.array([1e-10, 0.3, 1.0, 8.0, 29.9, 30.1, 90.0, 400.0])
    with mp.workdps(40):
        exact = [float(poisson_entropy(mp.mpf(x))) for x in mu]
        slopes = [float(mp.diff(poisson_entropy, mp.mpf(x), h=mp.mpf(x) * mp.mpf(10) ** -15)) for x in mu]

    def slope(x: Any) -> Any:
        return jvp(stats.poisson.entropy, (x,), (np.ones_like(x),))[1]

    for found in (stats.poisson.entropy(mu), jit(stats.poisson.entropy, backend="xla")(mu)):
        np.testing.assert_allclose(found, exact, rtol=4e-15)
    np.testing.assert_allclose(slope(mu), slopes, rtol=2e-13)
    ends = stats.poisson.entropy(np.array([-1.0, 0.0, math.inf, math.nan]))
    np.testing.assert_array_equal(ends, [math.nan, 0.0, math.inf, math.nan])


def test_sph_harm_y_beyond_pi_equals_scipy() -> None:
    for n in range(4):
        orders, theta = np.arange(-n, n + 1)[:, None], np.array([-2.0, -0.5, 0.0, 0.5, 4.0])
        np.testing.assert_allclose(
            special.sph_harm_y(n, orders, theta, 1.0), scipy.special.sph_harm_y(n, orders, theta, 1.0), atol=1e-14
        )
    slope = grad(lambda t: special.sph_harm_y(1, 1, t, 0.0).real)(0.0)
    np.testing.assert_allclose(slope, -math.sqrt(3 / (8 * math.pi)))


def test_sici_of_minus_infinity_equals_scipy() -> None:
    np.testing.assert_array_equal(special.sici(-math.inf), scipy.special.sici(-math.inf))
