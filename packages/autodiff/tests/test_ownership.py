"""No derivative is changed by what is written into an array later, and no result shares memory with anything.

Each function below is one whose result or whose residuals are, in NumPy, views of its arguments or of one another.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import (
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from lawful.core import Primitive
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

CONSTANT = np.array([1.0, 2.0, 3.0])

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "identity": lambda x: x,
    "pair": lambda x: (x, x),
    "product": lambda x: x * x,
    "sin": ops.sin,
    "exp": lambda x: (ops.exp(x), ops.exp(x)),
    "exp used twice": lambda x: (lambda e: (e, e * e))(ops.exp(x)),
    "view": lambda x: ops.reshape(x, (3, 1)),
    "reversed": lambda x: x[::-1],
    "slices": lambda x: (x[:2], x[1:]),
    "views of one product": lambda x: (lambda y: (y, y[:2], y * y))(x * x),
    "broadcast": lambda x: ops.broadcast_in_dim(x, (2, 3), (1,)) * x,
    "transposed": lambda x: ops.transpose(ops.broadcast_in_dim(x, (2, 3), (1,)), (1, 0)),
    "constant": lambda x: (CONSTANT, x * CONSTANT),
    "zeros": lambda x: (x, 0.0 * x, CONSTANT[:2]),
    "sum": lambda x: ops.reduce_sum(x * x, (0,)),
    "jit": jit(lambda x: (x, x * x, ops.reshape(x, (3, 1)))),
    "same type": lambda x: ops.convert_element_type(x, "float64"),
    "copy": lambda x: x + 0.0,
}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


def arrays(*values: Any) -> list[np.ndarray[Any, Any]]:
    return [x for x in tree.leaves(values) if type(x) is np.ndarray]


def copied(value: Any) -> Any:
    return tree.map(lambda x: np.array(x) if type(x) is np.ndarray else x, value)


def scribble(value: Any) -> None:
    for x in arrays(value):
        x[...] = np.nan


def require_own(results: Any, *others: Any) -> None:
    """Checks that results can be written into, and share no memory with each other or with other values."""
    mine, theirs = arrays(results), arrays(*others)
    for x in mine:
        assert x.flags.writeable
        assert not any(np.shares_memory(x, y) for y in theirs)
    for x, y in itertools.combinations(mine, 2):
        assert not np.shares_memory(x, y)


def ones_like(value: Any) -> Any:
    return tree.map(lambda x: np.ones(np.shape(x)) if np.ndim(x) else 1.0, value)


@pytest.fixture
def x() -> Any:
    return np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def _the_constant_is_not_touched() -> Any:
    yield
    np.testing.assert_array_equal(CONSTANT, [1.0, 2.0, 3.0])


@every_function
def test_tangents_of_jvp_are_the_users(function: Any, x: Any) -> None:
    v = np.array([1.0, 10.0, 100.0])
    out, tangent = jvp(function, (x,), (v,))
    expected = copied((out, tangent))
    require_own(tangent, x, v, out, CONSTANT)
    scribble(tangent)
    again = jvp(function, (x,), (v,))
    tree.map(np.testing.assert_array_equal, again, expected)


@every_function
@pytest.mark.parametrize("written", ["input", "output", "both"])
def test_writing_into_inputs_and_outputs_does_not_change_a_vjp(function: Any, x: Any, written: str) -> None:
    out, f_vjp = vjp(function, x)
    ct = ones_like(out)
    expected = copied(f_vjp(ct))
    if written != "output":
        x[...] = np.nan
    if written != "input":
        writable = [y for y in arrays(out) if y.flags.writeable and not np.shares_memory(y, CONSTANT)]
        scribble(writable)
    tree.map(np.testing.assert_array_equal, f_vjp(ct), expected)


@every_function
@pytest.mark.parametrize("written", ["input", "output", "both"])
def test_linearize_after_writes_to_inputs_and_outputs(function: Any, x: Any, written: str) -> None:
    """Writing into inputs and outputs does not change the linear function."""
    out, f_jvp = linearize(function, x)
    v = np.array([1.0, 10.0, 100.0])
    expected = copied(f_jvp(v))
    if written != "output":
        x[...] = np.nan
    if written != "input":
        scribble([y for y in arrays(out) if y.flags.writeable and not np.shares_memory(y, CONSTANT)])
    tree.map(np.testing.assert_array_equal, f_jvp(v), expected)


@every_function
@pytest.mark.parametrize("transformation", [vjp, linearize])
def test_writing_into_auxiliary_outputs_changes_no_derivative(function: Any, x: Any, transformation: Any) -> None:
    def both(x: Any) -> Any:
        out = function(x)
        return tree.map(lambda y: y * 1.0, out), (out, "no array")

    out, derivative, (aux, text) = transformation(both, x, has_aux=True)
    tree.map(np.testing.assert_array_equal, aux, copied(function(x)))
    assert text == "no array"
    given = ones_like(out if transformation is vjp else x)
    expected = copied(derivative(given))
    scribble([y for y in arrays(aux) if y.flags.writeable and not np.shares_memory(y, CONSTANT)])
    tree.map(np.testing.assert_array_equal, derivative(given), expected)


@every_function
def test_cotangents_are_the_users(function: Any, x: Any) -> None:
    out, f_vjp = vjp(function, x)
    ct = ones_like(out)
    pulled = f_vjp(ct)
    expected = copied(pulled)
    require_own(pulled, x, out, ct, CONSTANT, list(f_vjp.jaxpr.consts))
    tree.map(np.testing.assert_array_equal, ct, ones_like(out))
    scribble(pulled)
    tree.map(np.testing.assert_array_equal, f_vjp(ones_like(out)), expected)


@every_function
def test_tangents_of_a_linear_function_are_the_users(function: Any, x: Any) -> None:
    out, f_jvp = linearize(function, x)
    v = np.array([1.0, 10.0, 100.0])
    pushed = f_jvp(v)
    expected = copied(pushed)
    require_own(pushed, x, out, v, CONSTANT, list(f_jvp.jaxpr.consts))
    scribble(pushed)
    np.testing.assert_array_equal(v, [1.0, 10.0, 100.0])
    tree.map(np.testing.assert_array_equal, f_jvp(v), expected)


@pytest.mark.parametrize("transformation", [vjp, linearize])
@pytest.mark.parametrize("function", [lambda x: x, lambda x: (x, x * x), lambda x: x[::-1]])
def test_derivative_outputs_arguments_can_be_written_into(transformation: Any, function: Any, x: Any) -> None:
    out, _ = transformation(function, x)
    scribble(out)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


@every_function
def test_derivative_outputs_share_no_memory_with_what_is_kept(function: Any, x: Any) -> None:
    for transformation in (vjp, linearize):
        out, kept = transformation(function, x)
        for y in arrays(out):
            if y.flags.writeable:
                assert not any(np.shares_memory(y, const) for const in arrays(list(kept.jaxpr.consts)))


@every_function
def test_the_gradient_is_the_users(function: Any, x: Any) -> None:
    def scalar(x: Any, y: Any) -> Any:
        return sum(ops.reduce_sum(leaf * 1.0, tuple(range(leaf.ndim))) for leaf in tree.leaves(function(x))) + y[0]

    y = np.array([1.0])
    for gradient in (grad(scalar, (0, 1))(x, y), value_and_grad(scalar, (0, 1))(x, y)[1]):
        require_own(gradient, x, y, CONSTANT)
        scribble(gradient)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


@every_function
@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_are_the_users(jacobian: Any, function: Any, x: Any) -> None:
    found = jacobian(function)(x)
    expected = copied(found)
    require_own(found, x, CONSTANT)
    scribble(found)
    tree.map(np.testing.assert_array_equal, jacobian(function)(x), expected)


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_a_block_of_a_jacobian_does_not_keep_the_others_alive(jacobian: Any, x: Any) -> None:
    assert all(block.base is None for block in jacobian(lambda x, y: x * y, (0, 1))(x, x))


def test_hessians_are_the_users(x: Any) -> None:
    found = hessian(lambda d: ops.reduce_sum(d["x"] * d["x"] * d["y"], (0,)))({"x": x, "y": x})
    require_own(found, x)


@pytest.mark.parametrize("name", ["identity", "pair", "view", "reversed", "slices", "transposed"])
def test_the_cotangents_of_linear_transpose_are_the_users(name: str, x: Any) -> None:
    function = FUNCTIONS[name]
    transposed = linear_transpose(function, x)
    ct = ones_like(function(x))
    pulled = transposed(ct)
    expected = copied(pulled)
    require_own(pulled, x, ct)
    scribble(pulled)
    tree.map(np.testing.assert_array_equal, ct, ones_like(function(x)))
    tree.map(np.testing.assert_array_equal, transposed(ct), expected)


def test_derivative_array_closed_over_may_be_written_into_later() -> None:
    c = np.array([1.0, 2.0])
    _, f_vjp = vjp(lambda x: x * c, np.ones(2))
    _, f_jvp = linearize(lambda x: x * c, np.ones(2))
    c[...] = 100.0
    np.testing.assert_array_equal(f_vjp(np.ones(2))[0], [1.0, 2.0])
    np.testing.assert_array_equal(f_jvp(np.ones(2)), [1.0, 2.0])


def test_derivative_view_of_an_argument_is_frozen_with_it() -> None:
    base = np.arange(6.0)
    x = base[::2]
    _, f_vjp = vjp(lambda x: x * x, x)
    base[...] = 100.0
    np.testing.assert_array_equal(f_vjp(np.ones(3))[0], [0.0, 4.0, 8.0])


def test_derivative_array_written_into_between_two_uses() -> None:
    c = np.array([1.0, 2.0])

    def function(x: Any) -> Any:
        y = x * c
        c[...] *= 10.0
        return y + x * c

    _, f_vjp = vjp(function, np.ones(2))
    np.testing.assert_array_equal(f_vjp(np.ones(2))[0], [11.0, 22.0])


def test_derivative_two_arguments_that_are_one_array(x: Any) -> None:
    out, f_vjp = vjp(lambda x, y: x * y, x, x)
    pulled = f_vjp(np.ones(3))
    require_own(pulled, x, out)
    (gradient,) = (grad(lambda x, y: ops.reduce_sum(x + y, (0,)), (0, 1))(x, x),)
    require_own(gradient, x)


def test_a_cotangent_that_is_a_residual_is_not_shared() -> None:
    # As of a function whose derivative a user has replaced.
    replaced_p = Primitive("autodifftest_replaced")
    replaced_p.def_impl(lambda x, r: x * r)
    replaced_p.def_abstract_eval(lambda x, r: x)
    replaced_p.def_jvp(lambda primals, ts: (replaced_p.bind(*primals), replaced_p.bind(ts[0], ops.exp(primals[1]))))
    replaced_p.def_transpose(lambda ct, x, r: [r, None])
    zeros = np.zeros(3)
    by_vjp = vjp(lambda x: replaced_p.bind(x, zeros), np.ones(3))[1]
    by_transpose = linear_transpose(lambda x: replaced_p.bind(x, ops.exp(zeros)), np.ones(3))
    for transposed in (by_vjp, by_transpose):
        (pulled,) = transposed(np.ones(3))
        scribble(pulled)
        np.testing.assert_array_equal(transposed(np.ones(3))[0], np.ones(3))


def test_a_cotangent_that_goes_to_two_arguments_is_not_shared() -> None:
    ct = np.ones(3)
    pulled = vjp(lambda x, y: x + y, np.ones(3), np.ones(3))[1](ct)
    require_own(pulled, ct)
    pulled[0][...] = 5.0
    np.testing.assert_array_equal(pulled[1], np.ones(3))
    np.testing.assert_array_equal(ct, np.ones(3))


@pytest.mark.parametrize("calls", [1, 40])  # its programs are compiled after many calls
def test_grad_of_grad_of_arrays_written_into_in_between(calls: int) -> None:
    def f(p: Any) -> Any:
        x, c = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        gradient = grad(lambda x: ops.reduce_sum(ops.sin(p * (x * x) * c), (0,)))(x)
        x[:], c[:] = 5.0, 6.0
        return ops.reduce_sum(gradient * p, (0,))

    for _ in range(calls):
        found = grad(f)(0.5)
    x, c = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    angle = 0.5 * x * x * c
    np.testing.assert_allclose(found, np.sum(2 * c * x * (np.cos(angle) - 0.5 * angle * np.sin(angle))), rtol=1e-12)


@pytest.mark.parametrize(
    "copied", [lambda x: x, lambda x: x.copy() if isinstance(x, np.ndarray) else x], ids=["identity", "copy"]
)
def test_jvp_gives_no_array_of_the_user(copied: Callable[[Any], Any]) -> None:
    """A tracer is its own copy, so that the transformation makes the copy that ``array(x, copy=True)`` promises."""
    x = np.ones(3)
    results = [
        jvp(copied, (x,), (x,)),
        vjp(copied, x)[0],
        linearize(copied, x)[0],
        value_and_grad(lambda x: (ops.reduce_sum(x, (0,)), copied(x)), has_aux=True)(x)[0][1],
        jvp(lambda x: (ops.reduce_sum(x, (0,)), copied(x)), (x,), (x,), has_aux=True)[2],
        vjp(lambda x: (ops.reduce_sum(x, (0,)), copied(x)), x, has_aux=True)[2],
        jacfwd(lambda x: (ops.reduce_sum(x, (0,)), copied(x)), has_aux=True)(x)[1],
        jvp(lambda x: jvp(copied, (x,), (x,)), (x,), (x,)),
    ]
    for leaf in tree.leaves(results):
        assert not np.shares_memory(leaf, x)


@pytest.mark.parametrize("constant", [stop_gradient, checkpoint(stop_gradient), jit(stop_gradient)])
@pytest.mark.parametrize("factor", [None, 2.0], ids=["gradient", "gradient of gradient"])
def test_stop_gradient_result_written_into(constant: Any, factor: float | None) -> None:
    """The linear part holds the exponentials."""

    def f(x: Any, t: Any) -> Any:
        y = ops.exp(x)
        constant(y)[:] = 0.0
        return ops.reduce_sum(y * t, (0,))

    x = np.ones(3)
    if factor is None:
        found, expected = grad(f)(x, 1.0), np.exp(np.ones(3))
    else:
        found, expected = grad(lambda t: ops.reduce_sum(grad(f)(x, t), (0,)))(factor), 3 * np.e
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    grad(lambda x: constant(x).fill(0.0) or ops.reduce_sum(x, (0,)))(x)
    np.testing.assert_array_equal(x, np.ones(3))
