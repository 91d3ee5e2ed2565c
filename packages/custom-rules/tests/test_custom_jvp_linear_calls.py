"""Calls of functions with derivative rules within linear programs: linearized functions, and what is transposed."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linear_transpose, linearize, vjp
from lawful.batching import vmap
from lawful.core import ClosedJaxpr
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp, linear_call
from lawful.staging import jit

A, X, W = 0.3, 2.0, 5.0
SIN, COS = np.sin(A), np.cos(A)


# ``sin(a) * x``, linear in ``x``. By ``a`` the rules give ten times the derivative, to tell them from it.


@custom_jvp
def by_jvp(a: Any, x: Any) -> Any:
    return ops.sin(a) * x


@by_jvp.defjvp
def by_jvp_rule(primals: Any, tangents: Any) -> Any:
    (a, x), (a_dot, x_dot) = primals, tangents
    return by_jvp(a, x), 10.0 * ops.cos(a) * a_dot * x + by_jvp(a, x_dot)


by_vjp = custom_vjp(lambda a, x: ops.sin(a) * x)
by_vjp.defvjp(lambda a, x: (by_vjp(a, x), (a, x)), lambda r, ct: (10.0 * ops.cos(r[0]) * r[1] * ct, by_vjp(r[0], ct)))

by_both = custom_rule(lambda a, x: ops.sin(a) * x)
by_both.def_jvp(lambda primals, tangents: (by_both(*primals), by_jvp_rule(primals, tangents)[1]))
by_both.def_vjp(
    lambda a, x: (by_both(a, x), (a, x)), lambda r, ct: (10.0 * ops.cos(r[0]) * r[1] * ct, by_both(r[0], ct))
)

FUNCTIONS = {"custom_jvp": by_jvp, "custom_vjp": by_vjp, "custom_rule": by_both}
WRAPS: dict[str, Callable[[Any], Any]] = {
    "direct": lambda f: f,
    "jit": jit,
    "vmap": lambda f: lambda a, x: vmap(f, (None, 0))(a, ops.broadcast_in_dim(x, (2,), ()))[1],
    "vmap of a": lambda f: lambda a, x: vmap(f, (0, None))(ops.broadcast_in_dim(a, (2,), ()), x)[1],
}

of_each = pytest.mark.parametrize("name", FUNCTIONS)
of_each_wrap = pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)


def directions(h: Callable[[Any], Any], x: float = A) -> list[float]:
    """Returns the derivative by forward and by reverse mode."""
    return [float(jvp(h, (x,), (1.0,))[1]), float(grad(h)(x))]


def ruled_sine(scale: Callable[[Any, Any], Any]) -> Any:
    """Returns the sine with a rule that calls a function on the tangent."""
    sine = custom_jvp(ops.sin)
    sine.defjvp(lambda primals, tangents: (sine(*primals), scale(ops.sub(np.pi / 2, primals[0]), tangents[0])))
    return sine


def of_linearized(f: Any) -> Callable[[Any], Any]:
    return lambda x: linearize(f, x)[1](1.0)


def of_pullback(f: Any) -> Callable[[Any], Any]:
    return lambda x: vjp(f, x)[1](1.0)[0]


@of_each_wrap
@of_each
def test_custom_rules_call_on_tangent_keeps_its_rule(name: str, wrap: Any) -> None:
    """The derivative of a linearized function, by the point where it was linearized, is that of forward mode."""
    sine = ruled_sine(wrap(FUNCTIONS[name]))
    for _ in range(3):  # accelerators act from the second or third call on
        assert float(of_linearized(sine)(A)) == pytest.approx(COS, rel=1e-14)
        np.testing.assert_allclose(directions(lambda x: jvp(sine, (x,), (1.0,))[1]), [-10.0 * SIN] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(of_linearized(sine)), [-10.0 * SIN] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(jit(of_linearized(sine))), [-10.0 * SIN] * 2, rtol=1e-14)


@of_each_wrap
@of_each
def test_custom_rules_transposed_call_is_its_function(name: str, wrap: Any) -> None:
    """A call is transposed through its function, and so are the derivatives of the transpose."""
    f = wrap(FUNCTIONS[name])

    def back(a: Any) -> Any:
        return linear_transpose(lambda x: f(a, x), X)(W)[0]

    twice = linear_transpose(lambda w: linear_transpose(lambda x: f(A, x), X)(w)[0], W)
    sine = ruled_sine(f)
    for _ in range(3):
        np.testing.assert_allclose([back(A), twice(X)[0], of_pullback(sine)(A)], [SIN * W, SIN * X, COS], rtol=1e-14)
        np.testing.assert_allclose(directions(back), [COS * W] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(of_pullback(sine)), [-SIN] * 2, rtol=1e-14)


def test_custom_rules_transposed_call_keeps_inner_rules() -> None:
    """A rule of what is not linear stays: the function of the call applies it."""
    sine = custom_jvp(ops.sin)
    sine.defjvp(lambda primals, tangents: (sine(*primals), 10.0 * ops.cos(primals[0]) * tangents[0]))
    outer = custom_jvp(lambda a, x: sine(a) * x)
    outer.defjvp(lambda primals, tangents: (outer(*primals), tangents[0] + tangents[1]))
    for f in (outer, jit(outer), lambda a, x: sine(a) * x):
        got = directions(lambda a, f=f: linear_transpose(lambda x: f(a, x), X)(W)[0])
        np.testing.assert_allclose(got, [10.0 * COS * W] * 2, rtol=1e-14)


@pytest.mark.parametrize("way", ["linear_call", "def_transpose"])
def test_custom_rules_derivative_of_given_transpose(way: str) -> None:
    """A transpose that calls the function is differentiated by its rule."""
    called: Any = custom_jvp(lambda a, x: ops.sin(a) * x)
    called.defjvp(lambda primals, tangents: (called(*primals), by_jvp_rule(primals, tangents)[1]))
    called.def_transpose(lambda ct, a, x: (None, called(a, ct)), linear_argnums=1)
    f = called if way == "def_transpose" else lambda a, x: linear_call(by_jvp, by_jvp, a, x)
    for wrapped in [wrap(f) for wrap in WRAPS.values()]:
        got = directions(lambda a, f=wrapped: linear_transpose(lambda x: f(a, x), X)(W)[0])
        np.testing.assert_allclose(got, [10.0 * COS * W] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(of_pullback(ruled_sine(wrapped))), [-10.0 * SIN] * 2, rtol=1e-14)


def test_custom_jvp_partly_known_call_repeats_no_work(primitives_of: Callable[[ClosedJaxpr], Counter[str]]) -> None:
    """The call of the linear program takes residuals in the place of what is known."""

    def linear_part(x: Any) -> Any:
        return linearize(ruled_sine(by_jvp), x)[1]

    counts = primitives_of(linear_part(A).jaxpr)
    assert counts == {"custom_jvp_call": 1, "mul": 1}


def test_custom_jvp_partly_known_call_known_results() -> None:
    """A result of known operands only is known, so that it may be a factor; it is differentiated by the function."""
    both = custom_jvp(lambda a, x: (ops.sin(a), ops.mul(a, x)))
    both.defjvp(lambda primals, tangents: (both(*primals), (tangents[0], 10.0 * tangents[0] * primals[1])))
    f = custom_jvp(lambda x: ops.sin(x) * x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        sine, along = both(primals[0], tangents[0])
        return f(*primals), sine * along

    for _ in range(3):
        np.testing.assert_allclose([grad(f)(A), linearize(f, A)[1](1.0)], [SIN * A] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(of_linearized(f)), [COS * A + SIN * 10.0] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(of_pullback(f)), [COS * A + SIN] * 2, rtol=1e-14)


def test_custom_jvp_partly_known_call_python_control_flow() -> None:
    """Python control flow on known values works, also where the rest of the call is unknown."""
    f = custom_jvp(lambda a, x: a * x if a > 0.0 else -x)
    f.defjvp(lambda primals, tangents: (f(*primals), f(primals[0], tangents[1]) + tangents[0] * primals[1]))
    g = custom_jvp(lambda x: x * x)
    g.defjvp(lambda primals, tangents: (g(*primals), f(primals[0], 2.0 * tangents[0])))
    for x, slope in ((3.0, 6.0), (-3.0, -2.0)):
        assert float(grad(g)(x)) == float(linearize(g, x)[1](1.0)) == slope
        assert directions(of_linearized(g), x) == [2.0, 2.0]


def test_custom_jvp_partly_known_call_of_closed_over_value() -> None:
    """Rules are not about closed-over values: the derivative by them is that of the function."""

    def along(c: Any, a: Any) -> Any:
        f = custom_jvp(lambda a, x: ops.sin(c) * a * x)
        f.defjvp(lambda primals, tangents: (f(*primals), 10.0 * tangents[0] * primals[1] + f(primals[0], tangents[1])))
        g = custom_jvp(lambda x: x)
        g.defjvp(lambda primals, tangents: (g(*primals), f(a, tangents[0])))
        return linearize(g, 1.0)[1](1.0)

    for function in (along, jit(along)):
        np.testing.assert_allclose(directions(lambda c, h=function: h(c, 2.0)), [2.0 * COS] * 2, rtol=1e-14)
        np.testing.assert_allclose(directions(lambda a, h=function: h(1.0, a)), [10.0] * 2, rtol=1e-14)
        together = directions(lambda a, h=function: h(a, a))
        np.testing.assert_allclose(together, [A * COS + 10.0] * 2, rtol=1e-14)


def test_custom_jvp_partly_known_call_mutated_later() -> None:
    f = custom_jvp(lambda a, x: a * x)
    f.defjvp(lambda primals, tangents: (f(*primals), primals[1] * tangents[0] + f(primals[0], tangents[1])))
    g = custom_jvp(lambda x: x)
    factor = np.array([2.0, 3.0])
    g.defjvp(lambda primals, tangents: (g(*primals), f(factor, tangents[0])))
    along = linearize(g, np.ones(2))[1]
    factor[:] = 0.0
    np.testing.assert_array_equal(along(np.ones(2)), [2.0, 3.0])


def test_custom_vjp_nonlinear_bwd_of_call_on_tangent() -> None:
    """Each element has a cotangent of its own, also of an operand that all share."""
    f = custom_vjp(lambda a, x: a * x)
    f.defvjp(lambda a, x: (f(a, x), None), lambda _, ct: (ops.clamp(-1.0, ct, 1.0), ct))
    g = custom_jvp(lambda x: x * x)
    g.defjvp(lambda primals, tangents: (g(*primals), f(primals[0], 2.0 * tangents[0])))
    for wrap in (lambda h: h, jit):
        total = wrap(lambda x: ops.reduce_sum(vmap(lambda s: 3.0 * linearize(g, x)[1](s))(np.ones(2)), (0,)))
        assert float(grad(total)(1.0)) == 2.0
