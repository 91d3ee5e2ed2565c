"""Operands that are converted or broadcast: one traced rule does what doing so and then applying the primitive does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jacfwd, jacrev, jvp, vjp
from lawful.core import ArgumentTypeError, Zero, float0, primitives_by_name
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
    return lambda x, y: op(*ops.promote(op.__name__, op.promote_as, (x, y), keep_scalars=True))


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.uniform(0.5, 2.0, shape)[()] for shape in shapes]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_promotion_program_has_the_same_equations(op: Any, shapes: Any) -> None:
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
def test_promotion_derivatives_are_those_of_the_steps(op: Any, shapes: Any) -> None:
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
def test_promotion_second_derivatives_are_those_of_the_steps(shapes: Any) -> None:
    x, y = arrays(*shapes)

    def total(op: Any) -> Callable[[Any], Any]:
        axes = tuple(range(np.broadcast(x, y).ndim))
        return lambda x: ops.reduce_sum(ops.sin(op(x, y)), axes)

    for second in (jacfwd(grad(total(ops.mul))), jacrev(jacfwd(total(ops.mul)))):
        np.testing.assert_allclose(second(x), jacfwd(grad(total(explicitly(ops.mul))))(x), rtol=1e-13)


OPERANDS: list[tuple[Any, Any]] = [
    (2.0, 3.0),  # weak, and strong in the result of a function
    (2.0, 3),
    (np.float32(2.0), np.float64(3.0)),
    (np.ones((2, 3), np.float32), np.full(3, 2.0)),
    (np.full(3, 2.0, np.float16), np.float32(3.0)),
    (np.ones((2, 3), np.float32), np.arange(1, 4)),
    (np.arange(1, 4, dtype=np.int8), 2.0),
    (np.full(2, 1.5 + 1j), np.ones(2, np.float32)),
]


@pytest.mark.parametrize("both_traced", [True, False])
@pytest.mark.parametrize("operands", OPERANDS, ids=[f"{np.result_type(x)}, {np.result_type(y)}" for x, y in OPERANDS])
@pytest.mark.parametrize("op", [ops.add, ops.mul, ops.div, ops.pow], ids=lambda op: op.__name__)
def test_promotion_conversions_are_those_of_the_steps(op: Any, operands: tuple[Any, Any], both_traced: bool) -> None:
    x, y = operands

    def called(op: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (op, (x, y)) if both_traced else (lambda x: op(x, y), (x,))

    f, args = called(op)
    g, _ = called(explicitly(op))
    assert str(make_jaxpr(f)(*args)) == str(make_jaxpr(g)(*args))
    found, expected = vjp(f, *args), vjp(g, *args)
    np.testing.assert_array_equal(found[0], expected[0], strict=True)
    ct = np.ones_like(found[0])
    for got, want in zip(found[1](ct), expected[1](ct), strict=True):
        assert (type(got), np.shape(got), np.result_type(got)) == (type(want), np.shape(want), np.result_type(want))
        if np.result_type(got) != float0:
            np.testing.assert_allclose(got, want, rtol=1e-12)
    tangents = tuple(np.ones(np.shape(x), x.dtype if hasattr(x, "dtype") else float)[()] for x in args)
    if all(np.issubdtype(np.result_type(x), np.inexact) for x in args):
        for got, want in zip(jvp(f, args, tangents), jvp(g, args, tangents), strict=True):
            np.testing.assert_array_equal(got, want, strict=True)


def test_promotion_weak_operand_of_a_function_is_converted_once() -> None:
    assert str(make_jaxpr(ops.sin)(1.0)).count("convert_element_type") == 1
    gradient = grad(lambda x: ops.sin(x))(1.0)
    assert (type(gradient), gradient) == (float, np.cos(1.0))


def test_one_primitive_is_promoted_in_more_than_one_way() -> None:
    x, y = np.arange(-3, 3), np.array(2)
    quotients = make_jaxpr(lambda x, y: (ops.div(x, y), ops.true_divide(x, y), ops.div(x, y)))(x, y)
    assert [aval.dtype for aval in quotients.out_avals] == [np.int64, np.float64, np.int64]


def test_promotion_derivatives_of_operators_stay_weak() -> None:
    def f(x: Any) -> Any:
        return -((x - 1.0) * x / (2.0 - x)) + x**3 + x**0

    for derivative in (grad(f), grad(grad(f)), lambda x: jvp(f, (x,), (1.0,))[1]):
        assert "convert_element_type" not in str(make_jaxpr(derivative)(3.0))
        assert type(derivative(3.0)) is float


def test_promotion_weak_operands_keep_their_types() -> None:
    def f(x: Any) -> Any:
        return x * 3.0 * np.ones((2, 3), np.float32)

    out, tangent = jvp(f, (2.0,), (1.0,))
    assert (out.dtype, tangent.dtype) == (np.float32, np.float32)
    gradient = grad(lambda x: ops.reduce_sum(f(x), (0, 1)))(2.0)
    assert (type(gradient), gradient) == (float, 18.0)


def test_promotion_new_rule_takes_effect() -> None:
    op = ops.elementwise(
        "promotion_traced_rule_test", "Returns x * y.", np.multiply, "multiply", arity=2,
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
    del primitives_by_name["promotion_traced_rule_test"]  # or programs of other tests call it, while a cache keeps it


def test_promotion_primitive_that_refuses_its_operands_says_so() -> None:
    with pytest.raises(ArgumentTypeError, match="and: expected operands of a dtype"):
        grad(lambda x: ops.bitwise_and(x, np.ones((2, 3))))(np.ones(3))
