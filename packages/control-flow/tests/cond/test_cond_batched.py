"""`cond` under `vmap`: a cond if the predicate is unmapped, else a select for each batch element."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import axis_index, psum, vmap
from lawful.control_flow import cond, switch
from lawful.core import check_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

X = np.array([0.5, 1.0, -2.0])
P = np.array([True, False, True])


def choose(p: Any, x: Any) -> Any:
    return cond(p, lambda x: (ops.sin(x), 2.0), lambda x: (x * x, 3.0), x)


# Unmapped predicates.


def test_vmap_cond_with_unmapped_predicate_is_a_cond(primitives_of: Callable[..., Any]) -> None:
    closed = make_jaxpr(vmap(choose, (None, 0)))(True, X)
    found = primitives_of(closed)
    assert found["cond"] == 1
    assert found["select_n"] == 0
    check_jaxpr(closed)
    for transformed in (
        lambda p, x: vmap(lambda x: jvp(partial(choose, p), (x,), (x,)))(x),
        lambda p, x: vmap(grad(lambda x: choose(p, x)[0]))(x),
        lambda p, x: vmap(vmap(partial(choose, p)))(x[None]),
        lambda p, x: vmap(jit(partial(choose, p)))(x),
        lambda p, x: vmap(lambda x: cond(p, lambda: x, lambda: x * axis_index("i")), axis_name="i")(x),
    ):
        closed = make_jaxpr(transformed)(True, X)
        found = primitives_of(closed)
        assert found["cond"] >= 1
        assert found["select_n"] == 0
        check_jaxpr(closed)


def test_vmap_cond_unmapped_predicate_runs_one_branch() -> None:
    from lawful.core import Primitive

    calls: list[str] = []
    branches = []
    for name in ("no", "yes"):
        primitive = Primitive(f"controlflowtest_batched_{name}")
        primitive.def_impl(lambda x, name=name: (calls.append(name), x)[1])
        primitive.def_abstract_eval(lambda x: x)
        primitive.def_batch(lambda args, dims, primitive=primitive: (primitive.bind(*args), dims[0]))
        branches.append(primitive.bind)
    vmap(lambda p, x: cond(p, branches[1], branches[0], x), (None, 0))(True, X)
    assert calls == ["yes"]
    calls.clear()
    vmap(lambda p, x: cond(p, branches[1], branches[0], x))(P, X)
    assert sorted(calls) == ["no", "yes"], "both are, where each element chooses"


@pytest.mark.parametrize("p", [True, False])
def test_vmap_cond_with_unmapped_predicate(p: bool, require_same: Callable[..., None]) -> None:
    expected = (np.sin(X), np.full(3, 2.0)) if p else (X * X, np.full(3, 3.0))
    for wrap in (lambda f: f, jit):
        require_same(wrap(vmap(choose, (None, 0)))(p, X), expected)
        require_same(vmap(wrap(choose), (None, 0))(p, X), expected)
    shared = vmap(choose, (None, 0), (0, None))(p, X)
    require_same(shared[1], np.float64(2.0 if p else 3.0))


def test_vmap_cond_unmapped_results_stay_unmapped() -> None:
    w = np.ones(4)
    closed = make_jaxpr(
        vmap(
            lambda p, x, w: cond(p, lambda x, w: (x, ops.sin(w)), lambda x, w: (-x, w), x, w),
            (None, 0, None),
            (0, None),
        )
    )(True, X, w)
    (call,) = (eqn for eqn in closed.eqns if eqn.primitive.name == "cond")
    assert [str(atom.aval) for atom in call.invars] == ["i32[]", "f64[3]", "f64[4]"]
    assert [str(var.aval) for var in call.outvars] == ["f64[3]", "f64[4]"]


def test_vmap_cond_result_mapped_in_one_branch(require_same: Callable[..., None]) -> None:
    function = lambda p, x: cond(p, lambda x: x, lambda x: 7.0, x)  # noqa: E731
    require_same(vmap(function, (None, 0))(True, X), X)
    require_same(vmap(function, (None, 0))(False, X), np.full(3, 7.0))


# Mapped predicates.


def test_vmap_cond_with_mapped_predicate_is_a_select(primitives_of: Callable[..., Any]) -> None:
    closed = make_jaxpr(vmap(choose))(P, X)
    found = primitives_of(closed)
    assert found["cond"] == 0
    assert found["select_n"] == 2
    check_jaxpr(closed)


every_wrapper = pytest.mark.parametrize(
    "wrap",
    [lambda f: vmap(f), lambda f: jit(vmap(f)), lambda f: vmap(jit(f)), lambda f: jit(vmap(jit(f)))],
    ids=["vmap", "jit vmap", "vmap jit", "jit vmap jit"],
)


@every_wrapper
def test_vmap_cond_each_element_chooses(wrap: Any, require_same: Callable[..., None]) -> None:
    require_same(wrap(choose)(P, X), (np.where(P, np.sin(X), X * X), np.where(P, 2.0, 3.0)), 1e-15)
    matrix = np.stack([X, 2.0 * X])
    require_same(wrap(choose)(P[:2], matrix)[0], np.where(P[:2, None], np.sin(matrix), matrix * matrix), 1e-15)
    require_same(wrap(lambda p: cond(p, lambda: 1.0, lambda: 2.0))(P), np.where(P, 1.0, 2.0))
    require_same(
        wrap(lambda x: cond(x > 0, lambda: {"a": (x, None)}, lambda: {"a": (-x, None)}))(X), {"a": (np.abs(X), None)}
    )


@every_wrapper
def test_vmap_switch_each_element_has_its_index(wrap: Any, require_same: Callable[..., None]) -> None:
    function = lambda i, x: switch(i, [lambda x: x, lambda x: x * 10.0, lambda x: x * 100.0], x)  # noqa: E731
    for dtype in ("int8", "int64", "uint8"):
        index = np.array([0, 2, 1], dtype)
        require_same(wrap(function)(index, X), X * [1.0, 100.0, 10.0])
    require_same(wrap(function)(np.array([-3, 1, 77]), X), X * [1.0, 10.0, 100.0])
    require_same(wrap(lambda i: switch(i, [lambda: 1.0, lambda: 2.0]))(np.array([5, 0, -5])), np.array([2.0, 1.0, 1.0]))
    require_same(wrap(lambda i: switch(i, [lambda: 4.0]))(np.array([5, 0, -5])), np.full(3, 4.0))


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (0, 1), (0, -1)], ids=str)
def test_vmap_cond_every_choice_of_axes(in_axes: Any, require_same: Callable[..., None]) -> None:
    p = P if in_axes[0] is not None else True
    x = np.arange(9.0).reshape(3, 3) / 10
    function = lambda p, x: cond(p, lambda x: ops.sin(x), lambda x: x * x, x)  # noqa: E731
    expected = np.stack(
        [
            function(p if in_axes[0] is None else p[i], x if in_axes[1] is None else np.take(x, i, in_axes[1]))
            for i in range(3)
        ]
    )
    require_same(vmap(function, in_axes)(p, x), expected, 1e-15)
    require_same(jit(vmap(function, in_axes, 1))(p, x), np.moveaxis(expected, 0, 1), 1e-15)


def test_vmap_cond_empty_batch() -> None:
    assert vmap(choose)(np.ones(0, bool), np.ones((0, 2)))[0].shape == (0, 2)
    assert vmap(choose, (None, 0))(True, np.ones((0, 2)))[0].shape == (0, 2)


@every_wrapper
def test_vmap_cond_unmapped_python_number(wrap: Any, require_same: Callable[..., None]) -> None:
    """A weak operand stays weak in each branch, though each element chooses."""
    x32 = X.astype(np.float32)
    function = lambda p, x: cond(p, lambda y: x * y, lambda y: x + y, 2.0)  # noqa: E731
    require_same(wrap(function)(P, x32), np.where(P, x32 * 2, x32 + 2).astype(np.float32))
    shared = lambda p, x, y: cond(p, lambda y: x * y, lambda y: x + y, y)  # noqa: E731
    got = vmap(shared, (0, 0, None))(P, x32, 2.0)
    require_same(got, np.where(P, x32 * 2, x32 + 2).astype(np.float32))


def test_cond_batched_grad_of_unmapped_python_number(require_same: Callable[..., None]) -> None:
    """The derivative with respect to an unmapped Python number has one value per batch element."""
    function = lambda x, p: cond(p, lambda x: x, lambda x: x * x, x)  # noqa: E731
    p = np.array([True, False])
    for wrap in (lambda f: f, jit):
        require_same(vmap(wrap(grad(function)), (None, 0))(2.0, p), np.array([1.0, 4.0]))
        require_same(wrap(vmap(grad(function), (None, 0)))(2.0, p), np.array([1.0, 4.0]))
        require_same(vmap(grad(grad(wrap(function))), (None, 0))(2.0, p), np.array([0.0, 2.0]))
        require_same(
            vmap(wrap(lambda x, p: jvp(lambda x: function(x, p), (x,), (1.0,))), (None, 0))(2.0, p),
            (np.array([2.0, 4.0]), np.array([1.0, 4.0])),
        )
        require_same(
            vmap(wrap(lambda x, p: linearize(lambda x: function(x, p), x)[1](1.0)), (None, 0))(2.0, p),
            np.array([1.0, 4.0]),
        )
        require_same(
            vmap(wrap(lambda x, p: vjp(lambda x: function(x, p), x)[1](1.0)[0]), (None, 0))(2.0, p),
            np.array([1.0, 4.0]),
        )
    by_switch = lambda x, i: switch(i, [lambda x: x, ops.sin, lambda x: x * x], x)  # noqa: E731
    got = vmap(grad(by_switch), (None, 0))(2.0, np.arange(3))
    require_same(got, np.array([1.0, np.cos(2.0), 4.0]), 1e-15)


# Stacks of transformations.


def reference(x: Any) -> Any:
    """The derivative of `function` below, by hand."""
    return np.where(x > 1.0, np.cos(x) * x + np.sin(x), np.where(x > 0.0, 3.0 * x * x, -1.0))


def function(x: Any) -> Any:
    return cond(x > 1.0, lambda: ops.sin(x) * x, lambda: cond(x > 0.0, lambda y: y * y * x, lambda y: -y, x))


POINTS = np.array([2.0, 0.5, -1.5])


@pytest.mark.parametrize(
    "transformed",
    [
        vmap(grad(function)),
        vmap(grad(jit(function))),
        vmap(jit(grad(function))),
        jit(vmap(grad(function))),
        jit(vmap(jit(grad(jit(function))))),
        grad(lambda x: ops.reduce_sum(vmap(function)(x), (0,))),
        jit(grad(lambda x: ops.reduce_sum(jit(vmap(function))(x), (0,)))),
        vmap(lambda x: jvp(function, (x,), (np.float64(1.0),))[1]),
        lambda x: jvp(vmap(function), (x,), (np.ones(3),))[1],
        lambda x: linearize(vmap(function), x)[1](np.ones(3)),
        lambda x: vjp(jit(vmap(function)), x)[1](np.ones(3))[0],
        lambda x: vmap(vmap(grad(function)))(x[None])[0],
    ],
)
def test_vmap_cond_grad_jit_in_every_order(transformed: Any) -> None:
    np.testing.assert_allclose(transformed(POINTS), reference(POINTS), rtol=1e-14)


@pytest.mark.parametrize(
    "transformed",
    [vmap(grad(grad(function))), jit(vmap(grad(jit(grad(function))))), vmap(grad(grad(jit(function))))],
)
def test_vmap_cond_second_derivatives(transformed: Any) -> None:
    x = POINTS
    expected = np.where(x > 1.0, 2.0 * np.cos(x) - np.sin(x) * x, np.where(x > 0.0, 6.0 * x, 0.0))
    np.testing.assert_allclose(transformed(x), expected, rtol=1e-14)


def test_cond_batched_inner_predicate_unmapped(primitives_of: Callable[..., Any]) -> None:
    """A cond with an unmapped predicate stays a cond inside one with a mapped predicate."""
    function = lambda p, q, x: cond(p, lambda: cond(q, lambda: x, lambda: -x), lambda: 10.0 * x)  # noqa: E731
    closed = make_jaxpr(vmap(function, (0, None, 0)))(P, True, X)
    assert primitives_of(closed)["cond"] == 1
    for q in (True, False):
        got = vmap(function, (0, None, 0))(P, q, X)
        np.testing.assert_array_equal(got, np.where(P, X if q else -X, 10.0 * X))
    got = vmap(function, (None, 0, 0))(True, P, X)
    np.testing.assert_array_equal(got, np.where(P, X, -X))


def test_vmap_cond_nested_with_predicate_mapped_once(primitives_of: Callable[..., Any]) -> None:
    both = vmap(vmap(choose, (None, 0)), (0, None))
    np.testing.assert_allclose(both(P, X)[0], np.where(P[:, None], np.sin(X), X * X))
    assert primitives_of(make_jaxpr(both)(P, X))["cond"] == 0
    np.testing.assert_allclose(
        vmap(vmap(choose, (0, None)), (None, 0))(P, X)[0], np.where(P, np.sin(X)[:, None], (X * X)[:, None])
    )


def test_vmap_cond_named_axes_inside_branches(require_same: Callable[..., None]) -> None:
    total = X.sum()
    function = lambda p, x: cond(p, lambda x: psum(x, "i"), lambda x: x * axis_index("i"), x)  # noqa: E731
    require_same(vmap(function, (None, 0), axis_name="i")(True, X), np.full(3, total))
    require_same(vmap(function, (None, 0), axis_name="i")(False, X), X * [0, 1, 2])
    require_same(vmap(function, axis_name="i")(P, X), np.where(P, total, X * [0, 1, 2]))
    constant = lambda p, x: x + cond(p, lambda: axis_index("i"), lambda: 0 * axis_index("i"))  # noqa: E731
    require_same(vmap(constant, (None, 0), axis_name="i")(True, X), X + np.arange(3))


def test_vmap_cond_no_warning_from_branch_not_taken() -> None:
    function = lambda x: cond(x > 0, lambda: ops.log(x), lambda: 0.0 * x)  # noqa: E731
    got = vmap(function)(np.array([1.0, 0.0, -1.0]))
    np.testing.assert_array_equal(got, [0.0, 0.0, 0.0])
