"""References of special functions: values and derivatives by mpmath, to many digits."""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

from lawful.core import record

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
      slopes: the derivatives by each of `argnums`, where those of the reference take long.
    """

    reference: Callable[..., Any]
    calls: Sequence[tuple[float, ...]]
    orders: int = 2
    argnums: tuple[int, ...] = (0,)
    ulps: float = 8.0
    growth: float = 4.0
    slopes: Sequence[Callable[..., Any]] = ()


def expected(case: Case, argnum: int, args: tuple[float, ...], orders: int) -> list[Any]:
    """Returns the value and the derivatives by an argument."""

    def by_one(function: Callable[..., Any]) -> Callable[[Any], Any]:
        before, after = map(mp.mpf, args[:argnum]), map(mp.mpf, args[argnum + 1 :])
        rest = [*before], [*after]
        return lambda x: function(*rest[0], x, *rest[1])

    x, reference = mp.mpf(args[argnum]), by_one(case.reference)
    with mp.workdps(40):
        values = [reference(x)]
    slope = by_one(case.slopes[case.argnums.index(argnum)]) if case.slopes else None
    with mp.workdps(110):
        step = mp.mpf(10) ** -20 * (abs(x) if x else 1)
        for k in range(1, orders + 1):
            values.append(mp.diff(reference, x, k, h=step) if slope is None else mp.diff(slope, x, k - 1, h=step))
    return values
