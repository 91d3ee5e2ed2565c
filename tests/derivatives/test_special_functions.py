"""Values and derivatives of functions of `lawful.special` against mpmath, by each argument, over wide domains.

The error is bounded by that of the result for arguments with rounding errors: a few ulps, times one and the condition
number. Compiled programs are compared with the evaluated ones.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from lawful import special
from lawful.autodiff import jvp
from lawful.core import record
from lawful.staging import jit

ULP = float(np.finfo(np.float64).eps)


@record
class Case:
    """A function with its reference, and calls.

    Attributes:
      reference: the function of mpmath.
      calls: arguments.
      orders: the highest derivative by each argument.
      argnums: those with derivatives.
      ulps: the bound of the error of the value; each derivative may have `growth` times that of the one before.
      growth: that factor.
    """

    reference: Callable[..., Any]
    calls: Sequence[tuple[float, ...]]
    orders: int = 2
    argnums: tuple[int, ...] = (0,)
    ulps: float = 8.0
    growth: float = 4.0


def wide(low: float, high: float, count: int, seed: int = 0) -> list[tuple[float, ...]]:
    """Returns calls with one argument, spread evenly over orders of magnitude."""
    return [(x,) for x in (10 ** np.random.default_rng(seed).uniform(low, high, count)).tolist()]


def between(*intervals: tuple[float, float], count: int = 20) -> list[tuple[float, ...]]:
    """Returns calls with arguments in intervals."""
    random = np.random.default_rng(1)
    return list(zip(*[random.uniform(*interval, count).tolist() for interval in intervals], strict=True))


def boxcox(x: Any, lmbda: Any) -> Any:
    # A small exponent makes the quotient a limit.
    return (x**lmbda - 1) / lmbda if lmbda else mp.log(x)


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
}


def derivatives(function: Callable[..., Any], argnum: int, orders: int) -> Callable[..., list[Any]]:
    """Returns the function that returns the value and the derivatives by an argument."""

    def rows(*args: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [lambda x: function(*args[:argnum], x, *args[argnum + 1 :])]
        for _ in range(orders):
            functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (np.ones(np.shape(x)),))[1])
        return [f(args[argnum]) for f in functions]

    return rows


def expected(case: Case, argnum: int, args: tuple[float, ...]) -> list[Any]:
    """Returns the value and the derivatives, one more than the case has."""

    def of_one(x: Any) -> Any:
        return case.reference(*[mp.mpf(z) for z in args[:argnum]], x, *[mp.mpf(z) for z in args[argnum + 1 :]])

    x = mp.mpf(args[argnum])
    with mp.workdps(150):
        step = mp.mpf(10) ** -30 * (abs(x) if x else 1)
        return [of_one(x), *[mp.diff(of_one, x, k, h=step) for k in range(1, case.orders + 2)]]


@pytest.mark.parametrize("name", CASES)
def test_special_functions_have_all_digits(name: str) -> None:
    case, function = CASES[name], getattr(special, name)
    arrays = [np.array(x) for x in zip(*case.calls, strict=True)]
    for argnum in case.argnums:
        rows = derivatives(function, argnum, case.orders)
        found = np.array(rows(*arrays)).T
        compiled = np.array(jit(rows, backend="xla")(*arrays)).T
        for args, values, others in zip(case.calls, found, compiled, strict=True):
            exact = expected(case, argnum, args)
            # The condition numbers of the value by all arguments, for an error of each.
            rest = [expected(case, i, args) for i in range(len(args)) if i != argnum]
            others_condition = sum([abs(mp.mpf(x) * y[1]) for x, y in zip(args, rest, strict=False)], mp.mpf(0))
            bound = case.ulps * ULP
            for order, (value, other) in enumerate(zip(values, others, strict=True)):
                condition = abs(mp.mpf(args[argnum]) * exact[order + 1]) + (others_condition if order == 0 else 0)
                error = float(bound * (abs(exact[order]) + condition))
                for x in (value, other):
                    assert abs(x - exact[order]) <= error, (args, argnum, order, x, float(exact[order]), error)
                bound *= case.growth
