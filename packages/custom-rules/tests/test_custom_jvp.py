"""`custom_jvp`: the derivative of a function is its rule, in both modes and under every transformation."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    TracerBoolConversionError,
    alpha_equivalent,
    check_jaxpr,
    eval_closed_jaxpr,
    float0,
    get_aval,
)
from lawful.custom_rules import SymbolicZero, custom_jvp
from lawful.staging import dce_jaxpr, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]

X, Y = np.float64(0.7), np.float64(2.0)
XS, YS = np.array([0.5, -1.0, 2.0]), np.array([3.0, 0.25, 1.0])


@custom_jvp
def f(x: Any, y: Any) -> Any:
    return ops.sin(x) * y


@f.defjvp
def f_jvp(primals: Any, tangents: Any) -> Any:
    """Ten times the derivative by x, so that it can be told from that of the function."""
    (x, y), (x_dot, y_dot) = primals, tangents
    return f(x, y), 10.0 * ops.cos(x) * x_dot * y + ops.sin(x) * y_dot


def by_x(x: Any, y: Any) -> Any:
    return 10.0 * np.cos(x) * y


STACKS: dict[str, Callable[[Function], Function]] = {
    "eager": lambda g: g,
    "jit": jit,
    "jit jit": lambda g: jit(jit(g)),
    "vmap": lambda g: lambda x, y: vmap(g, axis_size=1, in_axes=None)(x, y)[0],
    "eval_jaxpr": lambda g: lambda x, y: eval_closed_jaxpr(make_jaxpr(g)(x, y), x, y)[0],
}


@pytest.mark.parametrize("inner", STACKS)
@pytest.mark.parametrize("outer", STACKS)
def test_custom_jvp_in_both_modes(inner: str, outer: str) -> None:
    g = STACKS[inner](f)
    derivatives = [
        lambda x, y: jvp(g, (x, y), (1.0 + 0.0 * x, 0.0 * x))[1],
        lambda x, y: grad(g)(x, y),
        lambda x, y: vjp(g, x, y)[1](1.0 + 0.0 * x)[0],
        lambda x, y: linearize(g, x, y)[1](1.0 + 0.0 * x, 0.0 * x),
        lambda x, y: jacfwd(g)(x, y),
        lambda x, y: jacrev(g)(x, y),
    ]
    for derivative in derivatives:
        np.testing.assert_allclose(np.asarray(STACKS[outer](derivative)(X, Y)), by_x(X, Y), rtol=1e-14)


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_jvp_second_derivative(wrap: Any) -> None:
    expected = -10.0 * np.sin(X) * Y
    g = wrap(f)
    orders = [grad(grad(g)), jacfwd(jacfwd(g)), jacfwd(grad(g)), jacrev(jacfwd(g)), hessian(g), wrap(hessian(f))]
    for second in orders:
        np.testing.assert_allclose(np.asarray(second(X, Y)), expected, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(grad(grad(grad(g)))(X, Y)), -10.0 * np.cos(X) * Y, rtol=1e-14)


@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0)])
def test_custom_jvp_under_vmap(in_axes: Any) -> None:
    x, y = (values if axis == 0 else values[0] for values, axis in zip((XS, YS), in_axes, strict=True))
    for mapped in (
        vmap(grad(f), in_axes),
        jit(vmap(grad(f), in_axes)),
        vmap(jit(grad(f)), in_axes),
        vmap(grad(jit(f)), in_axes),
        vmap(jacfwd(f), in_axes),
    ):
        np.testing.assert_allclose(np.asarray(mapped(x, y)), by_x(x, y) * np.ones(3), rtol=1e-14)
    for total in (
        lambda x, y: ops.reduce_sum(vmap(f, in_axes)(x, y), (0,)),
        lambda x, y: ops.reduce_sum(jit(vmap(f, in_axes))(x, y), (0,)),
        lambda x, y: ops.reduce_sum(vmap(jit(f), in_axes)(x, y), (0,)),
    ):
        by_both = grad(total, (0, 1))(x, y)
        expected = by_x(x, y), np.sin(x)
        for got, part, axis in zip(by_both, expected, in_axes, strict=True):
            full = part * np.ones(3)
            np.testing.assert_allclose(np.asarray(got), full if axis == 0 else full.sum(), rtol=1e-14)


def test_custom_jvp_python_control_flow() -> None:
    @custom_jvp
    def leaky(x: Any) -> Any:
        return x if x > 0.0 else 0.1 * x

    @leaky.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return leaky(x), (2.0 if x > 0.0 else 3.0) * t

    assert [float(leaky(v)) for v in (2.0, -2.0)] == [2.0, -0.2]
    assert [float(grad(leaky)(v)) for v in (2.0, -2.0)] == [2.0, 3.0]
    assert [float(jvp(leaky, (v,), (1.0,))[1]) for v in (2.0, -2.0)] == [2.0, 3.0]
    # In between, values are known to both derivatives.
    assert float(grad(lambda x: grad(leaky)(x) * x)(-2.0)) == 3.0
    assert float(jit(grad(lambda x: leaky(-2.0) * x))(1.0)) == -0.2
    with pytest.raises(TracerBoolConversionError, match="custom_jvp of leaky"):
        jit(leaky)(2.0)


def test_custom_jvp_pytrees(require_same: Callable[..., None]) -> None:
    @custom_jvp
    def g(point: Any) -> Any:
        return {"sum": point["x"] + point["y"], "parts": [point["x"], None]}

    @g.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (point,), (dot,) = primals, tangents
        return g(point), {"sum": 2.0 * dot["x"] + dot["y"], "parts": [5.0 * dot["x"], None]}

    out, out_dot = jvp(g, ({"x": XS, "y": 1.0},), ({"x": YS, "y": 3.0},))
    require_same(out, {"sum": XS + 1.0, "parts": [XS, None]})
    require_same(out_dot, {"sum": 2.0 * YS + 3.0, "parts": [5.0 * YS, None]})
    (pulled,) = vjp(g, {"x": XS, "y": 1.0})[1]({"sum": np.ones(3), "parts": [np.full(3, 10.0), None]})
    require_same(pulled, {"x": np.full(3, 52.0), "y": 3.0})


def test_custom_jvp_keyword_and_default_arguments() -> None:
    given: list[Any] = []

    @custom_jvp
    def power(x: Any, n: Any = 3) -> Any:
        return x**n

    @power.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        given.append((len(primals), len(tangents), getattr(tangents[1], "dtype", None)))
        (x, n), (x_dot, _) = primals, tangents
        return power(x, n), n * x ** (n - 1) * x_dot

    calls = [lambda x: power(x), lambda x: power(x, 3), lambda x: power(x, n=3), lambda x: power(n=3, x=x)]
    assert [float(grad(call)(2.0)) for call in calls] == [12.0] * 4
    assert given == [(2, 2, float0)] * 4


def test_custom_jvp_integer_arguments(require_same: Callable[..., None]) -> None:
    @custom_jvp
    def g(x: Any, i: Any) -> Any:
        return x * i, i + 1

    @g.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, i), (x_dot, i_dot) = primals, tangents
        assert i_dot.dtype == float0
        assert i_dot.shape == np.shape(i)
        return g(x, i), (x_dot * i, i_dot)

    for wrap in (lambda h: h, jit):
        out, out_dot = jvp(wrap(g), (2.0, np.int64(3)), (1.0, np.zeros((), float0)))
        require_same(out_dot, (np.float64(3.0), np.zeros((), float0)))
        assert float(out[1]) == 4
    assert float(grad(lambda x: g(x, 3)[0])(2.0)) == 3.0
    np.testing.assert_array_equal(vmap(grad(lambda x, i: g(x, i)[0]))(XS, np.arange(3)), np.arange(3.0))


def test_custom_jvp_nondiff_argnums() -> None:
    @partial(custom_jvp, nondiff_argnums=(0, 2))
    def apply(fun: Any, x: Any, scale: Any) -> Any:
        return fun(x) * scale

    @apply.defjvp
    def rule(fun: Any, scale: Any, primals: Any, tangents: Any) -> Any:
        ((x,), (x_dot,)) = primals, tangents
        return apply(fun, x, scale), 7.0 * x_dot * scale

    assert float(grad(lambda x: apply(ops.sin, x, 2.0))(1.0)) == 14.0
    # Values of transformations too; they have no derivative.
    assert [float(v) for v in grad(lambda x, s: apply(ops.sin, x, s), (0, 1))(1.0, 2.0)] == [14.0, 0.0]
    assert float(jit(lambda s: grad(lambda x: apply(ops.sin, x, s))(1.0))(2.0)) == 14.0
    np.testing.assert_array_equal(
        vmap(lambda x, s: grad(lambda x: apply(ops.sin, x, {"s": s}["s"]))(x))(XS, YS), 7.0 * YS
    )
    by_name = custom_jvp(lambda x, fun: fun(x), nondiff_argnames=("fun",))
    by_name.defjvp(lambda fun, primals, tangents: (fun(primals[0]), 7.0 * tangents[0]))
    assert float(grad(lambda x: by_name(x, fun=ops.sin))(1.0)) == 7.0
    for bad in ({"nondiff_argnums": (3,)}, {"nondiff_argnums": (-1,)}, {"nondiff_argnames": ("z",)}):
        with pytest.raises(ArgumentValueError, match=r"custom_jvp of <lambda>: expected nondiff_"):
            custom_jvp(lambda x, y: x, **bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="expected integers as nondiff_argnums"):
        custom_jvp(lambda x, y: x, nondiff_argnums=("x",))  # type: ignore[arg-type]


def test_custom_jvp_symbolic_zeros() -> None:
    seen: list[Any] = []
    g = custom_jvp(lambda x, y, i: (x * y, x))

    def rule(primals: Any, tangents: Any) -> Any:
        seen.append([type(t) is SymbolicZero for t in tangents])
        zero = tangents[1]
        assert (zero.shape, zero.dtype) == ((), np.float64)
        return g(*primals), (tangents[0] * primals[1], zero)

    g.defjvp(rule, symbolic_zeros=True)
    _, pushed = linearize(lambda x: g(x, 2.0, 3), 5.0)
    assert [float(t) for t in pushed(1.0)] == [2.0, 0.0]
    assert [float(t) for t in jit(lambda x: jvp(lambda x: g(x, 2.0, 3), (x,), (x,))[1])(5.0)] == [10.0, 0.0]
    assert seen == [[False, True, True]] * 2


def test_custom_jvp_defjvps() -> None:
    g = custom_jvp(lambda x, y, i: ops.sin(x) * y * i)
    g.defjvps(lambda t, out, x, y, i: 10.0 * ops.cos(x) * y * i * t, lambda t, out, x, y, i: out / y * t, None)
    by_first, by_second = grad(g, (0, 1))(X, Y, 3)
    np.testing.assert_allclose([by_first, by_second], [30.0 * np.cos(X) * Y, 3.0 * np.sin(X)], rtol=1e-14)
    np.testing.assert_allclose(jit(vmap(grad(g), (0, None, None)))(XS, 2.0, 3), 60.0 * np.cos(XS), rtol=1e-14)
    none = custom_jvp(lambda x: x)
    none.defjvps(None)
    assert float(grad(none)(1.0)) == 0.0
    g.defjvps(None)
    with pytest.raises(ArgumentTypeError, match="defjvps: expected one rule for each of 3 arguments, got 1"):
        grad(g)(X, Y, 3)
    with pytest.raises(ArgumentTypeError, match="defjvps: expected no nondiff_argnums"):
        custom_jvp(lambda x, y: x, nondiff_argnums=(1,)).defjvps(None)


def test_custom_jvp_linear_transpose() -> None:
    scale = custom_jvp(lambda x, y: x * y)
    scale.defjvp(lambda primals, tangents: (scale(*primals), tangents[0] * primals[1] + primals[0] * tangents[1]))
    for wrap in (lambda g: g, jit):
        assert float(linear_transpose(wrap(lambda x: scale(x, 3.0)), 1.0)(2.0)[0]) == 6.0
    # A rule that calls the function on tangents.
    sine = custom_jvp(ops.sin)
    sine.defjvp(lambda primals, tangents: (sine(*primals), scale(tangents[0], ops.cos(primals[0]))))
    np.testing.assert_allclose([grad(sine)(X), grad(grad(sine))(X)], [np.cos(X), -np.sin(X)], rtol=1e-14)


def test_custom_jvp_in_a_jaxpr(
    primitives_of: Callable[[ClosedJaxpr], Counter[str]],
) -> None:
    closed = make_jaxpr(lambda x, y: f(x, y) * 2.0)(X, Y)
    check_jaxpr(closed)
    assert primitives_of(closed) == {"custom_jvp_call": 1, "sin": 1, "mul": 2}
    for text in ("custom_jvp_call[", "name=f", "rules=<jvp>", "jaxpr={ lambda ; a:f64[] b:f64[]. let"):
        assert text in str(closed)
    assert alpha_equivalent(closed, make_jaxpr(lambda x, y: f(x, y) * 2.0)(X, Y))
    evaluated = lambda x, y: eval_closed_jaxpr(closed, x, y)[0]  # noqa: E731
    np.testing.assert_allclose(grad(evaluated)(X, Y), 2.0 * by_x(X, Y), rtol=1e-14)
    np.testing.assert_allclose(vmap(grad(evaluated), (0, None))(XS, Y), 2.0 * by_x(XS, Y), rtol=1e-14)


def test_custom_jvp_dead_results(primitives_of: Callable[[ClosedJaxpr], Counter[str]]) -> None:
    g = custom_jvp(lambda x: (ops.sin(x), ops.exp(x)))
    g.defjvp(lambda primals, tangents: (g(*primals), (2.0 * tangents[0], 3.0 * tangents[0])))
    smaller = dce_jaxpr(make_jaxpr(g)(X), (False, True))
    check_jaxpr(smaller)
    assert primitives_of(smaller) == {"custom_jvp_call": 1, "exp": 1}
    assert float(grad(lambda x: eval_closed_jaxpr(smaller, x)[0])(X)) == 3.0
    np.testing.assert_array_equal(vmap(grad(lambda x: eval_closed_jaxpr(smaller, x)[0]))(XS), [3.0] * 3)


def test_custom_jvp_unbatched_result_under_vmap() -> None:
    g = custom_jvp(lambda x, w: (x * w, w * 2.0))
    g.defjvp(lambda p, t: (g(*p), (t[0] * p[1] + p[0] * t[1], 2.0 * t[1])))
    mapped = vmap(g, (0, None), (0, None))
    for stack in (mapped, jit(mapped), vmap(jit(g), (0, None), (0, None))):
        out, shared = stack(XS, Y)
        np.testing.assert_array_equal(np.asarray(out), XS * 2.0)
        assert float(shared) == 4.0
        by_x_and_w = vjp(stack, XS, Y)[1]((np.ones(3), 1.0))
        np.testing.assert_allclose(np.asarray(by_x_and_w[0]), np.full(3, 2.0))
        assert float(by_x_and_w[1]) == XS.sum() + 2.0


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_jvp_constant_with_a_derivative(wrap: Any) -> None:
    injected = custom_jvp(lambda x: 0.0)
    injected.defjvp(lambda primals, tangents: (0.0, primals[0] * tangents[0]))
    loss = wrap(lambda x: ops.reduce_sum(vmap(wrap(injected))(x), (0,)))
    assert float(loss(XS)) == 0.0
    np.testing.assert_array_equal(np.asarray(grad(loss)(XS)), XS)


def test_custom_jvp_complex() -> None:
    square = custom_jvp(lambda z: z * z)
    square.defjvp(lambda primals, tangents: (square(*primals), 2.0 * primals[0] * tangents[0]))
    z = np.complex128(0.3 + 0.8j)
    assert np.isclose(grad(square, holomorphic=True)(z), 2.0 * z)
    assert np.isclose(grad(lambda z: ops.real(square(z)))(z), 2.0 * z)
    assert np.isclose(jvp(square, (z,), (1j * z,))[1], 2.0 * z * 1j * z)


def test_custom_jvp_method() -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @partial(custom_jvp, nondiff_argnums=(0,))
        def apply(self, x: Any) -> Any:
            return x * self.factor

        @apply.defjvp
        def apply_jvp(self, primals: Any, tangents: Any) -> Any:
            return self.apply(*primals), 5.0 * self.factor * tangents[0]

    assert float(Scale(2.0).apply(3.0)) == 6.0
    assert float(grad(Scale(2.0).apply)(3.0)) == 10.0


def test_custom_jvp_weak_results(require_same: Callable[..., None]) -> None:
    twice = custom_jvp(lambda x: x * 2.0)
    twice.defjvp(lambda primals, tangents: (twice(*primals), tangents[0] * 2.0))
    for x in (1.0, np.float32(1.0)):
        for wrap in (lambda g: g, jit):
            require_same(tree.map(np.asarray, wrap(twice)(x)), np.asarray(x * 2.0))
            assert get_aval(wrap(twice)(x)) == get_aval(x * 2.0)
            assert get_aval(grad(wrap(twice))(x)) == get_aval(x * 2.0)


def test_custom_jvp_weak_results_compiled() -> None:
    twice = custom_jvp(lambda x: x * 2.0)
    twice.defjvp(lambda primals, tangents: (primals[0] * np.float64(2.0), tangents[0] * np.float64(2.0)))
    check_jaxpr(make_jaxpr(lambda x: jvp(jit(twice), (x,), (x,)))(1.0))
    for derivative in (lambda f: jvp(f, (1.0,), (1.0,)), lambda f: (f(1.0), grad(f)(1.0))):
        assert [get_aval(x) for x in derivative(jit(twice))] == [get_aval(1.0)] * 2


def test_custom_jvp_rule_result_mutated_later() -> None:
    x = np.array([1.0, 2.0, 4.0])
    held, slope = x * 5.0, np.ones(3)

    @custom_jvp
    def hold(x: Any) -> Any:
        return held

    @hold.defjvp
    def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        return held, slope

    for _ in range(3):
        held[:], slope[:] = x * 5.0, 1.0
        _, f_jvp = linearize(lambda x: x / hold(x), x)
        _, f_vjp = vjp(lambda x: hold(x) * x, x)
        expected = [f_jvp(x), *f_vjp(x)]
        held[:], slope[:] = 7.0, 8.0
        np.testing.assert_array_equal([f_jvp(x), *f_vjp(x)], expected)
        out, tangent = jvp(hold, (x,), (x,))
        out[:] = tangent[:] = 9.0
        assert not np.any(held == 9.0)
        assert not np.any(slope == 9.0)


def test_custom_jvp_partial_with_keyword():
    """A keyword that `functools.partial` fills is the function's own; rules get positional arguments only."""
    fun = partial(lambda x, y, a: x + y * a, a=0.5)
    function = custom_jvp(fun)
    function.defjvp(lambda primals, tangents: jvp(fun, primals, tangents))
    assert function(1.0, 2.0) == 2.0
    assert grad(function, (0, 1))(1.0, 2.0) == (1.0, 0.5)
    with pytest.raises(ArgumentTypeError, match="by name only"):
        function(1.0, 2.0, a=3.0)


def test_custom_jvp_name_after_a_default():
    function = custom_jvp(lambda x, n=3, scale=2.0: scale * x**n)
    function.defjvp(lambda primals, tangents: jvp(lambda x: 2.0 * x**3, primals[:1], tangents[:1]))
    assert function(2.0, scale=2.0) == 16.0
    assert grad(lambda x: function(x, scale=2.0))(2.0) == 24.0
