"""Derivatives of a batched cond: equal to those of the loop, which does not run the branches that are not taken."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp
from lawful.batching import psum, vmap
from lawful.control_flow import cond, switch, while_loop
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

X = np.array([0.0, 4.0, -1.0, 0.0])
NONE_TAKES = np.array([0.0, -1.0, 0.0])


def root(x: Any) -> Any:
    """The branch that is not taken at 0 has an infinite derivative there."""
    return cond(x > 0, ops.sqrt, lambda x: 3.0 * x, x)


def by_index(x: Any) -> Any:
    index = ops.convert_element_type(x > 0, np.int32) - ops.convert_element_type(x < 0, np.int32)
    return switch(index + 1, [ops.exp, lambda x: 5.0 * x, ops.log], x)


def weighted(w: Any, x: Any) -> Any:
    """The weight is unmapped; at x = 0 its derivative is infinite in the branch not taken."""
    return cond(x > 0, lambda: w * ops.log(x) * ops.sqrt(x), lambda: w * w * x)


def total(function: Any) -> Any:
    return lambda *args: ops.reduce_sum(function(*args), (0,))


wrappers = pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])


@wrappers
@pytest.mark.parametrize("x", [X, NONE_TAKES, np.abs(X) + 1, np.zeros((0,))], ids=["some", "none", "all", "empty"])
@pytest.mark.parametrize("function", [root, by_index])
def test_grad_of_vmap_cond_is_that_of_the_loop(function: Any, x: Any, wrap: Any) -> None:
    expected = np.array([grad(function)(each) for each in x])
    assert np.isfinite(expected).all()
    batched = vmap(function)
    ones = np.ones(x.shape)
    np.testing.assert_allclose(wrap(grad(total(batched)))(x), expected)
    np.testing.assert_allclose(wrap(lambda x: jvp(batched, (x,), (ones,))[1])(x), expected)
    np.testing.assert_allclose(wrap(lambda x: linearize(batched, x)[1](ones))(x), expected)
    np.testing.assert_allclose(wrap(lambda x: vjp(batched, x)[1](ones)[0])(x), expected)
    np.testing.assert_allclose(wrap(jacrev(batched))(x), np.diag(expected))
    np.testing.assert_allclose(wrap(jacfwd(batched))(x), np.diag(expected))
    np.testing.assert_allclose(wrap(vmap(grad(function)))(x), expected)


@wrappers
@pytest.mark.parametrize("x", [X, NONE_TAKES], ids=["some", "none"])
@pytest.mark.parametrize("function", [root, by_index])
def test_higher_derivatives_of_vmap_cond(function: Any, x: Any, wrap: Any) -> None:
    second = np.array([grad(grad(function))(each) for each in x])
    third = np.array([grad(grad(grad(function)))(each) for each in x])
    batched = vmap(function)
    np.testing.assert_allclose(wrap(hessian(total(batched)))(x), np.diag(second))
    np.testing.assert_allclose(wrap(jacrev(grad(total(batched))))(x), np.diag(second))
    np.testing.assert_allclose(wrap(grad(total(grad(total(batched)))))(x), second)
    np.testing.assert_allclose(wrap(grad(total(grad(total(grad(total(batched)))))))(x), third)


@wrappers
def test_grad_of_nested_vmaps_of_cond(wrap: Any) -> None:
    x = np.array([X, -np.abs(X), np.abs(X) + 1])
    expected = np.array([[grad(root)(each) for each in row] for row in x])
    both = lambda f: lambda x: ops.reduce_sum(f(x), (0, 1))  # noqa: E731
    np.testing.assert_allclose(wrap(grad(both(vmap(vmap(root)))))(x), expected)
    np.testing.assert_allclose(wrap(grad(both(vmap(vmap(root), 1, 1))))(x), expected)
    np.testing.assert_allclose(wrap(vmap(grad(total(vmap(root)))))(x), expected)
    np.testing.assert_allclose(wrap(vmap(vmap(grad(root))))(x), expected)
    second = np.array([[grad(grad(root))(each) for each in row] for row in x])
    np.testing.assert_allclose(wrap(grad(both(grad(both(vmap(vmap(root)))))))(x), second)
    np.testing.assert_allclose(wrap(vmap(grad(total(grad(total(vmap(root)))))))(x), second)


@wrappers
@pytest.mark.parametrize("x", [X, NONE_TAKES], ids=["some", "none"])
def test_grad_of_vmap_cond_by_a_shared_operand(x: Any, wrap: Any) -> None:
    w = 2.0
    by_w, by_x = (np.array([grad(weighted, i)(w, each) for each in x]) for i in (0, 1))
    assert np.isfinite(by_w).all()
    function = total(vmap(weighted, (None, 0)))
    got = wrap(grad(function, (0, 1)))(w, x)
    np.testing.assert_allclose(got[0], by_w.sum())
    np.testing.assert_allclose(got[1], by_x)
    np.testing.assert_allclose(wrap(lambda w: jvp(lambda w: function(w, x), (w,), (1.0,))[1])(w), by_w.sum())
    mixed = np.array([grad(grad(weighted, 0), 1)(w, each) for each in x])
    np.testing.assert_allclose(wrap(grad(grad(function, 0), 1))(w, x), mixed)


@wrappers
def test_grad_of_vmap_cond_along_the_last_axis(wrap: Any) -> None:
    x = np.array([X, X]).T
    rows = lambda x: cond(x[0] > 0, lambda: ops.sqrt(x), lambda: x * x)  # noqa: E731
    got = wrap(grad(lambda x: ops.reduce_sum(vmap(rows, 1)(x), (0, 1))))(x.T)
    np.testing.assert_allclose(got, np.where(x > 0, 0.25, 2 * x).T)


@wrappers
def test_grad_of_vmap_cond_in_a_loop(wrap: Any) -> None:
    def twice(x: Any) -> Any:
        return while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, vmap(root)(c[1])), (0, x), max_iters=3)[1]

    expected = np.array([grad(lambda y: root(root(y)))(each) for each in X])
    np.testing.assert_allclose(wrap(grad(total(twice)))(X), expected)


def test_grad_of_vmap_cond_with_a_collective(require_same: Callable[..., None]) -> None:
    function = lambda x: cond(x > 0, lambda: psum(x, "i") * x, lambda: 2.0 * x)  # noqa: E731
    x = np.array([1.0, -2.0, 3.0])
    batched = total(vmap(function, axis_name="i"))
    by_hand = lambda x: ops.reduce_sum(ops.where(x > 0, ops.reduce_sum(x, (0,)) * x, 2.0 * x), (0,))  # noqa: E731
    np.testing.assert_allclose(grad(batched)(x), grad(by_hand)(x))
    np.testing.assert_allclose(jit(grad(batched))(x), grad(by_hand)(x))
