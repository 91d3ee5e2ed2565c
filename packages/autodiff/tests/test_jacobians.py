"""`jacfwd`, `jacrev` and `hessian`: whole Jacobians of functions of trees, by either mode."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import batching, ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, NonArrayError, float0, plain
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

both_modes = pytest.mark.parametrize("jacobian", [jacfwd, jacrev], ids=["jacfwd", "jacrev"])


def close(got: Any, expected: Any) -> None:
    assert tree.structure(got) == tree.structure(expected)
    for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
        assert np.shape(x) == np.shape(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-13)


@both_modes
def test_jacobian_rows_are_outputs_and_columns_inputs(jacobian: Any) -> None:
    close(
        jacobian(lambda x: ops.concatenate([x * x, x[:1]], 0))(np.array([2.0, 3.0])),
        np.array([[4.0, 0], [0, 6], [1, 0]]),
    )


@both_modes
def test_jacobian_shape_is_that_of_output_and_then_of_the_input(jacobian: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    found = jacobian(lambda x: ops.transpose(x * x, (1, 0)))(x)
    assert found.shape == (3, 2, 2, 3)
    for i, j in np.ndindex(2, 3):
        expected = np.zeros((2, 3))
        expected[i, j] = 2 * x[i, j]
        np.testing.assert_array_equal(found[j, i], expected)


@both_modes
def test_jacobian_trees_of_outputs_of_trees_of_inputs(jacobian: Any) -> None:
    def function(d: Any) -> Any:
        return {"product": d["a"] * d["b"], "pair": [d["b"] * 2.0, None]}

    found = jacobian(function)({"a": np.array([1.0, 2.0]), "b": 3.0})
    close(
        found,
        {
            "product": {"a": 3.0 * np.eye(2), "b": np.array([1.0, 2.0])},
            "pair": [{"a": np.zeros(2), "b": np.array(2.0)}, None],
        },
    )


@both_modes
def test_jacobian_argnums(jacobian: Any) -> None:
    function, args = (lambda x, y: x * y), (np.array([1.0, 2.0]), 3.0)
    by_x, by_y = 3.0 * np.eye(2), np.array([1.0, 2.0])
    close(jacobian(function)(*args), by_x)
    close(jacobian(function, 1)(*args), by_y)
    close(jacobian(function, -1)(*args), by_y)
    close(jacobian(function, (0, 1))(*args), (by_x, by_y))
    close(jacobian(function, [1, 0])(*args), (by_y, by_x))
    close(jacobian(function, np.int64(1))(*args), by_y)
    close(jacobian(function, (1,))(*args), (by_y,))
    with pytest.raises(ArgumentValueError, match=r"of <lambda>: expected at least 3 positional arguments"):
        jacobian(function, 2)(*args)
    with pytest.raises(ArgumentValueError, match="expected each argument once"):
        jacobian(function, (1, -1))(*args)


@both_modes
def test_jacobian_arguments_in_another_order_keep_their_places(jacobian: Any) -> None:
    found = jacobian(lambda x, y: x * x * y, [1, 0])(3.0, 5.0)
    assert tree.map(float, found) == (9.0, 30.0)


@both_modes
def test_jacobian_keyword_arguments_are_constants(jacobian: Any) -> None:
    close(jacobian(lambda x, *, n, name: x * n)(np.ones(2), n=3, name="a"), 3.0 * np.eye(2))


@both_modes
def test_jacobian_auxiliary_output_is_passed_on(jacobian: Any) -> None:
    found, aux = jacobian(lambda x: (x * x, {"x": x}), has_aux=True)(np.array([1.0, 2.0]))
    close(found, np.diag([2.0, 4.0]))
    close(aux, {"x": np.array([1.0, 2.0])})


@both_modes
def test_jacobian_scalars_and_empty_arrays(jacobian: Any) -> None:
    assert jacobian(lambda x: x * x)(3.0) == 6.0
    assert jacobian(lambda x: x * np.ones(2))(3.0).tolist() == [1.0, 1.0]
    assert jacobian(lambda x: x * x)(np.ones(0)).shape == (0, 0)
    assert jacobian(lambda x: ops.reduce_sum(x, (0,)))(np.ones(0)).shape == (0,)
    assert jacobian(lambda x: np.ones(0) * x)(2.0).shape == (0,)
    assert jacobian(lambda x: ())(np.ones(2)) == ()


@both_modes
def test_jacobian_what_does_not_depend_on_the_input_has_zeros(jacobian: Any) -> None:
    close(jacobian(lambda x: (np.ones(3), x))(np.ones(2)), (np.zeros((3, 2)), np.eye(2)))


@both_modes
def test_jacobian_integers_error(jacobian: Any) -> None:
    name = jacobian.__name__
    with pytest.raises(
        ArgumentTypeError, match=re.escape(f"{name} of <lambda>: expected floating arguments, got i64[2]")
    ):
        jacobian(lambda d: d["n"] * 2.0)({"n": np.arange(2)})
    if jacobian is jacrev:
        with pytest.raises(
            ArgumentTypeError, match=re.escape("jacrev of <lambda>: expected floating results, got i32[2]")
        ):
            jacrev(lambda x: [ops.convert_element_type(x, "int32")])(np.ones(2))


def test_jacobian_complex_functions_are_holomorphic_or_refused() -> None:
    z = np.array([1.0 + 2.0j, 3.0])
    for jacobian in (jacfwd, jacrev):
        close(jacobian(lambda z: z * z, holomorphic=True)(z), np.diag(2.0 * z))
    with pytest.raises(ArgumentTypeError, match=r"jacfwd of <lambda>: expected real arguments, got c128\[2\]"):
        jacfwd(lambda z: z * z)(z)
    with pytest.raises(ArgumentTypeError, match=r"jacrev of <lambda>: expected real results, got c128\[2\]"):
        jacrev(lambda z: z * z)(z)
    with pytest.raises(ArgumentTypeError, match="leave holomorphic out"):
        jacfwd(lambda x: x, holomorphic=True)(np.ones(2))


@both_modes
def test_jacobian_refuses_non_functions_and_non_arrays(jacobian: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=f"{jacobian.__name__}: expected a function, got 3.0"):
        jacobian(3.0)
    with pytest.raises(NonArrayError, match="at argument 0"):
        jacobian(lambda x: 1.0)("a")
    with pytest.raises(NonArrayError, match="at result"):
        jacobian(lambda x: "a")(1.0)


@both_modes
def test_jacobian_function_runs_once(jacobian: Any) -> None:
    calls = []
    jacobian(lambda x: (calls.append(1), x * x)[1])(np.ones(50))
    assert len(calls) == 1


@both_modes
def test_jacobian_under_jit_vmap_and_jvp(jacobian: Any, difference_quotient: Callable[..., Any]) -> None:
    function = lambda x: ops.sin(x) * x[::-1]  # noqa: E731
    x = np.array([[0.3, 1.0], [2.0, -1.0]])
    expected = np.stack([jacobian(function)(row) for row in x])
    close(vmap(jacobian(function))(x), expected)
    close(jit(vmap(jit(jacobian(jit(function)))))(x), expected)
    pushed = jvp(jacobian(function), (x[0],), (x[1],))[1]
    np.testing.assert_allclose(pushed, difference_quotient(jacobian(function), (x[0],), (x[1],)), rtol=1e-7, atol=1e-9)


def test_jacobian_forward_and_reverse_mode_agree(difference_quotient: Callable[..., Any]) -> None:
    def function(d: Any) -> Any:
        return [ops.sin(d["a"]) * ops.exp(d["b"]), ops.reduce_sum(d["a"] * d["a"], (0,)) / d["b"]]

    point = {"a": np.array([0.3, -1.2]), "b": 0.5}
    forward, reverse = jacfwd(function)(point), jacrev(function)(point)
    close(forward, reverse)
    for i in range(2):
        quotient = difference_quotient(lambda a: function({"a": a, "b": 0.5}), (point["a"],), (np.eye(2)[i],))
        np.testing.assert_allclose(forward[0]["a"][:, i], quotient[0], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(forward[1]["a"][i], quotient[1], rtol=1e-7)


# Second order.


def test_the_hessian_of_a_scalar_function() -> None:
    found = hessian(lambda x: x[0] * x[0] * x[1])(np.array([1.0, 3.0]))
    close(found, np.array([[6.0, 2.0], [2.0, 0.0]]))
    assert hessian(lambda x: x * x * x)(2.0) == 12.0


def test_the_hessian_of_trees() -> None:
    def function(d: Any) -> Any:
        return ops.reduce_sum(d["a"] * d["a"], (0,)) * d["b"]

    found = hessian(function)({"a": np.array([1.0, 2.0]), "b": 3.0})
    close(
        found,
        {
            "a": {"a": 6.0 * np.eye(2), "b": np.array([2.0, 4.0])},
            "b": {"a": np.array([2.0, 4.0]), "b": np.array(0.0)},
        },
    )


def test_the_hessian_by_several_arguments_and_with_aux() -> None:
    function = lambda x, y: (x * x * y, [x, y])  # noqa: E731
    found, aux = hessian(function, (0, 1), has_aux=True)(3.0, 5.0)
    assert tree.map(float, found) == ((10.0, 6.0), (6.0, 0.0))
    assert aux == [3.0, 5.0]


def test_the_hessian_by_another_argument_than_the_first() -> None:
    function = lambda x, y: x * y * y * y  # noqa: E731
    for argnum in (1, -1):
        assert hessian(function, argnum)(2.0, 3.0) == 36.0


def test_the_hessian_of_a_holomorphic_function() -> None:
    assert hessian(lambda z: z * z * z, holomorphic=True)(1.0 + 2.0j) == 6.0 + 12.0j


def test_the_hessian_of_a_vector_function() -> None:
    found = hessian(lambda x: x * x * x)(np.array([1.0, 2.0]))
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = 6.0, 12.0
    close(found, expected)


def test_all_orders_of_modes_give_one_symmetric_hessian() -> None:
    def function(x: Any) -> Any:
        return ops.reduce_sum(ops.sin(x) * ops.exp(x[::-1]), (0,)) * x[1]

    x = np.array([0.3, -1.2, 0.5])
    found = [outer(inner(function))(x) for outer in (jacfwd, jacrev) for inner in (jacfwd, jacrev)]
    found += [
        hessian(function)(x),
        jit(hessian(function))(x),
        vmap(hessian(function))(x[None])[0],
        jacfwd(grad(function))(x),
    ]
    for matrix in found:
        np.testing.assert_allclose(matrix, found[0], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12, atol=1e-14)


def test_jacobian_third_derivative() -> None:
    assert float(jacfwd(jacrev(jacfwd(lambda x: x * x * x * x)))(2.0)) == 48.0


def test_jacobian_name_of_the_function_is_kept() -> None:
    def named(x: Any) -> Any:
        return x

    assert jacfwd(named).__name__ == jacrev(named).__name__ == hessian(named).__name__ == "named"


def test_jacrev_of_integers_is_float0_where_it_is_allowed():
    def fun(x, n):
        return {"a": x * n, "b": ops.reduce_sum(x, (0,))}

    x, n = np.array([1.0, 2.0]), np.array([[3, 4], [5, 6], [7, 8]])
    found = jacrev(fun, (0, 1), allow_int=True)(x, n)
    assert found["a"][1].dtype == found["b"][1].dtype == float0
    assert found["a"][1].shape == (3, 2, 3, 2)
    assert found["b"][1].shape == (3, 2)
    np.testing.assert_array_equal(found["a"][0], jacfwd(lambda y: fun(y, n))(x)["a"])
    with pytest.raises(ArgumentTypeError, match="integers and booleans have no derivative"):
        jacrev(fun, (0, 1))(x, n)


FEW_ROWS: dict[str, Any] = {
    "identity": (lambda x: x, np.arange(1.0, 6.0)),
    "products": (lambda x: ops.mul(ops.sin(x), x), np.arange(1.0, 6.0)),
    "constants": (lambda x: (np.ones(3), ops.reduce_sum(x, (0,)), 2.0), np.arange(1.0, 6.0)),
    "trees": (
        lambda p: {"a": ops.mul(p["x"], p["y"]), "b": [p["y"]]},
        {"x": np.arange(2.0, dtype=np.float32), "y": np.float32(3.0)},
    ),
    "matrices": (lambda x: ops.mul(x, x), np.arange(6.0).reshape(2, 3)),
    "numbers": (lambda x: (ops.sin(x), ops.cos(x)), 0.5),
}


@pytest.mark.parametrize("name", FEW_ROWS)
def test_jacrev_of_few_rows_agrees_with_plain(name: str) -> None:
    f, x = FEW_ROWS[name]
    found = tree.leaves(jacrev(f)(x))
    with plain():
        expected = tree.leaves(jacrev(f)(x))
    for block, wanted in zip(found, expected, strict=True):
        assert type(block) is type(wanted)
        assert block.dtype == wanted.dtype
        assert np.array_equal(block, wanted)


@pytest.mark.fast
def test_jacrev_of_few_rows_makes_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    def vmap(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("vmap was called")

    monkeypatch.setattr(batching, "vmap", vmap)
    f, x = FEW_ROWS["products"]
    assert np.array_equal(jacrev(f)(x), np.diag(np.sin(x) + x * np.cos(x)))


def test_jacrev_of_few_rows_owns_its_result() -> None:
    x = np.arange(1.0, 6.0)
    found = jacrev(lambda x: x)(x)
    found[0] = 7.0
    assert np.array_equal(x, np.arange(1.0, 6.0))
