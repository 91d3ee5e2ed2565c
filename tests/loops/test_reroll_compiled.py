"""Rolled programs give on XLA what the unrolled ones give, and are as short as one iteration."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import debug
from lawful.autodiff import grad
from lawful.control_flow import reroll, scan
from lawful.staging import jit
from lawful.tree import leaves

TRIP_COUNT = 20
random = np.random.default_rng(0)
W = random.normal(size=(3, 3)) * 0.3
H = random.normal(size=3)
XS = random.normal(size=(TRIP_COUNT, 3))


def chain(x: Any) -> Any:
    for _ in range(TRIP_COUNT):
        x = lnp.sin(x * 2.0)
    return x


def numbered(x: Any) -> Any:
    for i in range(TRIP_COUNT):
        x = lnp.cos(x + i) * 0.5
    return x


def recurrent(w: Any, h: Any, xs: Any) -> Any:
    found = []
    for i in range(TRIP_COUNT):
        h = lnp.tanh(w @ h + xs[i])
        found.append(h)
    return lnp.stack(found)


def deep(layers: Any, x: Any) -> Any:
    for w, b in layers:
        x = lnp.tanh(x @ w + b)
    return x


def delayed(a: Any, b: Any) -> Any:
    for _ in range(TRIP_COUNT):
        a, b = b, lnp.sin(a) + 0.5 * b
    return b


def of_constants(x: Any) -> Any:
    """A constant of an inner program: a loop that adds other numbers in each iteration."""
    return scan(lambda c, _: (numbered(c), None), x, length=2)[0]


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (chain, (0.5,)),
    (numbered, (H,)),
    (recurrent, (W, H, XS)),
    (deep, ([(W, H)] * 10, H)),
    (delayed, (np.float64(0.5), np.float64(0.25))),
    (of_constants, (H,)),
]


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_reroll_values_and_gradients(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    gradient = grad(lambda *args: lnp.sum(function(*args)), tuple(range(len(args))))
    for each in (function, gradient):
        lowered = jit(each, passes=(reroll,), backend="xla").lower(*args)
        assert lowered.as_text().count("stablehlo.while") >= 1
        assert lowered.as_text().count("\n") < 300
        found, expected = lowered.compile()(*args), each(*args)
        for x, y in zip(leaves(found), leaves(expected), strict=True):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-12, atol=1e-12)


def test_reroll_gradient_of_a_rolled_program() -> None:
    rolled = jit(chain, passes=(reroll,), backend="xla")
    np.testing.assert_allclose(float(grad(rolled)(0.5)), grad(chain)(0.5), rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_reroll_what_is_printed_stays_in_order(backend: str, capfd: pytest.CaptureFixture[str]) -> None:
    def function(x: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x = x + 1.0
            debug.print("{}", x)
        return x

    jit(function, passes=(reroll,), backend=backend)(np.float64(0.0))
    printed = [float(line) for line in capfd.readouterr().out.split()]
    assert printed == list(range(1, TRIP_COUNT + 1))
