"""`custom_vjp`: reverse mode by a rule, forward mode by its transpose, under every transformation."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    check_jaxpr,
    eval_closed_jaxpr,
    float0,
)
from lawful.custom_rules import SymbolicZero, custom_vjp, custom_vjp_primal_tree_values
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]

X, Y = np.float64(0.7), np.float64(2.0)
XS, YS = np.array([0.5, -1.0, 2.0]), np.array([3.0, 0.25, 1.0])


@custom_vjp
def f(x: Any, y: Any) -> Any:
    return ops.sin(x) * y


def f_fwd(x: Any, y: Any) -> Any:
    return f(x, y), {"cos": ops.cos(x), "sin": ops.sin(x), "y": y}


def f_bwd(residuals: Any, ct: Any) -> Any:
    """Ten times the cotangent of x, so that it can be told from that of the function."""
    return 10.0 * residuals["cos"] * ct * residuals["y"], residuals["sin"] * ct


f.defvjp(f_fwd, f_bwd)


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
def test_custom_vjp_in_both_modes(inner: str, outer: str) -> None:
    g = STACKS[inner](f)
    derivatives = [
        lambda x, y: grad(g)(x, y),
        lambda x, y: vjp(g, x, y)[1](1.0 + 0.0 * x)[0],
        lambda x, y: jacrev(g)(x, y),
        # Forward mode is derived.
        lambda x, y: jvp(g, (x, y), (1.0 + 0.0 * x, 0.0 * x))[1],
        lambda x, y: linearize(g, x, y)[1](1.0 + 0.0 * x, 0.0 * x),
        lambda x, y: jacfwd(g)(x, y),
    ]
    for derivative in derivatives:
        np.testing.assert_allclose(np.asarray(STACKS[outer](derivative)(X, Y)), by_x(X, Y), rtol=1e-14)


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_vjp_second_derivative(wrap: Any) -> None:
    expected = -10.0 * np.sin(X) * Y
    g = wrap(f)
    orders = [grad(grad(g)), jacfwd(jacfwd(g)), jacfwd(grad(g)), jacrev(jacfwd(g)), hessian(g), wrap(hessian(f))]
    for second in orders:
        np.testing.assert_allclose(np.asarray(second(X, Y)), expected, rtol=1e-14)


@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0)])
def test_custom_vjp_under_vmap(in_axes: Any) -> None:
    x, y = (values if axis == 0 else values[0] for values, axis in zip((XS, YS), in_axes, strict=True))
    for mapped in (
        vmap(grad(f), in_axes),
        jit(vmap(grad(f), in_axes)),
        vmap(jit(grad(f)), in_axes),
        vmap(grad(jit(f)), in_axes),
        vmap(jacfwd(f), in_axes),
        jit(vmap(jacfwd(f), in_axes)),
    ):
        np.testing.assert_allclose(np.asarray(mapped(x, y)), by_x(x, y) * np.ones(3), rtol=1e-14)
    # The cotangent of what all elements share is the sum of theirs.
    for total in (
        lambda x, y: ops.reduce_sum(vmap(f, in_axes)(x, y), (0,)),
        lambda x, y: ops.reduce_sum(jit(vmap(f, in_axes))(x, y), (0,)),
        lambda x, y: ops.reduce_sum(vmap(jit(f), in_axes)(x, y), (0,)),
    ):
        for got, part, axis in zip(grad(total, (0, 1))(x, y), (by_x(x, y), np.sin(x)), in_axes, strict=True):
            full = part * np.ones(3)
            np.testing.assert_allclose(np.asarray(got), full if axis == 0 else full.sum(), rtol=1e-14)


def test_custom_vjp_mapped_tangents_and_cotangents() -> None:
    pushed = vmap(lambda t: jvp(f, (X, Y), (t, 0.0 * t))[1])(XS)
    np.testing.assert_allclose(pushed, by_x(X, Y) * XS, rtol=1e-14)
    np.testing.assert_allclose(vmap(lambda ct: vjp(f, X, Y)[1](ct)[0])(XS), by_x(X, Y) * XS, rtol=1e-14)
    np.testing.assert_allclose(vmap(linearize(f, X, Y)[1])(XS, YS), by_x(X, Y) * XS + np.sin(X) * YS, rtol=1e-14)


def test_custom_vjp_number_of_rule_calls() -> None:
    runs: list[str] = []
    g = custom_vjp(lambda x: runs.append("f") or x * x)
    g.defvjp(lambda x: (runs.append("fwd") or x * x, x), lambda x, ct: runs.append("bwd") or (2.0 * x * ct,))
    out, pull = vjp(g, 3.0)
    assert (float(out), runs) == (9.0, ["fwd"])
    assert [float(pull(ct)[0]) for ct in (1.0, 2.0)] == [6.0, 12.0]
    assert runs == ["fwd", "bwd", "bwd"]
    runs.clear()
    jit(grad(g))(3.0)
    assert runs == ["fwd", "bwd"]


def test_custom_vjp_python_control_flow() -> None:
    @custom_vjp
    def leaky(x: Any) -> Any:
        return x if x > 0.0 else 0.1 * x

    leaky.defvjp(lambda x: (leaky(x), x), lambda x, ct: ((2.0 if x > 0.0 else 3.0) * ct,))
    assert [float(grad(leaky)(v)) for v in (2.0, -2.0)] == [2.0, 3.0]
    assert [float(jvp(leaky, (v,), (1.0,))[1]) for v in (2.0, -2.0)] == [2.0, 3.0]
    # Reverse mode may look at the cotangent.
    flip = custom_vjp(lambda x: x)
    flip.defvjp(lambda x: (x, None), lambda _, ct: (ct if ct > 0.0 else -ct,))
    assert [float(grad(lambda x, s=s: flip(x) * s)(1.0)) for s in (3.0, -3.0)] == [3.0, 3.0]


def test_custom_vjp_pytrees(require_same: Callable[..., None]) -> None:
    @custom_vjp
    def g(point: Any, scale: Any) -> Any:
        return {"sum": point["x"] + point["y"], "parts": [point["x"] * scale, None]}

    def bwd(residuals: Any, ct: Any) -> Any:
        x, scale = residuals
        return {"x": ct["sum"] + scale * ct["parts"][0], "y": ops.reduce_sum(ct["sum"], (0,))}, ops.reduce_sum(
            x * ct["parts"][0], (0,)
        )

    g.defvjp(lambda point, scale: (g(point, scale), (point["x"], scale)), bwd)
    point = {"x": XS, "y": 1.0}
    ct = {"sum": np.ones(3), "parts": [YS, None]}
    for wrap in (lambda h: h, jit):
        pulled = vjp(wrap(g), point, 2.0)[1](ct)
        require_same(pulled, ({"x": 1.0 + 2.0 * YS, "y": 3.0}, np.dot(XS, YS).item()), rtol=1e-14)
        _, out_dot = jvp(wrap(g), (point, 2.0), ({"x": YS, "y": 1.0}, 1.0))
        np.testing.assert_allclose(np.asarray(out_dot["sum"]), YS + 1.0, rtol=1e-14)
        np.testing.assert_allclose(np.asarray(out_dot["parts"][0]), 2.0 * YS + XS, rtol=1e-14)


def test_custom_vjp_none_as_zero_cotangent() -> None:
    g = custom_vjp(lambda tree, y: tree["a"] * tree["b"][0] * y)
    tree = {"a": X, "b": [Y]}
    for cotangents in (None, {"a": None, "b": [None]}, {"a": None, "b": None}, {"a": 0.0, "b": None}):
        g.defvjp(lambda tree, y: (g(tree, y), None), lambda _, ct, cotangents=cotangents: (cotangents, 2.0 * ct))
        by_tree, by_y = grad(g, (0, 1))(tree, 3.0)
        assert by_tree == {"a": 0.0, "b": [0.0]}
        assert float(by_y) == 2.0
        assert float(jvp(g, (tree, 3.0), (tree, 1.0))[1]) == 2.0


def test_custom_vjp_integer_arguments(require_same: Callable[..., None]) -> None:
    @custom_vjp
    def g(x: Any, i: Any) -> Any:
        return x * i, i + 1

    def bwd(i: Any, cts: Any) -> Any:
        assert cts[1].dtype == float0
        return i * cts[0], given[0]

    given: list[Any] = []
    g.defvjp(lambda x, i: (g(x, i), i), bwd)
    for cotangent in (None, np.zeros((), float0), 0.0):
        given[:] = [cotangent]
        pulled = vjp(g, 2.0, np.int64(3))[1]((np.float64(1.0), np.zeros((), float0)))
        require_same(pulled, (3.0, np.zeros((), float0)))
        assert float(grad(lambda x: g(x, 3)[0])(2.0)) == 3.0
        assert float(jit(grad(lambda x: g(x, 3)[0]))(2.0)) == 3.0
        np.testing.assert_array_equal(vmap(grad(lambda x, i: g(x, i)[0]))(XS, np.arange(3)), np.arange(3.0))
        require_same(
            jvp(g, (2.0, np.int64(3)), (1.0, np.zeros((), float0)))[1], (np.float64(3.0), np.zeros((), float0))
        )


def test_custom_vjp_nondiff_argnums() -> None:
    @partial(custom_vjp, nondiff_argnums=(0,), nondiff_argnames=("scale",))
    def apply(fun: Any, x: Any, scale: Any = 2.0) -> Any:
        return fun(x) * scale

    def fwd(fun: Any, x: Any, scale: Any) -> Any:
        return apply(fun, x, scale), x

    apply.defvjp(fwd, lambda fun, scale, x, ct: (7.0 * ct * scale,))
    assert float(grad(lambda x: apply(ops.sin, x))(1.0)) == 14.0
    assert float(grad(lambda x: apply(ops.sin, x, scale=3.0))(1.0)) == 21.0
    assert [float(v) for v in grad(lambda x, s: apply(ops.sin, x, s), (0, 1))(1.0, 2.0)] == [14.0, 0.0]
    np.testing.assert_array_equal(vmap(lambda s: grad(lambda x: apply(ops.sin, x, s))(1.0))(YS), 7.0 * YS)
    assert float(jit(lambda s: grad(lambda x: apply(ops.sin, x, s))(1.0))(2.0)) == 14.0


def test_custom_vjp_symbolic_zeros() -> None:
    seen: list[Any] = []
    g = custom_vjp(lambda x, pair: (x * pair[0], pair[1]))

    def fwd(x: Any, pair: Any) -> Any:
        seen.append([x.perturbed, pair[0].perturbed, pair[1].perturbed])
        values = custom_vjp_primal_tree_values((x, pair))
        return g(*values), values[1]

    def bwd(pair: Any, cts: Any) -> Any:
        seen.append([type(ct) is SymbolicZero for ct in cts])
        return pair[0] * cts[0], (cts[1], None)

    g.defvjp(fwd, bwd, symbolic_zeros=True)
    for wrap in (lambda h: h, jit):
        assert float(wrap(grad(lambda x: g(x, (2.0, 3.0))[0]))(5.0)) == 2.0
    assert seen == [[True, False, False], [False, True]] * 2
    with pytest.raises(ArgumentTypeError, match="expected leaves that are CustomVJPPrimal, got float"):
        custom_vjp_primal_tree_values([1.0])


def test_custom_vjp_residuals_of_each_call() -> None:
    """A later write into an array does not change the derivative."""
    weights = np.ones(3)
    g = custom_vjp(lambda x: x * weights)
    g.defvjp(lambda x: (x * weights, (x, weights)), lambda res, ct: (ct * res[1] + 0.0 * res[0],))
    x = XS.copy()
    out, pull = vjp(g, x)
    _, push = linearize(g, x)
    out[:] = 100.0
    weights[:] = 5.0
    x[:] = np.nan
    np.testing.assert_array_equal(pull(np.ones(3))[0], np.ones(3))
    np.testing.assert_array_equal(push(np.ones(3)), np.ones(3))


def test_custom_vjp_in_a_jaxpr(
    primitives_of: Callable[[ClosedJaxpr], Counter[str]],
) -> None:
    closed = make_jaxpr(lambda x, y: f(x, y) * 2.0)(X, Y)
    check_jaxpr(closed)
    assert primitives_of(closed) == {"custom_vjp_call": 1, "sin": 1, "mul": 2}
    for text in ("custom_vjp_call[", "name=f", "rules=<vjp>", "jaxpr={ lambda ; a:f64[] b:f64[]. let"):
        assert text in str(closed)
    evaluated = lambda x, y: eval_closed_jaxpr(closed, x, y)[0]  # noqa: E731
    np.testing.assert_allclose(grad(evaluated)(X, Y), 2.0 * by_x(X, Y), rtol=1e-14)
    np.testing.assert_allclose(vmap(grad(evaluated), (0, None))(XS, Y), 2.0 * by_x(XS, Y), rtol=1e-14)
    check_jaxpr(make_jaxpr(grad(f))(X, Y))
    forward = make_jaxpr(lambda x, y: jvp(f, (x, y), (y, x)))(X, Y)
    check_jaxpr(forward)
    assert "fun=<the tangents of custom_vjp of f>" in str(forward)


def test_custom_vjp_in_checkpoint() -> None:
    for g in (checkpoint(f), jit(checkpoint(f)), checkpoint(jit(f))):
        np.testing.assert_allclose(grad(g)(X, Y), by_x(X, Y), rtol=1e-14)
        np.testing.assert_allclose(jacfwd(g)(X, Y), by_x(X, Y), rtol=1e-14)
    inside = custom_vjp(lambda x: checkpoint(ops.sin)(x))
    inside.defvjp(lambda x: (checkpoint(ops.sin)(x), x), lambda x, ct: (10.0 * ops.cos(x) * ct,))
    np.testing.assert_allclose(grad(inside)(X), 10.0 * np.cos(X), rtol=1e-14)


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_vjp_cotangent_of_unused_argument(wrap: Any) -> None:
    injected = custom_vjp(lambda x, w: w * 2.0)
    injected.defvjp(lambda x, w: (injected(x, w), x), lambda x, ct: (ct * x, ct * 2.0))
    loss = wrap(lambda x, w: ops.reduce_sum(vmap(wrap(injected), (0, None))(x, w), (0,)))
    by_x, by_w = grad(loss, (0, 1))(XS, Y)
    np.testing.assert_array_equal(np.asarray(by_x), XS)
    assert float(by_w) == 6.0


def test_custom_vjp_cotangent_of_unbatched_argument() -> None:
    """Also where that of one element does not depend on the element."""
    counted = custom_vjp(lambda x, w: x * w)
    counted.defvjp(lambda x, w: (x * w, w), lambda w, ct: (ct * w, 1.0))
    total = lambda x, w: ops.reduce_sum(vmap(counted, (0, None))(x, w), (0,))  # noqa: E731
    for g in (total, jit(total)):
        assert float(grad(g, 1)(XS, Y)) == 3.0


def test_custom_vjp_complex() -> None:
    square = custom_vjp(lambda z: z * z)
    square.defvjp(lambda z: (square(z), z), lambda z, ct: (2.0 * z * ct,))
    z = np.complex128(0.3 + 0.8j)
    assert np.isclose(grad(square, holomorphic=True)(z), 2.0 * z)
    assert np.isclose(jvp(square, (z,), (1j * z,))[1], 2.0 * z * 1j * z)
    norm = custom_vjp(lambda z: ops.real(z * ops.conj(z)))
    norm.defvjp(lambda z: (norm(z), z), lambda z, ct: (2.0 * ops.conj(z) * ct,))
    assert np.isclose(grad(norm)(z), 2.0 * np.conj(z))
    # The tangent of a real result is real: transposing by complex numbers is by their real and imaginary parts.
    assert np.isclose(jvp(norm, (z,), (1j + z,))[1], np.real(2.0 * np.conj(z) * (1j + z)))


def test_custom_vjp_forward_mode_of_linear_bwd() -> None:
    mask = np.array([True, False, True])
    rules: list[tuple[Function, Any]] = [
        (lambda r, ct: (ct * r,), XS),
        (lambda r, ct: (ops.select(mask, ct, np.zeros(3)),), mask * 1.0),
        (lambda r, ct: (ct + np.zeros(3),), np.ones(3)),
        (lambda r, ct: (ops.pad(ct[:2], 0.0, [(0, 1, 0)]),), [1.0, 1.0, 0.0]),
        (lambda r, ct: (jit(lambda a: a * r)(ct),), XS),
        (lambda r, ct: (vmap(lambda a, b: a * b)(ct, r),), XS),
        (lambda r, ct: (ops.concatenate([ct[:1], np.zeros(1), ct[2:]], 0),), [1.0, 0.0, 1.0]),
    ]
    for bwd, diagonal in rules:
        g = custom_vjp(lambda x: x * 2.0)
        g.defvjp(lambda x: (x * 2.0, x), bwd)
        for wrap in (lambda h: h, jit):
            np.testing.assert_allclose(np.asarray(jvp(wrap(g), (XS,), (YS,))[1]), np.asarray(diagonal) * YS)


def test_custom_vjp_bwd_result_mutated_later() -> None:
    held, x = np.ones(3), np.arange(3.0)

    @custom_vjp
    def double(x: Any) -> Any:
        return x * 2.0

    double.defvjp(lambda x: (x * 2.0, None), lambda res, ct: (held,))
    for _ in range(3):
        gradient = grad(lambda x: double(x).sum())(x)
        (ct,) = vjp(double, x)[1](x)
        gradient[:] = ct[:] = 5.0
        np.testing.assert_array_equal(held, np.ones(3))


def test_custom_vjp_accepts_options_without_effect():
    @custom_vjp
    def f(x):
        return ops.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (2.0 * ct * ops.cos(x),), optimize_remat=True, generic_batching=True)
    assert grad(f)(0.0) == 2.0


@pytest.mark.parametrize("way", [lambda f: f, jit, checkpoint, lambda f: jit(checkpoint(f))])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_custom_vjp_number_beside_narrower_array(dtype: str, way: Callable[[Function], Function]) -> None:
    """The cotangent of a Python number has the dtype of the arrays: no rule can know better."""
    product = custom_vjp(lambda x, y: x * y)

    @partial(product.defvjp, lambda x, y: (x * y, (x, y)))
    def _(kept: tuple[Any, Any], ct: Any) -> tuple[Any, Any]:
        return ct * kept[1], (3.0 * ct * kept[0]).sum()

    x = np.ones(2, dtype)
    loss = way(lambda x, y: ops.reduce_sum(product(x, y), (0,)))
    by_x, by_y = grad(loss, (0, 1))(x, 2.0)
    assert by_x.dtype == x.dtype
    assert (by_x.astype(float).tolist(), by_y) == ([2.0, 2.0], 6.0)
    assert grad(grad(way(lambda y: loss(x, y) * y)))(2.0) == 8.0  # the value is that of fwd, which has no rule
    assert jvp(loss, (x, 2.0), (x, 1.0))[1] == 10.0
    np.testing.assert_array_equal(vmap(grad(lambda x: product(x, 2.0)))(x).astype(float), [2.0, 2.0])


@pytest.mark.parametrize("way", [lambda f: f, jit])
@pytest.mark.parametrize("symbolic_zeros", [False, True])
def test_custom_vjp_cotangent_of_a_number(symbolic_zeros: bool, way: Callable[[Function], Function]) -> None:
    """It divides by zero, and has a shape and dtype, as it has where it is traced; but it decides no dtype."""
    first = custom_vjp(lambda x, y: x * 2.0)

    def bwd(y: Any, ct: Any) -> tuple[Any, Any]:
        assert (ct.shape, ct.dtype) == ((), np.float64)
        return ct / 0.0, ct * y

    fwd = (lambda x, y: (x.value * 2.0, y.value)) if symbolic_zeros else (lambda x, y: (x * 2.0, y))
    first.defvjp(fwd, bwd, symbolic_zeros=symbolic_zeros)
    with np.errstate(divide="ignore"):
        by_x, by_y = way(grad(first, (0, 1)))(2.0, np.ones(2, np.float32))
    assert (type(by_x), by_x) == (float, np.inf)
    assert (by_y.dtype, by_y.tolist()) == (np.float32, [1.0, 1.0])
