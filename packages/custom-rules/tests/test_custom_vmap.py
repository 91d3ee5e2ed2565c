"""`custom_vmap`: the batched form of a function is its rule, wherever `vmap` stands."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, value_and_grad
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    MissingRuleError,
    NonArrayError,
    alpha_equivalent,
    check_jaxpr,
    eval_closed_jaxpr,
    get_aval,
)
from lawful.custom_rules import custom_vjp, custom_vmap
from lawful.staging import cse_jaxpr, dce_jaxpr, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

XS, YS = np.array([0.5, -1.0, 2.0]), np.array([3.0, 0.25, 1.0])


def counting(fun: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """Returns a function with a rule that maps it, and a list of what the rule was asked."""
    asked: list[Any] = []
    custom = custom_vmap(fun)

    @custom.def_vmap
    def rule(axis_size: int, in_batched: list[Any], *args: Any) -> Any:
        asked.append((axis_size, in_batched))
        in_axes = tuple([tree.map(lambda mark: 0 if mark else None, marks) for marks in in_batched])
        return vmap(fun, in_axes, axis_size=axis_size)(*args), True

    return custom, asked


def product(x: Any, y: Any) -> Any:
    return ops.sin(x) * y


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
@pytest.mark.parametrize(("in_axes", "marks"), [((0, 0), [True, True]), ((0, None), [True, False])])
def test_custom_vmap_calls_the_rule_once(wrap: Any, in_axes: Any, marks: Any, loop: Callable[..., Any]) -> None:
    custom, asked = counting(product)
    args = XS, YS if in_axes[1] == 0 else 3.0
    for stack in (wrap(vmap(custom, in_axes)), vmap(wrap(custom), in_axes)):
        asked.clear()
        np.testing.assert_allclose(np.asarray(stack(*args)), loop(product, in_axes)(*args), rtol=1e-15)
        assert asked == [(3, marks)]


def test_custom_vmap_batch_dimension_in_front() -> None:
    shapes: list[Any] = []
    custom = custom_vmap(lambda x, y: ops.reduce_sum(x, (0, 1)) + y)

    @custom.def_vmap
    def rule(axis_size: int, in_batched: list[bool], x: Any, y: Any) -> Any:
        shapes.append((get_aval(x).shape, get_aval(y).shape, in_batched))
        return ops.reduce_sum(x, (1, 2)) + y, True

    x = np.arange(24.0).reshape(2, 3, 4)
    got = vmap(custom, in_axes=(2, None), out_axes=0)(x, 1.0)
    np.testing.assert_array_equal(got, x.sum((0, 1)) + 1.0)
    assert shapes == [((4, 2, 3), (), [True, False])]


def test_custom_vmap_without_mapped_arguments() -> None:
    custom, asked = counting(product)
    assert custom(0.5, 2.0) == jit(custom)(0.5, 2.0) == np.sin(0.5) * 2.0
    np.testing.assert_array_equal(vmap(lambda x: x + custom(0.5, 2.0))(XS), XS + np.sin(0.5) * 2.0)
    np.testing.assert_array_equal(vmap(lambda x, c: x + custom(c, 2.0), (0, None))(XS, 0.5), XS + np.sin(0.5) * 2.0)
    assert not asked


def test_custom_vmap_python_control_flow() -> None:
    custom = custom_vmap(lambda x: x if x > 0.0 else -x)
    custom.def_vmap(lambda axis_size, in_batched, x: (ops.abs(x), True))
    assert custom(-2.0) == 2.0
    np.testing.assert_array_equal(vmap(custom)(XS), np.abs(XS))
    np.testing.assert_array_equal(vmap(lambda y: vmap(lambda x: x * custom(-2.0))(XS) * y)(YS), 2.0 * XS * YS[:, None])


def test_custom_vmap_nested_vmap(loop: Callable[..., Any]) -> None:
    custom, asked = counting(product)
    got = vmap(vmap(custom, (0, None)), (None, 0))(XS, YS)
    np.testing.assert_allclose(got, loop(loop(product, (0, None)), (None, 0))(XS, YS), rtol=1e-15)
    assert asked == [(3, [True, False])]


def test_custom_vmap_pytrees_names_and_defaults(require_same: Callable[..., None]) -> None:
    def fun(point: Any, scale: Any = 2.0) -> Any:
        return {"sum": point["x"] + point["y"], "scaled": [point["x"] * scale]}

    custom = custom_vmap(fun)

    @custom.def_vmap
    def rule(axis_size: int, in_batched: list[Any], point: Any, scale: Any) -> Any:
        assert in_batched == [{"x": True, "y": False}, False]
        out = {"sum": point["x"] + point["y"], "scaled": [point["x"] * scale]}
        return out, {"sum": True, "scaled": True}

    for call in (
        lambda x: custom({"x": x, "y": 1.0}),
        lambda x: custom(point={"x": x, "y": 1.0}),
        lambda x: custom(scale=2.0, point={"x": x, "y": 1.0}),
    ):
        require_same(vmap(call)(XS), {"sum": XS + 1.0, "scaled": [XS * 2.0]})


def test_custom_vmap_unbatched_result() -> None:
    custom = custom_vmap(lambda x, y: (x * y, y * 2.0))
    custom.def_vmap(lambda axis_size, in_batched, x, y: ((x * y, y * 2.0), (True, False)))
    mapped = vmap(custom, (0, None), (0, None))
    for stack in (mapped, jit(mapped), vmap(jit(custom), (0, None), (0, None))):
        product, shared = stack(XS, 4.0)
        np.testing.assert_array_equal(np.asarray(product), XS * 4.0)
        assert float(shared) == 8.0


def test_custom_vmap_closed_over_batches(loop: Callable[..., Any]) -> None:
    """The rule does not know of them, so that the function is mapped."""

    def times(z: Any, y: Any) -> Any:
        return ops.sin(z) * ops.reduce_sum(y, (0,))

    def outer(x: Any, y: Any) -> Any:
        custom = custom_vmap(lambda z: times(z, y))
        custom.def_vmap(lambda axis_size, in_batched, z: (times(z, y), True))
        return custom(x) + custom(0.5)

    def plain(x: Any, y: Any) -> Any:
        return times(x, y) + times(0.5, y)

    for in_axes in ((0, 0), (0, None), (None, 0)):
        args = [x if axis == 0 else x[0] for x, axis in zip((XS, np.outer(YS, XS)), in_axes, strict=True)]
        expected = loop(plain, in_axes)(*args)
        for stack in (vmap(outer, in_axes), jit(vmap(outer, in_axes)), vmap(jit(outer), in_axes)):
            np.testing.assert_allclose(np.asarray(stack(*args)), expected, rtol=1e-15)


def test_custom_vmap_in_a_jaxpr(
    primitives_of: Callable[[ClosedJaxpr], Counter[str]],
) -> None:
    custom, asked = counting(product)
    closed = make_jaxpr(lambda x, y: custom(x, y) + custom(x, y))(XS[0], YS[0])
    check_jaxpr(closed)
    assert primitives_of(closed) == {"custom_vmap_call": 2, "sin": 2, "mul": 2, "add": 1}
    assert "custom_vmap_call[" in str(closed)
    assert "rules=<batch>" in str(closed)
    got = vmap(lambda x, y: eval_closed_jaxpr(closed, x, y)[0])(XS, YS)
    np.testing.assert_allclose(got, 2.0 * np.sin(XS) * YS, rtol=1e-15)
    assert asked == [(3, [True, True])] * 2


def test_custom_vmap_jaxprs_are_alpha_equivalent() -> None:
    custom, _ = counting(product)
    other, _ = counting(product)
    first, again, different = (make_jaxpr(lambda x, f=f: f(x, 2.0))(0.5) for f in (custom, custom, other))
    assert alpha_equivalent(first, again)
    assert not alpha_equivalent(first, different)


def test_custom_vmap_dead_results(primitives_of: Callable[[ClosedJaxpr], Counter[str]]) -> None:
    custom = custom_vmap(lambda x, y: (ops.sin(x), ops.exp(y)))
    custom.def_vmap(lambda axis_size, in_batched, x, y: ((ops.sin(x), ops.exp(y)), (in_batched[0], in_batched[1])))
    closed = make_jaxpr(custom)(XS[0], YS[0])
    smaller = dce_jaxpr(closed, (False, True))
    check_jaxpr(smaller)
    assert primitives_of(smaller) == {"custom_vmap_call": 1, "exp": 1}
    assert dce_jaxpr(smaller, (True,)) is smaller
    got = vmap(lambda x, y: eval_closed_jaxpr(smaller, x, y)[0])(XS, YS)
    np.testing.assert_allclose(got, np.exp(YS), rtol=1e-15)
    assert cse_jaxpr(closed) is closed


def test_custom_vmap_weak_results(require_same: Callable[..., None]) -> None:
    custom, _ = counting(lambda x, y: (x * y, y))
    x = np.arange(3, dtype=np.float32)
    require_same(vmap(lambda x: custom(x, 2.0)[0])(x), x * 2.0)


def test_custom_vmap_method() -> None:
    class Scale:
        factor = 3.0

        @custom_vmap
        def __call__(self, x: Any) -> Any:
            return x * self.factor

    tree.register_static(Scale)
    Scale.__call__.def_vmap(lambda axis_size, in_batched, self, x: (x * self.factor * 10.0, True))
    assert Scale()(2.0) == 6.0
    np.testing.assert_array_equal(vmap(Scale())(XS), XS * 30.0)


# Mistakes


def test_custom_vmap_missing_rule() -> None:
    custom = custom_vmap(product)
    with pytest.raises(MissingRuleError, match=r"custom_vmap of product: expected a batching rule.*@product\.def_vmap"):
        custom(1.0, 2.0)


BAD_RULES = {
    "no pair": (lambda n, marks, x: x, r"expected a pair \(out, out_batched\), got an array f64\[3\]"),
    "other marks": (lambda n, marks, x: ({"w": x}, {"v": True}), r"expected out_batched of the tree of the result"),
    "no marks": (lambda n, marks, x: ({"w": x}, 1), r"expected booleans as out_batched, got 1 of type int"),
    "no batch": (
        lambda n, marks, x: ({"w": x[0]}, True),
        r"expected a batch of 3 elements.*result\['w'\], got f64\[\]",
    ),
    "another tree": (lambda n, marks, x: ({"v": x}, True), r"expected a result of the tree .*missing 'w'; extra 'v'"),
    "another shape": (lambda n, marks, x: ({"w": x[:, None]}, True), r"expected f64\[\] at result\['w'\].* f64\[1\]"),
}


@pytest.mark.parametrize("name", BAD_RULES)
def test_custom_vmap_rule_result_errors(name: str) -> None:
    rule, message = BAD_RULES[name]

    def f(x: Any) -> Any:
        return {"w": x}

    custom = custom_vmap(f)
    custom.def_vmap(rule)
    with pytest.raises(ArgumentTypeError, match=rf"custom_vmap of f.*{message}"):
        vmap(jit(custom))(XS)


def test_custom_vmap_values_that_are_no_arrays() -> None:
    custom = custom_vmap(lambda x: x)
    custom.def_vmap(lambda n, marks, x: ("x", True))
    with pytest.raises(NonArrayError, match=r"batching rule.*got 'x' of type str at result"):
        vmap(custom)(XS)
    with pytest.raises(NonArrayError, match=r"custom_vmap of .*got 'a' of type str at argument 1"):
        vmap(lambda x: counting(product)[0](x, "a"))(XS)
    with pytest.raises(ArgumentTypeError, match="custom_vmap: expected a function, got 3"):
        custom_vmap(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", [lambda f: f(1.0, 2.0, 3.0), lambda f: f(1.0, z=2.0), lambda f: f(1.0)])
def test_custom_vmap_arguments_unlike_the_signature(call: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected arguments for product\(x: Any, y: Any\) -> Any, got others"):
        call(counting(product)[0])


def test_custom_vmap_keyword_only_arguments() -> None:
    custom = custom_vmap(lambda x, *, y: x * y)
    custom.def_vmap(lambda n, marks, x: (x, True))
    with pytest.raises(ArgumentTypeError, match=r"expected arguments that have a position.*got y, by name only"):
        custom(1.0, y=2.0)


@pytest.mark.parametrize(
    "run", [vmap, lambda f: jit(vmap(f), backend="numpy"), lambda f: vmap(jit(f, backend="numpy"))]
)
def test_custom_vmap_rule_of_another_structure(run: Any) -> None:
    @custom_vmap
    def pair(x: Any) -> Any:
        return x * 2.0, x

    @pair.def_vmap
    def rule(axis_size: int, in_batched: Any, x: Any) -> Any:
        return x * 2.0, True

    with pytest.raises(ArgumentTypeError, match=r"PyTreeDef\(\(\*, \*\)\).*got PyTreeDef\(\*\)"):
        run(pair)(np.arange(3.0))


def test_custom_vmap_rule_of_another_type() -> None:
    @custom_vmap
    def half(x: Any) -> Any:
        return x / 2.0

    half.def_vmap(lambda axis_size, in_batched, x: (x.astype("float32"), True))
    with pytest.raises(ArgumentTypeError, match=r"expected f64\[\] at result.*got f32\[\]"):
        vmap(half)(np.arange(3.0))


def test_custom_vmap_of_python_control_flow() -> None:
    """Nothing is known of the result where the function looks at a value: the rule is believed."""

    @custom_vmap
    def chosen(x: Any) -> Any:
        return x if x > 0 else -x

    chosen.def_vmap(lambda axis_size, in_batched, x: (abs(x), True))
    np.testing.assert_array_equal(vmap(chosen)(np.array([-1.0, 2.0])), [1.0, 2.0])


def test_custom_vmap_inside_of_custom_vjp() -> None:
    """The outer function defines the rules of the inner one too; each transformation finds its rule."""

    @custom_vjp
    @custom_vmap
    def f(x: Any, y: Any) -> Any:
        return ops.sin(x) * y

    @f.def_vmap  # type: ignore[untyped-decorator]
    def rule(axis_size: int, in_batched: Any, xs: Any, ys: Any) -> Any:
        return 10.0 * xs * ys, True

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda saved, ct: (2.0 * ct * saved[1], 3.0 * ct * saved[0]))
    np.testing.assert_array_equal(vmap(f)(XS, YS), 10.0 * XS * YS)
    np.testing.assert_array_equal(jit(vmap(f))(XS, YS), 10.0 * XS * YS)
    assert grad(f)(0.5, 3.0) == 6.0
    value, (x_bar, y_bar) = vmap(value_and_grad(f, (0, 1)))(XS, YS)
    for found, expected in ((value, 10.0 * XS * YS), (x_bar, 2.0 * YS), (y_bar, 3.0 * XS)):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(AttributeError, match="'custom_vjp' object has no attribute 'defjvp'"):
        custom_vjp(lambda x: x).defjvp  # noqa: B018
