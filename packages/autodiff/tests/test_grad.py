"""`grad` and `value_and_grad`: the gradient of a function with one scalar result."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, value_and_grad
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    TracerBoolConversionError,
    UnexpectedTracerError,
    check_jaxpr,
    get_aval,
)
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")


def product(x: Any, y: Any, z: Any) -> Any:
    return x * y * z


def test_the_gradient_of_a_scalar_function() -> None:
    assert grad(lambda x: x * x * x)(2.0) == 12.0
    assert grad(ops.sin)(0.0) == 1.0
    assert value_and_grad(lambda x: x * x * x)(2.0) == (8.0, 12.0)


def test_the_gradient_agrees_with_finite_differences(difference_quotient: Callable[..., Any]) -> None:
    def function(x: Any) -> Any:
        return ops.reduce_sum(ops.sin(x) * ops.exp(x[::-1]), (0,))

    x = np.array([0.3, -1.2, 2.0])
    gradient = grad(function)(x)
    for i in range(3):
        assert np.isclose(gradient[i], difference_quotient(function, (x,), (np.eye(3)[i],)), rtol=1e-7)


# argnums.


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 12.0),
        (2, 6.0),
        (-1, 6.0),
        (-3, 12.0),
        (np.int64(1), 8.0),
        ((0,), (12.0,)),
        ((0, 2), (12.0, 6.0)),
        ([0, 2], (12.0, 6.0)),
        ((2, 0), (6.0, 12.0)),
        ((-1, 0), (6.0, 12.0)),
        (range(3), (12.0, 8.0, 6.0)),
        ((), ()),
    ],
    ids=str,
)
def test_grad_argnums_choose_the_arguments(argnums: Any, expected: Any) -> None:
    gradient = grad(product, argnums)(2.0, 3.0, 4.0)
    assert gradient == expected
    assert type(gradient) is type(expected)
    assert value_and_grad(product, argnums)(2.0, 3.0, 4.0) == (24.0, expected)


def test_grad_arguments_by_name_are_constants() -> None:
    assert grad(lambda x, *, scale=1.0: x * scale)(3.0, scale=4.0) == 4.0


def test_grad_keyword_arguments_are_constants() -> None:
    assert grad(lambda x, *, y: x * y)(2.0, y=3.0) == 3.0
    assert grad(lambda x, *, name, n: x * n)(2.0, name="a string", n=3) == 3.0
    with pytest.raises(ArgumentValueError, match="expected at least 1 positional arguments"):
        grad(lambda x: x)(x=2.0)


def test_grad_other_arguments_may_be_anything() -> None:
    class Settings:
        scale = 3.0

    assert grad(lambda settings, x, f: settings.scale * f(x), 1)(Settings(), 0.0, ops.sin) == 3.0


# Types.


@pytest.mark.parametrize(
    "x", [3.0, np.float64(3), np.float32(3), np.array(3.0), np.array(3.0, np.float16), np.full((2, 1), 3.0)], ids=repr
)
def test_the_gradient_has_the_type_of_the_argument(x: Any) -> None:
    for function in (lambda x: x, lambda x: x * x, ops.sin, lambda x: x * 2, lambda x: np.float64(2.0) * x):
        gradient = grad(lambda x, f=function: ops.reduce_sum(f(x), tuple(range(np.ndim(x)))) if np.ndim(x) else f(x))
        assert get_aval(gradient(x)) == get_aval(x)
    assert get_aval(grad(lambda x: 3.0)(x)) == get_aval(x)


def test_the_gradient_by_a_python_float_is_a_python_float() -> None:
    for function in (
        lambda x: x,
        lambda x: x * x,
        ops.sin,
        lambda x: x * np.float64(2),
        lambda x: 3.0,
        jit(lambda x: x),
    ):
        gradient = grad(function)(3.0)
        assert type(gradient) is float
        assert get_aval(gradient).weak_type
    assert type(grad(grad(lambda x: x * x * x))(2.0)) is float
    assert [type(g) for g in grad(lambda x, y: x * y, (0, 1))(2.0, np.float32(3))] == [float, np.float32]


def test_a_gradient_is_computed_in_the_precision_of_the_function() -> None:
    closed = make_jaxpr(grad(lambda x: ops.sin(x) * x))(np.float32(1))
    assert {var.aval.dtype for eqn in closed.eqns for var in eqn.outvars} == {np.dtype(np.float32)}


def test_grad_value_is_that_of_the_function(require_same: Callable[..., None]) -> None:
    for x in (3.0, np.float32(3), np.float64(3)):
        for function in (lambda x: x * 2.0, ops.sin, lambda x: x * np.float32(2)):
            require_same(value_and_grad(function)(x)[0], function(x))


# Pytrees, auxiliary outputs.


class Point(NamedTuple):
    x: Any
    y: Any


def test_the_gradient_has_the_structure_of_the_arguments(require_same: Callable[..., None]) -> None:
    def function(p: Any, d: Any) -> Any:
        return p.x * p.y * d["a"][0] * ops.reduce_sum(d["b"], (0,))

    args = (Point(2.0, np.float32(3.0)), {"a": [1.0, None, 5.0], "b": np.ones(2)})
    require_same(grad(function)(*args), Point(6.0, np.float32(4.0)))
    require_same(grad(function, 1)(*args), {"a": [12.0, None, 0.0], "b": np.full(2, 6.0)})
    assert grad(lambda p: 1.0)(()) == ()


def test_grad_auxiliary_output_is_passed_on() -> None:
    def function(x: Any) -> Any:
        return x * x, {"x": x, "twice": [2.0 * x], "name": "a string"}

    gradient, aux = grad(function, has_aux=True)(3.0)
    assert (gradient, aux) == (6.0, {"x": 3.0, "twice": [6.0], "name": "a string"})
    (value, aux), gradient = value_and_grad(function, has_aux=True)(3.0)
    assert (value, gradient, aux) == (9.0, 6.0, {"x": 3.0, "twice": [6.0], "name": "a string"})
    assert type(aux["x"]) is float, "the value, not a tracer"


def test_grad_has_aux_under_enclosing_transformation() -> None:
    """An auxiliary output is differentiated, compiled and batched by the enclosing transformation."""

    def function(x: Any) -> Any:
        gradient, aux = grad(lambda y: (x * y * y, x * y), has_aux=True)(x)
        return gradient + aux  # 2x² + x²

    assert function(3.0) == 27.0
    assert grad(function)(3.0) == 18.0
    assert jit(grad(function))(3.0) == 18.0
    assert vmap(grad(function))(np.array([3.0])).tolist() == [18.0]


def test_grad_has_aux_of_enclosing_tracer_alone() -> None:
    """An auxiliary output that depends on the enclosing tracer alone keeps its derivative."""

    def function(x: Any) -> Any:
        return grad(lambda y: (y * y, x * x), has_aux=True)(1.0)[1]

    assert grad(function)(3.0) == 6.0
    assert jvp(function, (3.0,), (1.0,)) == (9.0, 6.0)


# Complex.


def test_the_gradient_of_a_real_function_of_a_complex_argument() -> None:
    # ∂/∂(re z) − i ∂/∂(im z), as in JAX.
    assert grad(lambda z: ops.real(z * z))(2.0 + 1.0j) == 4.0 + 2.0j
    assert grad(lambda z: ops.imag(z))(2.0 + 1.0j) == -1.0j
    assert grad(lambda z: ops.real(z * ops.conj(z)))(2.0 + 1.0j) == 4.0 - 2.0j
    assert grad(lambda z: ops.real(ops.mul(z, z)))(np.complex64(2.0 + 1.0j)).dtype == np.complex64


def test_grad_holomorphic_is_the_complex_derivative() -> None:
    assert grad(lambda z: z * z, holomorphic=True)(2.0 + 1.0j) == 4.0 + 2.0j
    z = 0.5 + 0.25j
    assert np.isclose(grad(ops.exp, holomorphic=True)(z), np.exp(z))
    with pytest.raises(ArgumentTypeError, match="with holomorphic=True: expected complex arguments, got ~f64"):
        grad(lambda z: z * z, holomorphic=True)(2.0)
    with pytest.raises(ArgumentTypeError, match=r"expected a complex result, got f64.*leave holomorphic out"):
        grad(lambda z: ops.real(z * z), holomorphic=True)(2.0j)


# Python control flow.


def test_grad_python_control_flow_on_values_works() -> None:
    def function(x: Any) -> Any:
        total = 0.0
        for _ in range(4):
            if x > 1.0 and not x > 10.0:
                total = total + x * x
            elif x <= 1.0:
                total = total - x
            x = x * 2.0
        return total

    for x in (0.3, 0.7, 1.5, 4.0):
        step = 1e-6
        assert np.isclose(grad(function)(x), (function(x + step) - function(x - step)) / (2 * step), rtol=1e-7)
    assert grad(grad(lambda x: x * x * x if x > 0 else x))(2.0) == 12.0
    assert grad(lambda x: max(x, 2.0) * min(x, 2.0))(3.0) == 2.0
    assert grad(lambda x: x * [1.0, 10.0, 100.0][int(x)])(2.5) == 100.0
    assert grad(lambda x: sum(x for _ in range(int(x))) if bool(x) else x)(3.0) == 3.0


def test_grad_inside_jit_refuses_python_control_flow() -> None:
    with pytest.raises(TracerBoolConversionError, match=r"expected a concrete value, .* made at .*static_argnums"):
        jit(grad(lambda x: x if x > 0 else -x))(2.0)
    with pytest.raises(TracerBoolConversionError):
        grad(jit(lambda x: x if x > 0 else -x))(2.0)
    assert grad(lambda x: x if x > 0 else -x)(-2.0) == -1.0


# Higher orders, and with the other transformations.


@pytest.mark.parametrize("order", range(1, 5))
def test_gradients_of_any_order(order: int) -> None:
    function, expected = (lambda x: x * x * x * x), [32.0, 48.0, 48.0, 24.0][order - 1]
    for _ in range(order):
        function = grad(function)
    assert function(2.0) == jit(function)(2.0) == expected
    assert vmap(function)(np.full(2, 2.0)).tolist() == [expected] * 2
    check_jaxpr(make_jaxpr(function)(2.0))


def test_grad_no_perturbation_confusion() -> None:
    assert grad(lambda x: x * grad(lambda y: x * y)(1.0))(1.0) == 2.0
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1.0
    assert grad(lambda x: grad(lambda y: x * x)(x))(3.0) == 0.0
    assert grad(lambda x: x * jvp(lambda y: x * y, (1.0,), (1.0,))[1])(1.0) == 2.0
    assert jvp(lambda x: x * grad(lambda y: x * y)(1.0), (1.0,), (1.0,)) == (1.0, 2.0)


def test_grad_forward_and_reverse_mode_agree_to_second_order() -> None:
    function = lambda x: ops.sin(x) * ops.exp(x) / (x * x + 1.0)  # noqa: E731
    push = lambda f: lambda x: jvp(f, (x,), (1.0,))[1]  # noqa: E731
    found = [outer(inner(function))(0.7) for outer in (grad, push) for inner in (grad, push)]
    np.testing.assert_allclose(found, found[0], rtol=1e-13)


def test_jit_vmap_and_grad_commute(require_same: Callable[..., None]) -> None:
    function = lambda x, y: ops.reduce_sum(ops.sin(x) * y, (0,))  # noqa: E731
    x, y = np.array([[0.3, 1.0], [2.0, -1.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = np.cos(x) * y
    for transformed in (
        vmap(grad(function)),
        vmap(jit(grad(function))),
        vmap(grad(jit(function))),
        jit(vmap(grad(function))),
        jit(vmap(jit(grad(jit(function))))),
        grad(lambda x, y: ops.reduce_sum(vmap(function)(x, y), (0,))),
    ):
        require_same(transformed(x, y), expected, 1e-15)


def test_the_gradient_of_jit_does_not_trace_the_function_again() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        return x * x

    jitted = jit(function)
    assert jitted(3.0) == 9.0
    assert [grad(jitted)(x) for x in (3.0, 4.0, 5.0)] == [6.0, 8.0, 10.0]
    assert grad(grad(jitted))(3.0) == 2.0
    assert jit(grad(jitted))(3.0) == 6.0
    assert vmap(grad(jitted))(np.array([3.0])).tolist() == [6.0]
    assert len(calls) <= 3, "once for each signature: weak and strong scalars"


def test_grad_name_and_the_docstring_are_kept() -> None:
    for transformation in (grad, value_and_grad):
        assert transformation(product).__name__ == "product"
    assert grad(partial(product, y=1.0, z=2.0))(3.0) == 2.0


def test_a_tracer_kept_after_grad_is_refused() -> None:
    kept: list[Any] = []
    grad(lambda x: kept.append(x * 2.0) or x * x)(3.0)
    with pytest.raises(UnexpectedTracerError, match=rf"made at {re.escape(__file__)}:\d+ .*, which has ended"):
        kept[0] + 1.0


def test_grad_user_exception_is_raised_unchanged() -> None:
    raised = KeyError("mine")

    def fail(x: Any) -> Any:
        raise raised

    with pytest.raises(KeyError) as caught:
        grad(lambda x: grad(fail)(x))(1.0)
    assert caught.value is raised
    assert grad(lambda x: x * x)(3.0) == 6.0
