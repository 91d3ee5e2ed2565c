"""Derivatives of the incomplete gamma and beta functions at the ends of their domains: the limits from inside."""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import jvp
from lawful.staging import jit

INF = np.inf
#: Deep derivatives take seconds to compile; these have all kinds of equations.
COMPILED = ((0, 2), (1, 2, 2))
#: Derived by hand from the power series of the integrands, for each first argument.
GAMMA_AT_ZERO = {
    0.5: (0, INF, -INF, INF),
    1.0: (0, 1, -1, 1),
    1.5: (0, 0, INF, -INF),
    2.0: (0, 0, 1, -2),
    2.5: (0, 0, 0, INF),
    3.0: (0, 0, 0, 1),
    4.0: (0, 0, 0, 0),
}
BETA_AT_ZERO = {
    (0.5, 4.0): (0, INF, -INF, INF),
    (1.0, 1.0): (0, 1, 0, 0),
    (1.0, 2.0): (0, 2, -2, 0),
    (1.5, 2.0): (0, 0, INF, -INF),
    (2.0, 3.0): (0, 0, 12, -48),
    (2.5, 2.0): (0, 0, 0, INF),
    (3.0, 1.0): (0, 0, 0, 6),
    (4.0, 1.0): (0, 0, 0, 0),
    # Infinite terms beside zeros.
    (0.5, 0.5): (0, INF, -INF, INF),
    (0.5, 1.0): (0, INF, -INF, INF),
    (0.5, 1.5): (0, INF, -INF, INF),
    (0.25, 2.0): (0, INF, -INF, INF),
    (1.5, 0.5): (0, 0, INF, -INF),
}


def rows(function: Callable[..., Any], backend: str, *args: Any) -> Any:
    """Returns the value and the derivatives of orders 1 to 3 by the last argument."""

    def derivatives(*args: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [lambda x: function(*args[:-1], x)]
        for _ in range(3):
            functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (lnp.ones_like(x),))[1])
        return [f(args[-1]) for f in functions]

    with np.errstate(all="ignore"):
        return np.array((jit(derivatives, backend=backend) if backend else derivatives)(*args)).T


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_igamma_derivatives_at_zero(backend: str) -> None:
    a = np.array([*GAMMA_AT_ZERO])
    wanted = np.array([*GAMMA_AT_ZERO.values()], float)
    np.testing.assert_allclose(rows(ops.igamma, backend, a, np.zeros_like(a)), wanted, rtol=1e-12)
    wanted = np.concatenate([1 - wanted[:, :1], -wanted[:, 1:]], 1)
    np.testing.assert_allclose(rows(ops.igammac, backend, a, np.zeros_like(a)), wanted, rtol=1e-12)


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_igamma_derivatives_at_infinity(backend: str) -> None:
    a = np.array([0.5, 1.0, 3.0])
    np.testing.assert_array_equal(rows(ops.igamma, backend, a, np.full(3, INF)), [[1, 0, 0, 0]] * 3)


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_betainc_derivatives_at_both_ends(backend: str) -> None:
    a, b = np.array([*BETA_AT_ZERO]).T
    wanted = np.array([*BETA_AT_ZERO.values()], float)
    np.testing.assert_allclose(rows(ops.betainc, backend, a, b, np.zeros_like(a)), wanted, rtol=1e-12)
    # I(x; a, b) = 1 - I(1 - x; b, a).
    wanted = np.concatenate([1 - wanted[:, :1], wanted[:, 1:] * [1, -1, 1]], 1)
    np.testing.assert_allclose(rows(ops.betainc, backend, b, a, np.ones_like(a)), wanted, rtol=1e-12)


def nested(function: Callable[..., Any], numbers: Sequence[int], args: Sequence[Any]) -> Any:
    """Returns a derivative by the arguments with these numbers."""
    for number in numbers:

        def derivative(*xs: Any, f: Callable[..., Any] = function, i: int = number) -> Any:
            return jvp(lambda y: f(*xs[:i], y, *xs[i + 1 :]), (xs[i],), (lnp.ones_like(xs[i]),))[1]

        function = derivative
    return function(*args)


def orders_up_to_three(count: int) -> list[tuple[int, ...]]:
    return [numbers for k in (1, 2, 3) for numbers in combinations_with_replacement(range(count), k)]


