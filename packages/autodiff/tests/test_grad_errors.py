"""Mistakes in calls of grad."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, value_and_grad
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    NonArrayError,
    float0,
)
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

FLOAT0 = np.zeros((), float0)


def product(x: Any, y: Any, z: Any) -> Any:
    return x * y * z


@pytest.mark.parametrize("args", [(3.0,), (3.0, 4.0)])
def test_of_no_arguments_there_is_no_gradient(args: Any) -> None:
    def f(x: Any, y: Any = 1.0) -> Any:
        return x * y

    assert value_and_grad(f, argnums=())(*args) == (f(*args), ())


@pytest.mark.parametrize("argnums", [3, -4, (0, 3)])
def test_grad_argument_that_is_not_there_error(argnums: Any) -> None:
    with pytest.raises(ArgumentValueError, match="grad of product: expected at least 4 positional arguments") as caught:
        grad(product, argnums)(2.0, 3.0, 4.0)
    assert "give it by position, or change argnums" in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


@pytest.mark.parametrize("argnums", [(0, 0), (2, -1)])
def test_grad_argument_twice_is_refused(argnums: Any) -> None:
    with pytest.raises(ArgumentValueError, match="expected each argument once in argnums"):
        grad(product, argnums)(2.0, 3.0, 4.0)


@pytest.mark.parametrize("argnums", [1.0, "x", (0, 1.0), None, {0}])
def test_grad_argnums_are_integers(argnums: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="argnums: expected integers, got"):
        grad(product, argnums)


@pytest.mark.parametrize("result", [1.0, (1.0,), (1.0, 2.0, 3.0), [1.0, 2.0]])
def test_grad_has_aux_asks_for_a_pair(result: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected a function that returns a pair \(output, aux\)"):
        grad(lambda x: result, has_aux=True)(1.0)


# Errors of values without a gradient.


@pytest.mark.parametrize(
    ("argument", "got"),
    [
        (2, "~i64[] at argument 0"),
        (True, "~bool[] at argument 0"),
        (np.arange(3), "i64[3] at argument 0"),
        ({"w": [1.0, 2]}, "~i64[] at argument 0['w'][1]"),
        (np.ones(2, bool), "bool[2] at argument 0"),
    ],
)
def test_grad_integer_input_error(argument: Any, got: str) -> None:
    calls = []
    with pytest.raises(ArgumentTypeError) as caught:
        grad(lambda x: calls.append(1))(argument)
    message = str(caught.value)
    assert message.startswith(f"{__file__}:")
    assert f"grad of <lambda>: expected floating inputs, got {got}" in message
    assert "give floats (1.0, not 1), leave it out of argnums, or pass allow_int=True" in message
    assert not calls, "found before the function runs"


def test_grad_argument_that_has_integers_is_named() -> None:
    with pytest.raises(ArgumentTypeError, match=r"got ~i64\[\] at argument 2;"):
        grad(product, (0, 2))(2.0, 3.0, 4)
    assert grad(product, 0)(2.0, 3, 4) == 12.0, "one that is not differentiated by may have them"


def test_integers_have_gradients_of_float0_where_allowed(require_same: Callable[..., None]) -> None:
    gradient = grad(lambda d: d["x"] * d["n"], allow_int=True)({"x": 2.0, "n": 3})
    require_same(gradient, {"x": 3.0, "n": FLOAT0})
    require_same(grad(lambda n: n * 2.0, allow_int=True)(np.int64(3)), FLOAT0)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda x: np.ones(2) * x, "expected a function with a scalar result, got f64[2], computed at "),
        (lambda x: np.ones(2), "expected a function with a scalar result, got f64[2]; sum it up, or use jacrev"),
        (lambda x: ops.reshape(np.ones(1) * x, (1,)), "expected a function with a scalar result, got f64[1]"),
        (lambda x: (x, x), "expected a function with one scalar result, got a tuple of 2 values; return one"),
        (lambda x: {"a": x}, "expected a function with one scalar result, got a tree PyTreeDef({'a': *}); return"),
        (lambda x: [x], "expected a function with one scalar result, got a list of 1 value; return"),
        (lambda x: None, "expected a function with one scalar result, got None; return"),
        (lambda x: ops.convert_element_type(x, "int32"), "expected a function with a floating result, got i32[]"),
        (lambda x: x > 0, "expected a function with a floating result, got ~bool[]"),
        (lambda x: 3, "expected a function with a floating result, got ~i64[]"),
        (
            lambda x: x * 1j,
            "expected a real result, got ~c128[]; take a real part or absolute value, or",
        ),
    ],
)
def test_a_result_without_gradient_error(result: Any, words: str) -> None:
    for transformation in (grad, value_and_grad):
        with pytest.raises(ArgumentTypeError, match=re.escape(f"grad of <lambda>: {words}")) as caught:
            transformation(result)(2.0)
        assert str(caught.value).startswith(f"{__file__}:")
    with pytest.raises(ArgumentTypeError, match=re.escape(words)):
        jit(grad(result))(2.0)


# The line that computed a result which is no scalar.


def sines_plus_one(x: Any) -> Any:
    sines = ops.sin(x)
    return sines + 1.0


def doubled_by_jit(x: Any) -> Any:
    by_jit = jit(lambda y: y * 2.0)
    return by_jit(x)  # the line of the call: there is no other where the function was compiled before


def message_of(function: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(ArgumentTypeError) as caught:
        function(*args)
    return str(caught.value)


def applied_directly(gradient: Any) -> Any:
    return gradient


def by_vmap(gradient: Any) -> Any:
    return lambda x: vmap(gradient)(ops.broadcast_in_dim(x, shape=(2, 3), broadcast_dimensions=(1,)))


def by_jvp(gradient: Any) -> Any:
    return lambda x: jvp(gradient, (x,), (x,))


AROUND = [applied_directly, jit, by_vmap, make_jaxpr, by_jvp, grad, lambda g: jit(by_vmap(g))]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("function", "line"), [(sines_plus_one, 2), (doubled_by_jit, 2)])
def test_grad_names_the_line_of_a_result_of_arrays(around: Any, function: Any, line: int) -> None:
    name, code = function.__name__, function.__code__
    computed = f"{__file__}:{code.co_firstlineno + line} ({name})"
    words = f"grad of {name}: expected a function with a scalar result, got f64[3], computed at {computed}; sum it up,"
    for transformation in (grad, value_and_grad):
        gradient = around(transformation(function))
        for _ in range(3):
            message = message_of(gradient, np.ones(3))
            assert words in message
            assert not message.startswith(computed), "it begins with the line that called grad"


def test_grad_names_the_line_also_for_other_arguments() -> None:
    def with_aux(x: Any, y: Any) -> Any:
        return sines_plus_one(x) * y, x

    line = f"got f64[3], computed at {__file__}:{with_aux.__code__.co_firstlineno + 1} (with_aux); sum"
    for _ in range(3):
        assert line in message_of(grad(with_aux, has_aux=True), np.ones(3), 2.0)
        assert line in message_of(grad(lambda x, y: with_aux(x, y)[0], (0, 1)), np.ones(3), 2.0)
        assert line in message_of(grad(lambda d: with_aux(**d)[0]), {"x": np.ones(3), "y": 2.0})


def test_grad_names_the_line_of_a_traced_constant() -> None:
    """A value of an enclosing transformation has a line; its argument has none."""

    def f(y: Any) -> Any:
        def doubled(x: Any) -> Any:
            return y * 2.0

        line = f"{__file__}:{doubled.__code__.co_firstlineno + 1} (doubled)"
        assert f"got f64[3], computed at {line}; sum it up" in message_of(grad(doubled), 1.0)
        assert "got f64[3]; sum it up" in message_of(grad(lambda x: y), 1.0)
        assert "got f64[3]; sum it up" in message_of(grad(lambda x: x), y * 2.0)
        return y

    for around in (jit, by_vmap, make_jaxpr, by_jvp):
        around(f)(np.ones(3))


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("function", [lambda x: x, lambda x: np.ones(3), ops.sin, jit(sines_plus_one)])
def test_grad_names_no_line_where_none_is_known(around: Any, function: Any) -> None:
    """An argument, a constant and a result of lawful's own function have no line of the user."""
    gradient = around(grad(function))
    for _ in range(3):
        assert "got f64[3]; sum it up, or use jacrev or vjp" in message_of(gradient, np.ones(3))


@pytest.mark.parametrize("value", ["a", object()])
def test_grad_refuses_non_arrays(value: Any) -> None:
    with pytest.raises(NonArrayError, match=r"grad of <lambda>: expected arrays or numbers .* at argument 1"):
        grad(lambda x, y: x, 1)(1.0, value)
    with pytest.raises(NonArrayError, match="grad of <lambda>: expected a function that returns arrays or numbers"):
        grad(lambda x: value)(1.0)
    with pytest.raises(ArgumentTypeError, match=r"write grad\(f\)\(x\), not grad\(f\(x\)\)"):
        grad(3.0)  # type: ignore[arg-type]
