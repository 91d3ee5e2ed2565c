"""Partial derivatives of binary functions, to the third order, eagerly and compiled, where numbers are extreme.

The references are differences of mpmath's functions with steps far below the precision of float64.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import special
from lawful.autodiff import jvp
from lawful.ops import complex as complex_of
from lawful.staging import jit

ORDERS = [(i, order - i) for order in range(4) for i in range(order, -1, -1)]
TINY = float(np.finfo(np.float64).tiny)
LEAST = 5e-324

PLANE = (
    *((1e200, 1e200), (1e-200, 1e-200), (1e200, -1e-200), (1e-200, 1e200), (-1e200, 3e199), (1.0, 1e-9), (1e-9, -1.0)),
    *((3e-310, 4e-310), (LEAST, LEAST), (LEAST, 1.0), (1.0, LEAST), (0.0, 1.0), (1.0, 0.0), (0.0, 1e-200), (-2.0, 2.0)),
    *((1e308, 1.5e308), (-1e160, 1.0), (3.0, -1e-160)),
)
#: The function, its reference, and points at which it has all derivatives.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[float, float], ...]]] = {
    "abs of complex": (lambda x, y: lnp.abs(complex_of(x, y)), lambda x, y: mp.sqrt(x * x + y * y), PLANE),
    "angle": (lambda x, y: lnp.angle(complex_of(x, y)), lambda x, y: mp.atan2(y, x), PLANE),
    "arctan2": (lnp.arctan2, mp.atan2, PLANE),
    "divide": (
        lnp.divide,
        lambda x, y: x / y,
        ((1e200, 1e-100), (1e-200, 1e100), (0.0, 1e-60), (1e300, 1e200), (LEAST, 1.0), (1.0, 1e-77), (1e10, 1e100)),
    ),
    "hypot": (lnp.hypot, lambda x, y: mp.sqrt(x * x + y * y), PLANE),
    "kl_div": (
        special.kl_div,
        lambda x, y: x * mp.log(x / y) - x + y,
        ((1e-200, 1e200), (1e200, 1e-50), (1.0, 1.0), (LEAST, 1.0), (1e-300, 1e-300)),
    ),
    "logaddexp": (
        lnp.logaddexp,
        lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y))) if x != y else x + mp.log(2),
        (
            (1e200, -1e200),
            (0.0, 0.0),
            (1e-200, 0.0),
            (LEAST, 0.0),
            (700.0, -30.0),
            (-1e3, -1e3),
            (3.0, 40.0),
            (1.0, 1.1),
        ),
    ),
    "logaddexp2": (
        lnp.logaddexp2,
        lambda x, y: x + mp.log1p(mp.mpf(2) ** (y - x)) / mp.log(2),
        (
            (1e200, -1e200),
            (0.0, 0.0),
            (1e-200, 0.0),
            (LEAST, 0.0),
            (700.0, -30.0),
            (-1e3, -1e3),
            (3.0, 40.0),
            (1.0, 1.1),
        ),
    ),
    "power": (
        lnp.power,
        lambda x, y: x**y,
        (
            *((LEAST, 0.0), (1e-300, 0.0), (1e-310, 1e-300), (1e-200, 2.0), (1e-200, 1.0), (2.0, 0.0), (3.0, 1.0)),
            *((2.5, 2.0), (1e200, -1.0), (1e200, 0.5), (1e308, 0.0), (1e-200, -0.5), (0.5, 1e3), (1e-320, 1e-10)),
            *((1e-100, 4.0), (1e100, -2.0), (1.0, 100.0), (1e-309, 1e-200)),
            *((1e-200, 1e-200), (1e-160, 1 + 1e-15), (0.25, 3.0), (1e100, 1e-100)),
        ),
    ),
    "rel_entr": (
        special.rel_entr,
        lambda x, y: x * mp.log(x / y),
        ((1e-200, 1e200), (1e200, 1e-50), (1.0, 1.0), (LEAST, 1.0), (1e-300, 1e-300)),
    ),
    "xlog1py": (
        special.xlog1py,
        lambda x, y: x * mp.log1p(y),
        ((0.0, 1.0), (1e-200, 1e200), (2.0, 1e-10 - 1), (1e200, 1e-200), (LEAST, LEAST)),
    ),
    "xlogy": (
        special.xlogy,
        lambda x, y: x * mp.log(y),
        ((0.0, 1.0), (0.0, 1e-100), (1e-200, 1e200), (1e200, 1e-20), (LEAST, 1e-90), (-2.0, 1e-90)),
    ),
}
# Where terms cancel, derivatives have an absolute accuracy only.
ABSOLUTE = {"logaddexp": 1e-16, "logaddexp2": 1e-16}


@cache
def reference(function: Callable[..., Any], x: float, y: float, i: int, j: int) -> float:
    """Returns the derivative of order ``i`` by ``x`` and ``j`` by ``y``, rounded to float64."""

    def step(z: float, other: float) -> Any:
        return mp.mpf(10) ** -120 * (abs(mp.mpf(z)) or min(abs(mp.mpf(other)), 1) or 1)

    with mp.workdps(450):
        hx, hy = step(x, y), step(y, x)

        def by_y(x: Any) -> Any:
            return mp.diff(lambda y: function(x, y), mp.mpf(y), j, h=hy) if j else function(x, mp.mpf(y))

        return float(mp.diff(by_y, mp.mpf(x), i, h=hx) if i else by_y(mp.mpf(x)))


def partials(function: Callable[..., Any]) -> Callable[[Any, Any], list[Any]]:
    """Returns the function of the value and all partial derivatives, in the order of `ORDERS`."""
    found = {(0, 0): function}

    # The other argument is a constant: a zero tangent times an infinite slope would be NaN.
    def by_x(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: jvp(lambda x: f(x, y), (x,), (lnp.ones_like(x),))[1]

    def by_y(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: jvp(lambda y: f(x, y), (y,), (lnp.ones_like(y),))[1]

    for i, j in ORDERS[1:]:
        found[i, j] = by_x(found[i - 1, j]) if i else by_y(found[i, j - 1])
    return lambda x, y: [found[order](x, y) for order in ORDERS]


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_binary_derivatives_of_extreme_numbers(name: str, backend: str) -> None:
    function, exact, points = FUNCTIONS[name]
    if backend == "xla":  # XLA flushes subnormal numbers to zero
        points = tuple([point for point in points if all(z == 0 or abs(z) >= TINY for z in point)])
        if name == "divide":  # XLA divides by a product where lawful divides twice
            points = tuple([(x, y) for x, y in points if 1e-100 < y < 1e100])
    derivatives = partials(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's warnings about overflow
        x, y = np.array(points).T
        found = (jit(derivatives, backend=backend) if backend else derivatives)(x, y)
    for k, point in enumerate(points):
        for total in range(4):
            wanted = {order: reference(exact, *point, *order) for order in ORDERS if sum(order) == total}
            if not np.all(np.isfinite([*wanted.values()])):  # an infinite term may be multiplied by zero
                break
            for order, expected in wanted.items():
                got = np.asarray(found[ORDERS.index(order)])[k]
                close = np.isclose(got, expected, rtol=1e-9, atol=ABSOLUTE.get(name, 1e-230))
                assert close, f"{name} at {point}, order {order}: expected {expected}, got {got}"
