"""Derivatives of functions with a difference of digamma functions, which cancel where one argument is small."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, special
from lawful.autodiff import grad, jvp
from lawful.ops._special.gamma.digamma_differences import digamma_difference_p
from lawful.special import stats
from lawful.staging import jit

FORMS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
}
SIZES = {
    np.float64: (1e-300, 1e-150, 3.7e-18, 1e-9, 0.3, 1.0, 9.9, 29.0, 1e4, 1e18, 1e150, 1e300),
    np.float32: (1e-37, 1e-20, 3.7e-18, 1e-9, 0.3, 1.0, 9.9, 29.0, 1e4, 1e18, 1e37),
}
#: A result next to the smallest normal number is a sum of which XLA drops subnormal terms.
MARGIN = 1e4


def slopes(function: Callable[..., Any], *argnums: int) -> Callable[..., Any]:
    """Returns the derivative by a sequence of arguments; the others have no tangents, whose zeros may meet infinity."""
    for i in argnums:

        def function(*args: Any, f: Any = function, i: int = i) -> Any:
            by_one = lambda x: f(*args[:i], x, *args[i + 1 :])  # noqa: E731
            return jvp(by_one, (args[i],), (lnp.ones_like(args[i]),))[1]

    return function


def all_slopes(function: Callable[..., Any], orders: Sequence[tuple[int, ...]], form: str, *args: Any) -> list[Any]:
    """Returns the derivatives by each of the sequences of arguments, of one program: they share most of its work."""
    with np.errstate(all="ignore"):
        found: list[Any] = FORMS[form](lambda *xs: [slopes(function, *argnums)(*xs) for argnums in orders])(*args)
    return found


@cache
def difference(order: int, x: float, step: float) -> Any:
    """Returns a derivative of the digamma function at ``x``, less that at ``x + step``."""
    with mp.workdps(60 + int(max(0.0, np.log10(x) - np.log10(step)))):
        a, h = mp.mpf(x), mp.mpf(step)
        return mp.psi(order, a) - mp.psi(order, a + h)


def near(found: Any, wanted: list[Any], dtype: Any, rtol: float) -> None:
    info = np.finfo(dtype)
    found, wanted = np.asarray(found), np.array(wanted)
    assert found.dtype == dtype
    sure = np.array([info.tiny * MARGIN < abs(x) < info.max / MARGIN for x in wanted])
    assert sure.sum() > len(sure) / 3
    np.testing.assert_allclose(found[sure].astype(float), wanted[sure].astype(float), rtol=rtol, atol=0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_betaln_derivatives_of_all_sizes(dtype: Any, form: str) -> None:
    orders = [(0,), (1,), (0, 0), (0, 1), (1, 1), (0, 0, 0)]
    points = [np.array(x, dtype) for x in zip(*product(SIZES[dtype], repeat=2), strict=True)]
    for argnums, found in zip(orders, all_slopes(special.betaln, orders, form, *points), strict=True):
        order = len(argnums) - 1
        wanted = []
        for a, b in zip(*[x.tolist() for x in points], strict=True):
            if len(set(argnums)) > 1:
                with mp.workdps(400):
                    wanted.append(-mp.psi(1, mp.mpf(a) + mp.mpf(b)))
            else:
                wanted.append(difference(order, *((a, b) if argnums[0] == 0 else (b, a))))
        near(found, wanted, dtype, 1e-14 if dtype == np.float64 else 1.2e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_beta_derivative_of_all_sizes(dtype: Any, form: str) -> None:
    points = [np.array(x, dtype) for x in zip(*product(SIZES[dtype], repeat=2), strict=True)]
    with np.errstate(all="ignore"):
        found = FORMS[form](slopes(special.beta, 0))(*points)
    wanted = []
    for a, b in zip(*[x.tolist() for x in points], strict=True):
        slope = difference(0, a, b)
        with mp.workdps(700):
            wanted.append(slope * mp.beta(a, b) if a < 1e10 or b < 1e10 else mp.mpf(0))
    near(found, wanted, dtype, 5e-13 if dtype == np.float64 else 1.2e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [2, 3])
def test_beta_higher_derivatives_of_all_sizes(order: int, form: str) -> None:
    """The mixed derivative is a moderate number where the beta function is infinite."""
    orders, rtol = [(0, 0), (0, 1), (1, 0)], 1e-13
    sizes = (1e-90, 3.7e-18, 1e-9, 1e-3, 0.3, 1.0, 3.3, 29.0, 1e4, 1e18, 1e90)
    if order == 3:  # the difference of trigamma functions at close arguments has fewer digits
        orders, rtol = [(0, 0, 1), (1, 0, 1)], 1e-11
        sizes = (0.1, 0.3, 1.0, 3.3, 29.0)
    points = [(a, b) for a, b in product(sizes, repeat=2) if a < 1e10 or b < 1e10]
    for argnums, found in zip(orders, all_slopes(special.beta, orders, form, *np.array(points).T), strict=True):
        near(found, [by_hand(argnums, *point) for point in points], np.float64, rtol)


@cache
def by_hand(argnums: tuple[int, ...], x: float, y: float) -> Any:
    """Returns a derivative of the beta function, as sums of products of derivatives of its logarithm."""
    with mp.workdps(50 + 3 * int(max(abs(np.log10(x)), abs(np.log10(y))))):
        a, b = mp.mpf(x), mp.mpf(y)
        if argnums.count(1) > argnums.count(0):
            a, b = b, a
        p, q, r = (mp.psi(0, a) - mp.psi(0, a + b), mp.psi(0, b) - mp.psi(0, a + b), -mp.psi(1, a + b))
        second = mp.psi(1, a) + r
        factor = p * p + second if len(set(argnums)) == 1 else p * q + r
        if len(argnums) == 3:
            factor = q * (p * p + second) + 2 * p * r - mp.psi(2, a + b)
        return mp.beta(a, b) * factor


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_betaln_derivatives_of_small_negative_steps(order: int, form: str) -> None:
    """The derivatives of the cotangents of a reflected argument cancel too."""
    a = np.array([-0.3, -2.5, -7.1, 3.5, 30.0, -1e4 - 0.25, 0.2, -2.5, -7.1, -1e4 - 0.25, -0.3, -1e-3, 0.2])
    b = np.array([1e-20, -3.7e-18, 1e-30, -1e-25, -1e-18, 1e-9, -1e-40, -3.25, 2.0, -6.3, -7.00001, -1e-9, -7.3])
    wanted = []
    for x, y in zip(a, b, strict=True):
        with mp.workdps(100):
            wanted.append(float(mp.psi(order, mp.mpf(x)) - mp.psi(order, mp.mpf(x) + mp.mpf(y))))
    found = FORMS[form](slopes(special.betaln, *[0] * (order + 1)))(a, b)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_betaln_derivatives_at_infinity(form: str) -> None:
    points = [np.array([np.inf, 2.0, np.inf]), np.array([2.0, np.inf, np.inf])]
    with np.errstate(all="ignore"):
        found = FORMS[form](slopes(special.betaln, 0))(*points)
    np.testing.assert_array_equal(found, [0.0, -np.inf, np.nan])


@pytest.mark.parametrize("form", FORMS)
def test_betainc_derivative_next_to_the_end(form: str) -> None:
    """The derivative by ``a`` of 1 - beta(b, a) to first order in ``b`` and ``1 - x``, integrated by mpmath."""
    a, b, x = np.array([2.0, 29.0]), np.array([1e-18, 3e-12]), np.array([1 - 2.0**-52, 1 - 2.0**-30])
    wanted = []
    for p, q, y in zip(*[map(mp.mpf, z) for z in (a, b, x)], strict=True):
        with mp.workdps(60):

            def tail(p: Any, q: Any = q, y: Any = y) -> Any:
                return -mp.betainc(q, p, 0, 1 - y, regularized=True)

            wanted.append(float(mp.diff(tail, p, h=mp.mpf(10) ** -20)))
    found = FORMS[form](slopes(special.betainc, 0))(a, b, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_dirichlet_of_unequal_exponents(form: str) -> None:
    x, alpha = np.array([0.25, 0.5, 0.25]), np.array([1e10, 2.0, 0.5])
    with mp.workdps(60):

        def exact(*alpha: Any) -> Any:
            powers = sum([(a - 1) * mp.log(y) for a, y in zip(alpha, map(mp.mpf, x), strict=True)])
            return powers + mp.loggamma(sum(alpha)) - sum(map(mp.loggamma, alpha))

        point = tuple(map(mp.mpf, alpha))
        value = float(exact(*point))
        by_first = float(mp.psi(0, sum(point)) - mp.psi(0, point[0]))
        gradient = [float(mp.diff(exact, point, tuple([int(i == j) for j in range(3)]))) for i in range(3)]

    found = FORMS[form](stats.dirichlet.logpdf)(x, alpha)
    np.testing.assert_allclose(found, value, rtol=1e-15)
    found = FORMS[form](grad(lambda alpha: stats.dirichlet.logpdf(x, alpha)))(alpha)
    np.testing.assert_allclose(found, gradient, rtol=1e-14)
    found = FORMS[form](grad(lambda alpha: stats.dirichlet.logpdf(x, alpha) - ops.xlogy(alpha - 1, x).sum()))(alpha)
    np.testing.assert_allclose(found[0], by_first, rtol=1e-5)


#: Arguments of which one is small, by which the derivative by the first one is a difference.
COUNTS: dict[str, tuple[Callable[..., Any], tuple[tuple[float, float], ...]]] = {
    "comb": (mp.binomial, ((5.0, 1e-15), (20.0, 1e-9), (29.5, 1e-30), (25.0, 24.99999999), (3.0, 0.5), (1e6, 1e-12))),
    "poch": (mp.rf, ((2.0, 1e-18), (0.3, 1e-12), (5.5, -1e-15), (3.0, 0.5), (9.0, -2.0), (1e5, 1e-20))),
    "poch of negative": (mp.rf, ((-0.5, 1e-9), (-2.3, -1e-12), (-3.75, 1e-30), (-0.25, 1.5), (-10.7, -3.5))),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", COUNTS)
def test_combinatorial_derivatives_of_small_arguments(name: str, form: str) -> None:
    reference, points = COUNTS[name]
    wanted = []
    with mp.workdps(80):
        for point in points:
            by_first, by_second = [
                mp.diff(reference, tuple(map(mp.mpf, point)), orders, h=mp.mpf(10) ** -30)
                for orders in ((1, 0), (0, 1))
            ]
            wanted.append((float(by_first), float(by_second)))
    args = np.array(points).T
    found = [FORMS[form](slopes(getattr(special, name.split()[0]), i))(*args) for i in range(2)]
    np.testing.assert_allclose(np.transpose(found), wanted, rtol=1e-13)


#: Numbers of things and of those chosen; the last ones have infinitely many ways.
MANY = (
    (31.0, 1e-12), (50.0, 2.5), (50.0, 25.5), (1e3, 450.0), (1e4, 3.0), (1e18, 1.5), (1e18, 1e18 - 256.0),
    (1e4, 500.0), (1e4, 9000.0), (1e6, 515.0), (1e150, 3.5), (1e160, 2.0), (1e160, 2.5),
)  # fmt: skip


@cache
def ways(argnums: tuple[int, ...], x: float, y: float, repetition: bool) -> float:
    """Returns a derivative of the number of ways to choose, by its logarithm."""
    with mp.workdps(60 + 3 * int(np.log10(x)) + 3 * int(-np.log10(min(y, 1.0)))):
        first, k = mp.mpf(x), mp.mpf(y)
        rest = first - 1 if repetition else first - k
        n = rest + k
        if rest == k and not repetition and argnums in ((1,), (1, 1, 1)):
            return 0.0  # by symmetry; mpmath's terms differ in their last digits

        def logarithm(*numbers: int) -> Any:
            order, count = len(numbers) - 1, sum(numbers)
            of_n = mp.psi(order, n + 1) if repetition or not count else 0
            of_rest = mp.psi(order, rest + 1) * ((not count) if repetition else (-1) ** count)
            return of_n - of_rest - (mp.psi(order, k + 1) if count == order + 1 else 0)

        factor = mp.fprod([logarithm(i) for i in argnums])
        if len(argnums) == 2:
            factor += logarithm(*argnums)
        elif len(argnums) == 3:
            i, j, m = argnums
            factor += logarithm(i) * logarithm(j, m) + logarithm(j) * logarithm(i, m) + logarithm(m) * logarithm(i, j)
            factor += logarithm(*argnums)
        return float(mp.binomial(n, k) * factor)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("repetition", [False, True])
def test_comb_derivatives_of_many(repetition: bool, form: str) -> None:
    """They are finite, or infinite and never NaN, where there are more ways than any number."""
    orders, args = [(0,), (1,), (0, 0), (0, 1), (1, 1)], np.array(MANY).T

    def function(n: Any, k: Any) -> Any:
        return special.comb(n, k, repetition=repetition)

    def pulled(*xs: Any) -> list[Any]:
        def by(i: int, f: Callable[..., Any]) -> Callable[..., Any]:
            return grad(lambda *xs: f(*xs).sum(), i)

        return [reduce(lambda f, i: by(i, f), argnums, function)(*xs) for argnums in orders]

    with np.errstate(all="ignore"):
        reverse = FORMS[form](pulled)(*args)
    for argnums, found, back in zip(orders, all_slopes(function, orders, form, *args), reverse, strict=True):
        wanted = [ways(argnums, *point, repetition) for point in MANY]
        assert not np.isfinite(wanted).all()
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_allclose(back, wanted, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("repetition", [False, True])
def test_comb_third_derivatives_of_many(repetition: bool, form: str) -> None:
    """Terms of either sign would overflow, and differences of derivatives of the digamma function underflow."""
    orders = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    points = [*MANY, (1e200, 2.0), (1e200, 3.0), (1e300, 1.5), (1100.0, 550.0), (50.0, 1e-90)]
    function = partial(special.comb, repetition=repetition)
    for argnums, found in zip(orders, all_slopes(function, orders, form, *np.array(points).T), strict=True):
        wanted = [ways(argnums, *point, repetition) for point in points]
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("form", FORMS)
def test_comb_derivatives_by_choice_of_infinitely_many_ways(form: str) -> None:
    """The signs are those of a maximum in the middle, where odd derivatives are 0."""
    n, k = np.full(3, 1e6), np.array([4e5, 5e5, 6e5])
    signs = [[1, 0, -1], [1, -1, 1], [1, 0, -1], [1, 1, 1], [1, 0, -1]]

    def function(n: Any, k: Any) -> list[Any]:
        forward = [slopes(special.comb, *[1] * order)(n, k) for order in (1, 2, 3, 4)]
        return [*forward, grad(lambda n, k: special.comb(n, k).sum(), 1)(n, k)]

    with np.errstate(all="ignore"):
        found = FORMS[form](function)(n, k)
    np.testing.assert_array_equal(found, [[np.inf * sign if sign else 0.0 for sign in row] for row in signs])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("repetition", [False, True])
def test_comb_curvature_of_a_tiny_choice(repetition: bool, form: str) -> None:
    n, k = np.array([50.0, 1e3, 1e60]), np.array([1e-150, 1e-120, 1e-90])
    found = FORMS[form](slopes(lambda n, k: special.comb(n, k, repetition=repetition), 0, 0))(n, k)
    wanted = [ways((0, 0), *point, repetition) for point in zip(n.tolist(), k.tolist(), strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_poch_derivative_at_zero(form: str) -> None:
    m = np.array([1.0, 2.0, 5.0, 0.5, -0.5, -2.0, 0.0])
    wanted = [1.0, 1.0, 24.0, *map(math.gamma, (0.5, -0.5)), 0.75, 0.0]
    for zero in (0.0, -0.0):
        found = FORMS[form](slopes(special.poch, 0))(np.full(7, zero), m)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("form", FORMS)
def test_betabinom_of_large_shapes(form: str) -> None:
    def exact(a: Any, b: Any, k: int, n: int) -> Any:
        return mp.log(mp.binomial(n, k) * mp.rf(a, k) * mp.rf(b, n - k) / mp.rf(a + b, n))

    a, b = np.array([1e10, 3e5, 2.0, 40.0, 1e15]), np.array([2e10, 1e7, 3.0, 1e-3, 3e15])
    k, n = np.array([1.0, 5.0, 2.0, 7.0, 0.0]), np.array([6.0, 9.0, 4.0, 9.0, 3.0])
    wanted = []
    with mp.workdps(80):
        for p, q, i, m in zip(*[x.tolist() for x in (a, b, k, n)], strict=True):
            point, orders = (mp.mpf(p), mp.mpf(q)), ((0, 0), (1, 0), (0, 1))
            f = lambda a, b, i=i, m=m: exact(a, b, int(i), int(m))  # noqa: E731
            step = mp.mpf(10) ** -30
            wanted.append([float(f(*point) if o == (0, 0) else mp.diff(f, point, o, h=step)) for o in orders])
    function = stats.betabinom.logpmf
    found = [FORMS[form](f)(k, n, a, b) for f in (function, slopes(function, 2), slopes(function, 3))]
    np.testing.assert_allclose(found[0], np.array(wanted)[:, 0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.transpose(found[1:]), np.array(wanted)[:, 1:], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_digamma_difference_lowers_to_a_short_program(order: int) -> None:
    """Second derivatives of `beta` have ten of them, so that XLA's time to compile counts."""
    difference = jit(lambda x, h: digamma_difference_p.bind(x, h, order=order), backend="xla")
    assert difference.lower(2.0, 3.0).as_text().count("stablehlo.") <= 420


@pytest.mark.parametrize("form", FORMS)
def test_comb_of_none_of_infinitely_many(form: str) -> None:
    n, k = np.array([np.inf, np.inf, 1e300]), np.array([0.0, 1.0, 0.0])
    np.testing.assert_array_equal(FORMS[form](special.comb)(n, k), [1.0, np.inf, 1.0])
    by_both = FORMS[form](grad(lambda n, k: special.comb(n, k).sum(), (0, 1)))(n, k)
    np.testing.assert_array_equal([x[0] for x in by_both], [0.0, np.inf])
