"""An array that a function closes over is one constant with one buffer, through compositions of transformations."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from lawful import numpy as lnp
from lawful.autodiff import grad, jvp, linearize, peak_memory, saved_residuals, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, scan
from lawful.core import is_plain, plain
from lawful.staging import jit, make_jaxpr

X = np.linspace(-1.0, 1.0, 10_000).reshape(1000, 10)
SMALL = np.linspace(-0.7, 1.3, 12).reshape(4, 3)
TABLES = {"large": X, "small": SMALL}
Function = Callable[[Any], Any]


@pytest.fixture(params=["fast", "plain"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    with plain() if request.param == "plain" and not is_plain() else nullcontext():
        yield


def once(table: Any, b: Any) -> Any:
    return lnp.sum(lnp.tanh(table @ b))


def twice(table: Any, b: Any) -> Any:
    return lnp.sum(lnp.tanh(table @ b)) + lnp.sum(lnp.sin(table @ b))


def descent(h: Function) -> Function:
    return lambda b: scan(lambda c, _: (c - 0.1 * grad(h)(c), h(c)), b, None, length=3)[0]


def along(h: Function) -> Function:
    return lambda b: linearize(h, b)[1](b)


COMPOSITIONS: dict[str, Callable[[Function], Function]] = {
    "grad": grad,
    "grad of grad": lambda h: grad(lambda b: lnp.sum(grad(h)(b))),
    "grad of jit": lambda h: grad(jit(h)),
    "jit of grad": lambda h: jit(grad(h)),
    "jvp": lambda h: lambda b: jvp(h, (b,), (b,))[1],
    "jvp of grad": lambda h: lambda b: jvp(grad(h), (b,), (b,))[1],
    "linearize": along,
    "vjp": lambda h: lambda b: vjp(h, b)[1](1.0)[0],
    "vmap of grad": lambda h: lambda b: vmap(grad(h))(lnp.stack([b, 2.0 * b])),
    "grad of vmap": lambda h: grad(lambda b: lnp.sum(vmap(h)(lnp.stack([b, 2.0 * b])))),
    "scan of grad": descent,
    "vmap of scan": lambda h: lambda b: vmap(descent(h))(lnp.stack([b, 2.0 * b])),
    "grad of scan": lambda h: grad(lambda b: lnp.sum(descent(h)(b))),
    "grad of cond": lambda h: grad(lambda b: cond(b[0] > 0.0, h, lambda b: 2.0 * h(b), b)),
    "jit beside it": lambda h: lambda b: jit(h)(b) + h(b) + jit(grad(h))(b)[0],
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("use", [once, twice])
@pytest.mark.parametrize("compose", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_make_jaxpr_closed_over_array_once(compose: Any, use: Any, table: Any) -> None:
    b = np.ones(table.shape[1])
    closed = make_jaxpr(compose(lambda b: use(table, b)))(b)
    assert [const.shape for const in closed.consts if const.shape == table.shape] == [table.shape]


def test_make_jaxpr_traced_again_same_buffer() -> None:
    """A jit that was traced before and a later trace share one copy."""
    g = jit(lambda b: once(X, b))
    b = np.ones(10)
    g(b)
    closed = make_jaxpr(lambda b: g(b) + once(X, b))(b)
    assert len(closed.consts) == 1


def test_jit_vjp_function_and_closed_over_array() -> None:
    """The copy of an array that an eager vjp keeps is the constant of a later program."""
    b = np.ones(10)
    _, pull = vjp(lambda b: once(X, b), b)
    closed = make_jaxpr(lambda ct, b: pull(ct)[0] + once(X, b))(1.0, b)
    assert len([const for const in closed.consts if const.shape == X.shape]) == 1


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("compose", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_jit_closed_over_array_written_later(compose: Any, backend: str) -> None:
    table, b = SMALL.copy(), np.ones(3)
    function = compose(lambda b: twice(table, b))
    expected = function(b)
    compiled = jit(function, backend=backend)
    np.testing.assert_allclose(compiled(b), expected, rtol=1e-13)
    table[:] = 100.0
    np.testing.assert_allclose(compiled(b), expected, rtol=1e-13)


@pytest.mark.parametrize("table", [X.copy(), SMALL.copy()], ids=["large", "small"])
def test_make_jaxpr_written_between_two_uses(table: Any) -> None:
    """A write between two uses makes two constants, each with the values at its use."""
    before, b = table.copy(), np.ones(table.shape[1])

    def f(b: Any) -> Any:
        first = grad(lambda b: once(table, b))(b)
        table[0] += 1.0
        return first, grad(lambda b: once(table, b))(b)

    closed = make_jaxpr(f)(b)
    assert len(closed.consts) == 2
    np.testing.assert_array_equal(closed.consts[0], before)
    np.testing.assert_array_equal(closed.consts[1], table)


def test_saved_residuals_closed_over_array_once() -> None:
    found = saved_residuals(lambda b: twice(X, b), np.ones(10))
    assert [origin for _, origin in found].count("a constant") == 1


@pytest.mark.parametrize("compose", [lambda h: h, jit, lambda h: jit(jit(h))], ids=["itself", "jit", "jit of jit"])
def test_peak_memory_closed_over_array_is_constant(compose: Any) -> None:
    """It is a constant once, and no residual besides."""
    memory = peak_memory(compose(lambda b: twice(X, b)))(np.ones(10))
    assert [value.kind for value in memory.values if value.bytes == X.nbytes] == ["constant"]
    assert memory.peak < 2 * X.nbytes


def test_memory_map_is_copied_into_the_program(tmp_path: Any) -> None:
    mapped: Any = np.memmap(tmp_path / "table", dtype=np.float64, mode="w+", shape=(1000,))
    mapped[:] = 1.0

    def f(b: Any) -> Any:
        return lnp.sum(b * mapped)

    compiled = [jit(f, backend="numpy"), jit(f)]
    pullback, linear = vjp(f, 2.0)[1], linearize(f, 2.0)[1]
    before = [g(2.0) for g in compiled], pullback(1.0), linear(1.0)
    mapped[:] = 0.0
    assert [float(g(2.0)) for g in compiled] == [2000.0, 2000.0]
    assert (pullback(1.0), linear(1.0)) == before[1:] == ((1000.0,), 1000.0)