def compare(
    function: Callable[..., Any],
    reference: Callable[..., Any],
    numbers: Sequence[int],
    args: Sequence[Any],
    compiled: bool,
) -> None:
    """Compares a derivative with that of a function of mpmath."""
    orders = tuple(numbers.count(i) for i in range(len(args)))
    wanted = [
        float(mp.diff(reference, tuple(map(mp.mpf, row)), orders, h=mp.mpf(10) ** -8))
        for row in zip(*args, strict=True)
    ]
    arrays = [np.array(x) for x in args]
    run = jit(lambda *xs: nested(function, numbers, xs)) if compiled else lambda *xs: nested(function, numbers, xs)
    np.testing.assert_allclose(run(*arrays), wanted, rtol=1e-7, atol=1e-11)


@pytest.mark.parametrize("numbers", orders_up_to_three(2), ids=str)
def test_igamma_derivatives_by_both(numbers: tuple[int, ...]) -> None:
    """Also at a = 0, where the derivatives are the limits from the right."""
    a, x = zip(*product((0.0, 0.3, 1.0, 15.0), (0.2, 1.7, 5.0)), strict=True)
    with mp.workdps(30):
        compare(ops.igamma, lambda a, x: 1 - mp.gammainc(a, x) * mp.rgamma(a), numbers, (a, x), False)
        compare(ops.igammac, lambda a, x: mp.gammainc(a, x) * mp.rgamma(a), numbers, (a, x), numbers == (0, 1))


@pytest.mark.parametrize("numbers", orders_up_to_three(3), ids=str)
def test_betainc_derivatives_by_all(numbers: tuple[int, ...]) -> None:
    """Also at a = 0 and b = 0, where the derivatives are the limits from the right."""

    def reference(a: Any, b: Any, x: Any) -> Any:
        # The power series, with the pole of the beta function at 0 divided out.
        factor = x**a * (1 - x) ** b * mp.gamma(a + b + 1) / (mp.gamma(a + 1) * mp.gamma(b + 1))
        return factor * b / (a + b) * mp.hyp2f1(a + b, 1, a + 1, x)

    points = [(0.0, 1.5, 0.3), (1.5, 0.0, 0.4), (0.4, 0.7, 0.2), (3.0, 2.0, 0.9), (1.0, 1.0, 0.5), (12.0, 5.0, 0.6)]
    with mp.workdps(30):
        compare(ops.betainc, reference, numbers, list(zip(*points, strict=True)), numbers in COMPILED)


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_incomplete_mixed_derivatives_at_ends(backend: str) -> None:
    """The limits of the density's derivatives by the parameters: a logarithm times a power."""
    cases: list[tuple[Callable[..., Any], tuple[float, ...], tuple[int, ...], float]] = [
        (ops.igamma, (2.0, 0.0), (1, 0), 0.0),
        (ops.igamma, (1.0, 0.0), (1, 0), -INF),
        (ops.igamma, (0.5, 0.0), (1, 0), -INF),
        (ops.igamma, (0.5, 0.0), (1, 0, 0), INF),
        (ops.igamma, (1.5, 0.0), (1, 1, 0), -INF),
        (ops.igamma, (3.0, 0.0), (1, 1, 0), 0.0),
        (ops.igamma, (2.0, INF), (1, 0), 0.0),
        (ops.betainc, (2.0, 0.5, 0.0), (2, 0), 0.0),
        (ops.betainc, (1.0, 2.0, 0.0), (2, 0), -INF),
        (ops.betainc, (1.0, 2.0, 0.0), (2, 1), 1.0),
        (ops.betainc, (1.0, 2.0, 0.0), (2, 2, 1), -1.0 - 2.0),
        (ops.betainc, (2.0, 1.0, 1.0), (2, 0), 1.0),
        (ops.betainc, (2.0, 0.5, 1.0), (2, 0), INF),
        (ops.betainc, (3.0, 2.0, 1.0), (2, 1), 0.0),
        (ops.betainc, (2.0, 1.0, 1.0), (2, 1), -INF),
        (ops.betainc, (2.0, 3.0, 0.0), (0,), 0.0),
        (ops.betainc, (2.0, 3.0, 1.0), (0, 1), 0.0),
    ]
    groups: dict[Any, list[Any]] = {}
    for function, point, numbers, wanted in cases:
        groups.setdefault((function, numbers), []).append((*point, wanted))
    for (function, numbers), rows in groups.items():

        def derivative(*xs: Any, f: Callable[..., Any] = function, by: tuple[int, ...] = numbers) -> Any:
            return nested(f, by, xs)

        *args, limits = map(np.array, zip(*rows, strict=True))
        with np.errstate(all="ignore"):
            found = (jit(derivative, backend=backend) if backend else derivative)(*args)
        np.testing.assert_allclose(found, limits, rtol=1e-12, atol=1e-14, err_msg=str((function, numbers, args)))
