"""Derivatives of the beta function at negative arguments: where a limit exists, and NaN where none does."""

import warnings
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, special
from lawful.autodiff import grad, jacfwd, jacrev, jvp
from lawful.staging import jit

#: Pairs without integers; most sums are integers.
SMOOTH = ((-1.5, 0.5), (-1.5, 1.5), (0.5, -0.5), (-0.5, -0.5), (-2.5, -1.5), (-3.7, 1.2), (-0.3, 0.1), (0.2, 0.1))
#: A negative integer, and a positive integer of at most its size.
REMOVABLE = ((-1.0, 1.0), (-3.0, 1.0), (-3.0, 2.0), (-3.0, 3.0))
POLES = ((-3.0, 4.0), (-3.0, 2.5), (-1.0, -1.0), (-3.0, -0.5))


def exact(a: Any, b: Any) -> Any:
    return mp.gamma(a) * mp.gamma(b) * mp.rgamma(a + b)


def wanted(function: Callable[[Any], Any], x: float, orders: int) -> list[float]:
    with mp.workdps(60):
        return [float(mp.diff(function, mp.mpf(x), k, h=mp.mpf(10) ** -14)) for k in range(orders + 1)]


def found(a: Any, b: Any, orders: int, backend: str, function: Callable[[Any, Any], Any] = special.beta) -> Any:
    """Returns the value and derivatives by the first argument, as rows."""

    def rows(a: Any, b: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [lambda a: function(a, b)]
        for _ in range(orders):
            functions.append(lambda a, f=functions[-1]: jvp(f, (a,), (lnp.ones_like(a),))[1])
        return [f(a) for f in functions]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's warnings about poles
        return np.array((jit(rows, backend=backend) if backend else rows)(a, b))


@pytest.mark.parametrize(("backend", "orders"), [("", 3), ("numpy", 3), ("xla", 1)])
def test_beta_derivatives_at_negative_numbers(backend: str, orders: int) -> None:
    points = [*SMOOTH, *[(b, a) for a, b in SMOOTH], *REMOVABLE]
    expected = [
        wanted(
            (lambda a, b=b: mp.factorial(b - 1) / mp.rf(a, b))
            if (a, b) in REMOVABLE
            else (lambda a, b=b: exact(a, mp.mpf(b))),
            a,
            orders,
        )
        for a, b in points
    ]
    a, b = np.array(points).T
    np.testing.assert_allclose(found(a, b, orders, backend).T, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("backend", "orders"), [("", 3), ("numpy", 3), ("xla", 1)])
def test_beta_derivatives_that_do_not_exist(backend: str, orders: int) -> None:
    """By the positive integer beside a negative one there is a value and no derivative; poles have neither."""
    removable = np.array(REMOVABLE)
    values = found(removable[:, 1], removable[:, 0], orders, backend)
    np.testing.assert_allclose(
        values[0], [wanted(lambda a, b=b: mp.factorial(b - 1) / mp.rf(a, b), a, 0)[0] for a, b in REMOVABLE]
    )
    assert np.isnan(values[1:]).all()
    poles = np.array(POLES)
    assert np.isnan(found(*poles.T, orders, backend)).all()


@pytest.mark.parametrize(("backend", "orders"), [("", 3), ("numpy", 3), ("xla", 2)])
def test_betaln_derivatives_at_removable_poles(backend: str, orders: int) -> None:
    expected = [wanted(lambda a, b=b: mp.log(abs(mp.factorial(b - 1) / mp.rf(a, b))), a, orders) for a, b in REMOVABLE]
    a, b = np.array(REMOVABLE).T
    np.testing.assert_allclose(found(a, b, orders, backend, special.betaln).T, expected, rtol=1e-12, atol=1e-14)
    by_positive = found(b, a, orders, backend, special.betaln)
    np.testing.assert_allclose(by_positive[0], np.array(expected)[:, 0], rtol=1e-12, atol=1e-14)
    assert np.isnan(by_positive[1:]).all()


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_betaln_reverse_derivatives_at_removable_poles(backend: str) -> None:
    for a, b in REMOVABLE:
        gradient = grad(special.betaln, (0, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # 0 times the infinite slope of a root
            by_a, by_b = (jit(gradient, backend=backend) if backend else gradient)(a, b)
        np.testing.assert_allclose(by_a, found(np.array([a]), b, 1, "", special.betaln)[1, 0])
        assert np.isnan(by_b)


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_beta_derivatives_at_zero(backend: str) -> None:
    """They are the limits from the side of the sign, in both modes and all combinations of them."""
    sides = [(0.0, (np.inf, -np.inf, np.inf)), (-0.0, (-np.inf, -np.inf, -np.inf))]
    for function in (special.gamma, lambda a: special.beta(a, 0.5), lambda a: special.beta(2.0, a)):
        first = (jacfwd(function), jacrev(function))
        functions = (function, *first, *[second(f) for second in (jacfwd, jacrev) for f in first])

        def all_of(a: Any, functions: Any = functions) -> list[Any]:
            return [f(a) for f in functions]

        chosen = jit(all_of, backend=backend) if backend else all_of
        for zero, limits in sides:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's warnings about poles
                values = [float(x) for x in chosen(zero)]
            assert values == [limits[0], *[limits[1]] * 2, *[limits[2]] * 4]
            if backend != "xla":  # which compiles the third order slowly
                values = found(np.array([zero]), 0.5, 3, backend, lambda a, _, f=function: f(a))
                assert values.ravel().tolist() == [*limits, -np.inf]


@pytest.mark.parametrize("backend", ["", "xla"])
@pytest.mark.parametrize(
    ("a", "b", "x", "orders", "expected"),
    [
        (0.4, 1e-10, 0.38, (0, 2), -8.244373435548773),
        (1e-10, 0.5, 0.3, (3, 0), -48.850389496275895),
        (1e-10, 0.5, 0.9, (3, 0), -10.43644560918179),
        (0.4, 2.2250738585072014e-308, 0.38, (0, 1), 1.9384981604749995),
        (0.4, 2.2250738585072014e-308, 0.38, (1, 1), -6.2727258843771917),
        (0.001, 0.002, 0.3, (1, 2), 62950.72142766216),
        (30.0, 25.0, 0.6, (1, 2), 0.00021577308929588017),
    ],
)
def test_betainc_derivative_at_small_parameters(
    a: float, b: float, x: float, orders: tuple[int, int], expected: float, backend: str
) -> None:
    """The poles of the gamma function at 0 do not cancel. The values are mpmath's, of 120 digits."""

    def function(*args: Any) -> Any:
        return ops.regularized_incomplete_beta_derivative_p.bind(*args, orders=orders)

    compiled = jit(function, backend=backend) if backend else function
    np.testing.assert_allclose(np.asarray(compiled(*map(np.float64, (a, b, x)))), expected, rtol=1e-9)
