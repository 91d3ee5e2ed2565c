"""Functions and rules that close over tracers of enclosing transformations."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import UnexpectedTracerError, get_aval
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]

X, Y = np.float64(0.7), np.float64(2.0)
XS, YS = np.array([0.5, -1.0, 2.0]), np.array([3.0, 0.25, 1.0])


def enclosing(kind: str) -> Callable[[Any], Function]:
    """Returns functions that make x ↦ sin(x) y of a y that they close over, with a rule ten times its derivative."""

    def function_of(y: Any) -> Function:
        if kind == "jvp":
            by_jvp = custom_jvp(lambda x: ops.sin(x) * y)
            by_jvp.defjvp(lambda p, t: (by_jvp(*p), 10.0 * ops.cos(p[0]) * t[0] * y))
            return by_jvp
        by_vjp = custom_vjp(lambda x: ops.sin(x) * y)
        by_vjp.defvjp(lambda x: (by_vjp(x), x), lambda x, ct: (10.0 * ops.cos(x) * ct * y,))
        return by_vjp

    return function_of


def attribute(kind: str) -> Callable[[Any], Function]:
    """Returns the same, of a y that is the attribute of an object."""

    class Holder:
        y: Any = None

    holder = Holder()
    function = enclosing(kind)(holder)

    def function_of(y: Any) -> Function:
        holder.y = y
        if kind == "jvp":
            by_jvp = custom_jvp(lambda x: ops.sin(x) * holder.y)
            by_jvp.defjvp(lambda p, t: (by_jvp(*p), 10.0 * ops.cos(p[0]) * t[0] * holder.y))
            return by_jvp
        by_vjp = custom_vjp(lambda x: ops.sin(x) * holder.y)
        by_vjp.defvjp(lambda x: (by_vjp(x), x), lambda x, ct: (10.0 * ops.cos(x) * ct * holder.y,))
        return by_vjp

    assert isinstance(function, custom_rule)
    return function_of


@pytest.mark.parametrize("where", [enclosing, attribute])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_custom_rule_closed_over_tracers(kind: str, where: Any) -> None:
    make = where(kind)
    close = partial(np.testing.assert_allclose, rtol=1e-14)

    def applied(x: Any, y: Any) -> Any:
        return make(y)(x)

    expected = 10.0 * np.cos(X) * Y
    # The rule says the derivative by the argument; that by what is closed over is the function's.
    for g in (applied, jit(applied)):
        close([float(v) for v in grad(g, (0, 1))(X, Y)], [expected, np.sin(X)])
        close(float(jvp(g, (X, Y), (1.0, 2.0))[1]), expected + 2.0 * np.sin(X))
    close(float(jit(lambda y: grad(make(y))(X))(Y)), expected)
    close(vmap(lambda y: make(y)(X))(YS), np.sin(X) * YS)
    close(vmap(applied)(XS, YS), np.sin(XS) * YS)
    for mapped in (
        vmap(lambda y: grad(make(y))(X)),
        jit(vmap(lambda y: grad(make(y))(X))),
        vmap(jit(lambda y: grad(make(y))(X))),
    ):
        close(np.asarray(mapped(YS)), 10.0 * np.cos(X) * YS)
    for g in (applied, jit(applied)):
        by_x, by_y = grad(lambda x, y, g=g: ops.reduce_sum(vmap(lambda y: g(x, y))(y), (0,)), (0, 1))(X, YS)
        close(float(by_x), (10.0 * np.cos(X) * YS).sum())
        close(np.asarray(by_y), np.full(3, np.sin(X)))
    close(float(grad(lambda y: grad(make(y))(X))(Y)), 10.0 * np.cos(X))


def test_custom_rule_ignores_closed_over_tracer() -> None:
    def applied(x: Any, y: Any) -> Any:
        f = custom_jvp(lambda x: x * y)
        f.defjvp(lambda primals, tangents: (primals[0] * 3.0, tangents[0]))
        return f(x)

    for g in (applied, jit(applied)):
        total = lambda x, y, g=g: ops.reduce_sum(vmap(g, (None, 0))(x, y), (0,))  # noqa: E731
        by_x, by_y = grad(total, (0, 1))(X, YS)
        assert float(by_x) == 3.0
        np.testing.assert_array_equal(np.asarray(by_y), np.full(3, X))


def test_custom_rule_restores_closed_over_variables() -> None:
    y = Y

    def g(x: Any) -> Any:
        nonlocal y
        y = x
        f = custom_jvp(lambda z: z * y)

        @f.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            if float(get_aval(y).size) != 1.0 or primals[0] < 0.0:
                raise RuntimeError("refused")
            return f(*primals), tangents[0]

        out = f(2.0 * x)
        assert y is x
        return out

    grad(g)(X)
    with pytest.raises(RuntimeError, match="refused"):
        grad(g)(-X)


def test_custom_rule_closed_over_leaked_tracer() -> None:
    kept: list[Any] = []
    f = custom_jvp(lambda x: x * kept[-1])
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * kept[-1]))
    jit(lambda y: kept.append(y) or y)(1.0)
    with pytest.raises(UnexpectedTracerError, match=r"custom_jvp of <lambda>: .*pass it as an argument"):
        grad(f)(X)
