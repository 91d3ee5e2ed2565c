"""Operands that are broadcast: one recipe does what broadcasting each operand and then applying the primitive does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jacfwd, jacrev, jvp, vjp
from lawful.core import ArgumentTypeError, Zero
from lawful.staging import make_jaxpr

SHAPES = [
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((2, 1, 2), (3, 1)),
    ((), (2, 2)),
    ((1,), (2,)),
    ((1, 1), (4,)),
    ((0, 2), (2,)),
    ((1,), (0,)),
]
BINARY = [ops.add, ops.sub, ops.mul, ops.div, ops.pow, ops.atan2, ops.max, ops.nextafter]
DIFFERENTIABLE = BINARY[:-1]


def explicitly(op: Any) -> Callable[[Any, Any], Any]:
    """Returns the op on operands that are broadcast one by one."""
    return lambda x, y: op(*ops.promote(op.__name__, op.promote_as, (x, y)))


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.uniform(0.5, 2.0, shape)[()] for shape in shapes]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_the_program_has_the_same_equations(op: Any, shapes: Any) -> None:
    x, y = arrays(*shapes)
    for f, g in [
        (op, explicitly(op)),
        (lambda x, y: op(x, 2.0), lambda x, y: explicitly(op)(x, 2.0)),
        (lambda x, y: op(y, np.float32(2.0)), lambda x, y: explicitly(op)(y, np.float32(2.0))),
        (lambda x, y: op(x * 1.0, arrays(shapes[1])[0]), lambda x, y: explicitly(op)(x * 1.0, arrays(shapes[1])[0])),
    ]:
        assert str(make_jaxpr(f)(x, y)) == str(make_jaxpr(g)(x, y))


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=lambda op: op.__name__)
def test_derivatives_are_those_of_the_steps(op: Any, shapes: Any) -> None:
    x, y = arrays(*shapes)
    plain = explicitly(op)
    for transformation in (jacfwd, jacrev):
        for argnums in (0, 1):
            found, expected = transformation(op, argnums)(x, y), transformation(plain, argnums)(x, y)
            np.testing.assert_allclose(found, expected, rtol=1e-14)
    out, f_vjp = vjp(op, x, y)
    expected_out, expected_vjp = vjp(plain, x, y)
    np.testing.assert_array_equal(out, expected_out)
    for ct, expected_ct in zip(f_vjp(np.ones_like(out)), expected_vjp(np.ones_like(out)), strict=True):
        assert np.shape(ct) == np.shape(expected_ct)
        np.testing.assert_allclose(ct, expected_ct, rtol=1e-14)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_second_derivatives_are_those_of_the_steps(shapes: Any) -> None:
    x, y = arrays(*shapes)

    def total(op: Any) -> Callable[[Any], Any]:
        axes = tuple(range(np.broadcast(x, y).ndim))
        return lambda x: ops.reduce_sum(ops.sin(op(x, y)), axes)

    for second in (jacfwd(grad(total(ops.mul))), jacrev(jacfwd(total(ops.mul)))):
        np.testing.assert_allclose(second(x), jacfwd(grad(total(explicitly(ops.mul))))(x), rtol=1e-13)


def test_weak_operands_keep_their_types() -> None:
    def f(x: Any) -> Any:
        return x * 3.0 * np.ones((2, 3), np.float32)

    out, tangent = jvp(f, (2.0,), (1.0,))
    assert (out.dtype, tangent.dtype) == (np.float32, np.float32)
    gradient = grad(lambda x: ops.reduce_sum(f(x), (0, 1)))(2.0)
    assert (type(gradient), gradient) == (float, 18.0)


def test_a_new_rule_is_followed() -> None:
    op = ops.elementwise(
        "broadcast_recipe_test", "Returns x * y.", np.multiply, "multiply", arity=2,
        derivatives=(lambda t, ans, x, y: t * y, lambda t, ans, x, y: t * x),
    )  # fmt: skip
    x, y = np.arange(3.0), np.ones((2, 3))
    f = grad(lambda x: ops.reduce_sum(op(x, y), (0, 1)))
    np.testing.assert_array_equal(f(x), [2.0, 2.0, 2.0])

    @op.primitive.def_jvp
    def _jvp(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, _) = primals, tangents
        assert type(dx) is not Zero
        return ops.mul(x, y), ops.mul(dx, 5.0)

    np.testing.assert_array_equal(f(x), [10.0, 10.0, 10.0])


def test_a_primitive_that_refuses_its_operands_says_so() -> None:
    with pytest.raises(ArgumentTypeError, match="and: expected operands of a dtype"):
        grad(lambda x: ops.bitwise_and(x, np.ones((2, 3))))(np.ones(3))
