"""``linear_call``: the author's transpose is used, under every transformation."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linear_transpose, linearize, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, NotLinearError
from lawful.custom_rules import linear_call
from lawful.staging import jit, make_jaxpr

MATRIX = np.array([[2.0, 1.0], [0.5, -1.0]])


def apply(matrix: Any, x: Any) -> Any:
    """The product, with a transpose that is seen: it is ten times too large."""
    return linear_call(
        lambda m, x: ops.dot(m, x), lambda m, ct: 10.0 * ops.dot(ops.transpose(m, (1, 0)), ct), matrix, x
    )


X, W = np.array([1.0, 3.0]), np.array([-1.0, 2.0])


def test_linear_call_both_modes() -> None:
    np.testing.assert_array_equal(apply(MATRIX, X), MATRIX @ X)
    np.testing.assert_array_equal(jvp(lambda x: apply(MATRIX, x), (X,), (W,))[1], MATRIX @ W)
    np.testing.assert_array_equal(linearize(lambda x: apply(MATRIX, x), X)[1](W), MATRIX @ W)
    np.testing.assert_array_equal(linear_transpose(lambda x: apply(MATRIX, x), X)(W)[0], 10 * MATRIX.T @ W)
    np.testing.assert_array_equal(vjp(lambda x: apply(MATRIX, x), X)[1](W)[0], 10 * MATRIX.T @ W)
    np.testing.assert_array_equal(jit(vjp(lambda x: apply(MATRIX, x), X)[1])(W)[0], 10 * MATRIX.T @ W)


def test_linear_call_transposed_twice() -> None:
    back = linear_transpose(lambda x: apply(MATRIX, x), X)
    np.testing.assert_array_equal(linear_transpose(lambda ct: back(ct)[0], W)(X)[0], MATRIX @ X)


def test_linear_call_derivative_by_residual_args() -> None:
    def loss(matrix: Any) -> Any:
        return ops.reduce_sum(apply(matrix, X) * W, (0,))

    np.testing.assert_allclose(grad(loss)(MATRIX), np.outer(W, X))
    both = jvp(apply, (MATRIX, X), (np.ones((2, 2)), W))[1]
    np.testing.assert_allclose(both, np.ones((2, 2)) @ X + MATRIX @ W)


@pytest.mark.parametrize(("matrix_axis", "x_axis"), [(0, None), (None, 0), (0, 0)])
def test_linear_call_under_vmap(matrix_axis: int | None, x_axis: int | None) -> None:
    matrix = MATRIX if matrix_axis is None else np.stack([MATRIX, 2 * MATRIX, -MATRIX])
    x = X if x_axis is None else np.stack([X, 2 * X, -X])
    for function in (
        apply,
        lambda m, x: vjp(lambda y: apply(m, y), x)[1](W)[0],
        lambda m, x: grad(lambda y: ops.reduce_sum(ops.sin(apply(m, y)), (0,)))(x),
    ):
        rows = [function(matrix if matrix_axis is None else matrix[i], x if x_axis is None else x[i]) for i in range(3)]
        for mapped in (vmap(function, (matrix_axis, x_axis)), jit(vmap(function, (matrix_axis, x_axis)))):
            np.testing.assert_allclose(mapped(matrix, x), rows)
    mapped = vmap(apply, (matrix_axis, x_axis))
    [ct] = linear_transpose(lambda y: mapped(matrix, y), x)(np.ones((3, 2)))
    each = [10 * (matrix if matrix_axis is None else matrix[i]).T @ np.ones(2) for i in range(3)]
    np.testing.assert_allclose(ct, each if x_axis == 0 else np.sum(each, 0))


def test_linear_call_does_not_move_residuals_inside_under_vmap() -> None:
    def scaled(r: Any, x: Any) -> Any:
        return linear_call(lambda r, x: r * x, lambda r, ct: r * ct, r, x)

    columns = np.arange(6.0).reshape(2, 3)
    x = np.ones((3, 2))
    closed = make_jaxpr(vmap(scaled, (-1, 0)))(columns, x)
    np.testing.assert_array_equal(vmap(scaled, (-1, 0))(columns, x), columns.T)
    [call] = [eqn for eqn in closed.eqns if eqn.primitive.name == "linear_call"]
    assert [eqn.primitive.name for eqn in call.params["callee"].eqns] == ["mul"]
    assert [eqn.primitive.name for eqn in call.params["transposed"].eqns] == ["mul"]


def test_linear_call_closures_and_trees() -> None:
    def function(scale: Any, x: Any) -> Any:
        offset = np.array([3.0, 4.0])
        return linear_call(
            lambda r, lin: {"y": lin["a"] * offset * scale * r, "z": lin["b"]},
            lambda r, ct: {"a": ct["y"] * offset * scale * r, "b": ct["z"]},
            2.0,
            {"a": x, "b": x},
        )["y"]

    np.testing.assert_allclose(function(5.0, X), X * [30.0, 40.0])
    np.testing.assert_allclose(vmap(function, (0, None))(np.array([1.0, 5.0]), X)[1], X * [30.0, 40.0])
    [ct] = linear_transpose(lambda x: function(5.0, x), X)(W)
    np.testing.assert_allclose(ct, W * [30.0, 40.0])


def test_linear_call_in_a_jaxpr() -> None:
    text = str(make_jaxpr(lambda x: apply(MATRIX, x))(X))
    assert "linear_call[" in text
    assert "transposed={ lambda" in text


def test_linear_call_argument_errors() -> None:
    with pytest.raises(ArgumentTypeError, match=r"got ~i64\[\] at linear_args\[0\]; pass it with the residual"):
        linear_call(lambda r, x: x, lambda r, x: x, (), (1,))
    with pytest.raises(ArgumentTypeError, match="to give a cotangent like the linear arguments"):
        linear_call(lambda r, x: x, lambda r, ct: (ct, ct), (), X)
    with pytest.raises(NotLinearError, match="residual arguments that depend on what is transposed"):
        linear_transpose(lambda m: apply(m, X), MATRIX)(W)


def test_linear_call_of_a_number_beside_a_narrower_array() -> None:
    def scaled(r: Any, x: Any) -> Any:
        return linear_call(lambda r, x: ops.mul(r, x), lambda r, ct: ops.mul(r, ct), r, x)

    r = np.float32(3.0)
    assert scaled(r, 2.0) == 6.0
    assert grad(lambda x: scaled(r, x))(2.0) == 3.0
    assert jit(grad(scaled, (0, 1)))(r, 2.0) == (2.0, 3.0)
    (back,) = linear_transpose(lambda x: scaled(r, x), 2.0)(np.float32(1.0))
    assert back == 3.0
