"""`custom_rule`: any of four rules is given, and the others are derived from it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, UndefinedPrimal
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp, custom_vmap
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]

X, Y = np.float64(0.7), np.float64(2.0)
XS, YS = np.array([0.5, -1.0, 2.0]), np.array([3.0, 0.25, 1.0])


class Ruled:
    """The function x sin(y), which is linear in x, with some rules, each of which notes that it was used."""

    def __init__(self, slots: tuple[str, ...]) -> None:
        self.used: list[str] = []
        self.f = f = custom_rule(lambda x, y: x * ops.sin(y))
        note = self.used.append
        if "jvp" in slots:

            def by_jvp(primals: Any, tangents: Any) -> Any:
                note("jvp")
                (x, y), (x_dot, y_dot) = primals, tangents
                return f(x, y), x_dot * ops.sin(y) + x * ops.cos(y) * y_dot

            f.def_jvp(by_jvp)
        if "vjp" in slots:

            def fwd(x: Any, y: Any) -> Any:
                note("fwd")
                return f(x, y), (x, y)

            def bwd(residuals: Any, ct: Any) -> Any:
                note("bwd")
                x, y = residuals
                return ct * ops.sin(y), ct * x * ops.cos(y)

            f.def_vjp(fwd, bwd)
        if "batch" in slots:

            @f.def_batch
            def by_batch(axis_size: int, in_batched: list[bool], x: Any, y: Any) -> Any:
                note("batch")
                return x * ops.sin(y), any(in_batched)

        if "transpose" in slots:

            @f.def_transpose(linear_argnums=0)
            def by_transpose(ct: Any, x: Any, y: Any) -> Any:
                note("transpose")
                assert type(x) is UndefinedPrimal
                return ct * ops.sin(y), None

    @contextmanager
    def using(self, *rules: str) -> Iterator[None]:
        self.used.clear()
        yield
        assert set(self.used) == set(rules)


SLOTS = ("jvp", "vjp", "batch", "transpose")
SUBSETS = [*chain.from_iterable(combinations(SLOTS, count) for count in range(5))]


@pytest.mark.parametrize("slots", SUBSETS, ids=lambda slots: "+".join(slots) or "none")
@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_rule_any_rules_any_transformation(slots: tuple[str, ...], wrap: Any) -> None:
    f = wrap(Ruled(slots).f)
    sin, cos = np.sin(Y), np.cos(Y)
    close = partial(np.testing.assert_allclose, rtol=1e-13)
    close(f(X, Y), X * sin)
    close(jvp(f, (X, Y), (1.0, 2.0))[1], sin + 2.0 * X * cos)
    close(linearize(f, X, Y)[1](np.float64(1.0), np.float64(2.0)), sin + 2.0 * X * cos)
    close([float(v) for v in grad(f, (0, 1))(X, Y)], [sin, X * cos])
    close(float(linear_transpose(lambda x: f(x, Y), X)(3.0)[0]), 3.0 * sin)
    for derivative in (hessian, lambda g: jacfwd(jacfwd(g)), lambda g: jacrev(jacrev(g)), lambda g: jacrev(jacfwd(g))):
        close(derivative(lambda v: f(v[0], v[1]))(np.array([X, Y])), [[0.0, cos], [cos, -X * sin]], atol=1e-13)
    for in_axes in ((0, 0), (0, None), (None, 0)):
        x, y = (values if axis == 0 else values[0] for values, axis in zip((XS, YS), in_axes, strict=True))
        ones = np.ones(3)
        close(np.asarray(vmap(f, in_axes)(x, y)), x * np.sin(y) * ones)
        by_x, by_y = vmap(grad(f, (0, 1)), in_axes)(x, y)
        close(np.asarray(by_x), np.sin(y) * ones)
        close(np.asarray(by_y), x * np.cos(y) * ones)
        close(np.asarray(vmap(grad(grad(f, 1), 1), in_axes)(x, y)), -x * np.sin(y) * ones, atol=1e-13)
        close(np.asarray(vmap(jacfwd(f, 1), in_axes)(x, y)), x * np.cos(y) * ones)
        total = grad(lambda x, y, in_axes=in_axes: ops.reduce_sum(vmap(f, in_axes)(x, y), (0,)), (0, 1))(x, y)
        for got, part, axis in zip(total, (np.sin(y), x * np.cos(y)), in_axes, strict=True):
            close(np.asarray(got), part * ones if axis == 0 else (part * ones).sum())
        close(
            np.asarray(vmap(lambda x, y: linear_transpose(lambda x: f(x, y), x)(3.0)[0], in_axes)(x, y)),
            3.0 * np.sin(y) * ones,
        )


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_rule_chosen_rule(wrap: Any) -> None:
    both = Ruled(("jvp", "vjp"))
    reverse = ("fwd", "bwd")
    calls: list[tuple[tuple[str, ...], Function]] = [
        (("jvp",), lambda f: jvp(f, (X, Y), (X, Y))),
        (("jvp",), lambda f: jit(lambda x, y: jvp(f, (x, y), (x, y)))(X, Y)),
        (("jvp",), lambda f: jvp(vmap(f), (XS, YS), (XS, YS))),
        (reverse, lambda f: grad(f)(X, Y)),
        (reverse, lambda f: vmap(jit(grad(f)))(XS, YS)),
        (reverse, lambda f: linearize(f, X, Y)[1](X, Y)),
    ]
    for rules, call in calls:
        with both.using(*rules):
            call(wrap(partial(both.f)))  # a new function each time: what is compiled asks no rule again
    for_batches = Ruled(("batch",))
    with for_batches.using():
        grad(wrap(partial(for_batches.f)))(X, Y)
    stacks: list[Function] = [
        vmap,
        lambda f: vmap(grad(f)),
        lambda f: vmap(jacfwd(f)),
        lambda f: vmap(grad(grad(f, 1), 1)),
        lambda f: vmap(wrap(grad(f))),
        lambda f: grad(lambda x, y: ops.reduce_sum(vmap(f)(x, y), (0,))),
    ]
    for stack in stacks:
        with for_batches.using("batch"):
            stack(wrap(partial(for_batches.f)))(XS, YS)
    linear = Ruled(("transpose",))
    f = wrap(linear.f)
    for call in (lambda: linear_transpose(lambda x: f(x, Y), X)(X), lambda: grad(f)(X, Y)):
        with linear.using("transpose"):
            call()
    with linear.using():
        jvp(f, (X, Y), (X, Y))
    all_of_them = Ruled(SLOTS)
    f = wrap(all_of_them.f)
    with all_of_them.using("transpose"):
        linear_transpose(lambda x: f(x, Y), X)(X)
    with all_of_them.using("batch"):
        vmap(f)(XS, YS)


def test_custom_rule_rules() -> None:
    given, function = "given", "derived from the function"
    assert Ruled(()).f.rules() == dict.fromkeys(SLOTS, function)
    assert Ruled(SLOTS).f.rules() == dict.fromkeys(SLOTS, given)
    assert Ruled(("jvp",)).f.rules() == {
        "jvp": given,
        "vjp": "derived from jvp",
        "batch": "derived from jvp and the function",
        "transpose": function,
    }
    assert Ruled(("vjp",)).f.rules()["jvp"] == "derived from vjp"
    linear = Ruled(("transpose",)).f.rules()
    assert (linear["jvp"], linear["vjp"]) == ("derived from transpose", "derived from transpose")
    assert custom_jvp(np.sin).rules() == dict.fromkeys(SLOTS, "absent: define it with sin.defjvp")
    assert custom_vjp(np.sin).rules() == dict.fromkeys(SLOTS, "absent: define it with sin.defvjp")


def test_custom_jvp_and_custom_vjp_take_other_rules() -> None:
    """So that more rules can be given to them."""
    f = custom_vjp(lambda x: x * 2.0)
    f.defvjp(lambda x: (x * 2.0, None), lambda _, ct: (ops.select(ct > 0.0, 2.0 * ct, 3.0 * ct),))
    f.def_jvp(lambda primals, tangents: (f(*primals), 5.0 * tangents[0]))
    assert float(jvp(f, (X,), (1.0,))[1]) == 5.0
    assert [float(vjp(f, X)[1](ct)[0]) for ct in (1.0, -1.0)] == [2.0, -3.0]


def test_custom_rule_nondiff_argnums_without_rules() -> None:
    f = custom_rule(lambda x, s: x * s, nondiff_argnums=(1,))
    assert [float(v) for v in grad(lambda x, s: f(x, s), (0, 1))(3.0, 2.0)] == [2.0, 0.0]
    assert float(jvp(lambda s: f(3.0, s), (2.0,), (1.0,))[1]) == 0.0


@pytest.mark.parametrize("option", [None, (), {}])
def test_custom_rule_nondiff_argument_without_leaves(option: Any) -> None:
    """An empty tree has no leaves, and rules are given it all the same."""

    @partial(custom_rule, nondiff_argnums=(0,))
    def scale(option: Any, x: Any) -> Any:
        assert option in (None, (), {})
        return x * 2.0

    @scale.def_batch
    def _(axis_size: int, in_batched: list[Any], option: Any, x: Any) -> Any:
        assert len(in_batched) == 2
        return scale(option, x), True

    xs = np.arange(3.0)
    np.testing.assert_array_equal(vmap(lambda x: scale(option, x))(xs), 2.0 * xs)
    scale.def_jvp(lambda option, primals, tangents: (scale(option, *primals), 3.0 * tangents[0]))
    assert float(jvp(lambda x: scale(option, x), (1.0,), (1.0,))[1]) == 3.0
    scale.def_vjp(lambda option, x: (scale(option, x), None), lambda option, _, ct: (5.0 * ct,))
    assert float(grad(lambda x: scale(option, x))(1.0)) == 5.0
    scale.def_transpose(lambda ct, option, x: (None, 7.0 * ct))
    assert float(linear_transpose(lambda x: scale(option, x), 1.0)(1.0)[0]) == 7.0
    assert float(jit(lambda x: scale(option, x))(1.0)) == 2.0


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_rule_transpose_under_vmap_unbatched_result(wrap: Any) -> None:
    f = custom_rule(lambda x, w: (x * 3.0, w * 2.0))
    f.def_transpose(lambda ct, x, w: (3.0 * ct[0], 2.0 * ct[1]))
    g = wrap(vmap(wrap(f), (0, None)))
    out, shared = g(XS, Y)
    np.testing.assert_array_equal(np.asarray(shared) * np.ones(3), np.full(3, 4.0))
    for pull in (vjp(g, XS, Y)[1], linear_transpose(g, XS, Y)):
        by_x, by_w = pull((np.ones_like(out), np.ones_like(shared)))
        np.testing.assert_array_equal(np.asarray(by_x), np.full(3, 3.0))
        assert float(by_w) == 6.0


# Mistakes


def test_custom_rule_linear_argnums_errors() -> None:
    f = custom_rule(lambda x, y: x * y, nondiff_argnums=(1,))
    for linear_argnums in ((1,), (-1,)):
        with pytest.raises(ArgumentValueError, match="expected linear_argnums of positions"):
            f.def_transpose(lambda ct, x, y: (ct * y, None), linear_argnums=linear_argnums)
    f.def_transpose(lambda ct, x, y: (ct * y, None), linear_argnums=5)
    with pytest.raises(ArgumentTypeError, match=r"expected an argument for each of linear_argnums, \(5,\), got 2"):
        grad(f)(X, 2.0)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda ct, x, y: ct, r"expected a tuple of 2 cotangents, one for each argument, got an array f64\[\]"),
        (lambda ct, x, y: (ct[None], None), r"expected a cotangent of type f64\[\] at result\[0\], got f64\[1\]"),
        (lambda ct, x, y: ({"x": ct}, None), r"expected result of the tree"),
    ],
)
def test_custom_rule_transpose_result_errors(rule: Any, message: str) -> None:
    f = custom_rule(lambda x, y: x * y)
    f.def_transpose(rule, linear_argnums=0)
    with pytest.raises(ArgumentTypeError, match=rf"custom_rule of <lambda>, the transpose rule <lambda>: {message}"):
        grad(f)(X, Y)


# The derivatives of `custom_vmap`


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["eager", "jit"])
def test_custom_rule_derivatives_of_batching_rule(wrap: Any) -> None:
    """A rule that gives ten times the function tells where it was."""
    f = custom_vmap(lambda x, y: ops.sin(x) * y)
    f.def_vmap(lambda axis_size, in_batched, x, y: (10.0 * ops.sin(x) * y, any(in_batched)))
    g = wrap(f)
    close = partial(np.testing.assert_allclose, rtol=1e-13, atol=1e-13)
    close(float(grad(g)(X, Y)), np.cos(X) * Y)
    expected = 10.0 * np.cos(XS) * YS
    for stack in (vmap(grad(g)), vmap(jacfwd(g)), wrap(vmap(grad(g))), vmap(wrap(grad(g)))):
        close(np.asarray(stack(XS, YS)), expected)
    close(np.asarray(grad(lambda x: ops.reduce_sum(vmap(g)(x, YS), (0,)))(XS)), expected)
    for order in (vmap(grad(grad(g))), vmap(jacfwd(jacfwd(g))), vmap(jacfwd(grad(g))), vmap(hessian(g))):
        close(np.asarray(order(XS, YS)), -10.0 * np.sin(XS) * YS)
    close(np.asarray(vmap(grad(lambda x, y: grad(g)(x, y), 1))(XS, YS)), 10.0 * np.cos(XS))
    # Only directions, or only cotangents, are mapped.
    close(np.asarray(vmap(lambda t: jvp(g, (X, Y), (t, 0.0))[1])(XS)), 10.0 * np.cos(X) * Y * XS)
    close(np.asarray(vmap(lambda ct: vjp(g, X, Y)[1](ct)[0])(XS)), 10.0 * np.cos(X) * Y * XS)
    nested = vmap(vmap(grad(g), (0, None)), (None, 0))(XS, YS)
    close(np.asarray(nested), 10.0 * np.cos(XS) * YS[:, None])


def test_custom_rule_derivatives_of_batching_rule_of_trees() -> None:
    f = custom_vmap(lambda p, i: {"a": p["x"] * p["y"] * i, "i": i + 1})

    @f.def_vmap
    def rule(axis_size: int, in_batched: Any, p: Any, i: Any) -> Any:
        marks = {"a": any(tree.leaves(in_batched)), "i": in_batched[1]}
        return {"a": 10.0 * p["x"] * p["y"] * i, "i": i + 1}, marks

    point = {"x": XS, "y": Y}
    for wrap in (lambda g: g, jit):
        by_point = vmap(wrap(grad(lambda p, i: f(p, i)["a"])), ({"x": 0, "y": None}, None))(point, 3)
        np.testing.assert_allclose(np.asarray(by_point["x"]), np.full(3, 60.0))
        np.testing.assert_allclose(np.asarray(by_point["y"]), 30.0 * XS)
