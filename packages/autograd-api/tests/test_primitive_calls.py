"""Calls of users' primitives, which have an accelerator: they agree with the plain ones, and cost few Python calls."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autodiff import linearize
from lawful.autograd import elementwise_grad, grad, hessian, jacobian, make_jvp
from lawful.autograd.extend import defjvp, defvjp, defvjp_argnums, primitive
from lawful.core import UnexpectedTracerError, plain

X = numpy.array([0.5, 1.0, 2.0])

Function = Callable[..., Any]


@primitive
def square(x: Any) -> Any:
    return x * x


defvjp(square, lambda ans, x: lambda g: g * 2.0 * x)


@primitive
def product(x: Any, y: Any, *, scale: float = 1.0) -> Any:
    return scale * x * y


defvjp(product, lambda ans, x, y, scale=1.0: lambda g: scale * g * y, lambda ans, x, y, scale=1.0: lambda g: g * x)


@primitive
def first(x: Any, y: Any) -> Any:
    return x + 0.0 * y


defvjp(first, lambda ans, x, y: lambda g: g, None)


@primitive
def quotient(x: Any, y: Any) -> Any:
    return x / y


def _rule(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Function:
    x, y = args
    return lambda g: tuple(g / y if argnum == 0 else -g * x / y**2 for argnum in argnums)


defvjp_argnums(quotient, _rule)


@primitive
def parts(x: Any) -> Any:
    return x * x, {"count": numpy.size(x), "half": x / 2.0}


defvjp(parts, lambda ans, x: lambda g: 2.0 * g[0] * x + g[1]["half"] / 2.0)


@primitive
def total(x: Any) -> Any:
    return numpy.sum(x)


defvjp(total, lambda ans, x: lambda g: g)  # broadcast
defjvp(total, lambda g, ans, x: np.sum(g))


def of_parts(x: Any) -> Any:
    one, other = parts(x)
    return one * other["half"] * other["count"]


FUNCTIONS: dict[str, Function] = {
    "one": square,
    "nested": lambda x: square(square(x) * x),
    "two": lambda x: product(x, np.sin(x), scale=3.0) + product(2.0, x) + product(x, X.sum()),
    "twice": lambda x: product(x, x),
    "zero": lambda x: first(x * x, square(x)) * x,
    "argnums": lambda x: quotient(np.cos(x), x + 2.0),
    "tree": of_parts,
    "sum": lambda x: total(square(x)) * x,
    "constant": lambda x: product(x * x, 3.0, scale=0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [0.7, numpy.float64(0.7), X, X.astype(numpy.float32)], ids=["float", "f64", "x", "f32"])
def test_primitive_calls_agree_with_plain(name: str, x: Any) -> None:
    f = FUNCTIONS[name]

    def found() -> list[Any]:
        gradient, pushed = elementwise_grad(f), make_jvp(f)(x)(x)
        return [gradient(x), elementwise_grad(gradient)(x), jacobian(f)(x), hessian(lambda x: np.sum(f(x)))(x), *pushed]

    fast = found()
    with plain():
        expected = found()
    for one, other in zip(fast, expected, strict=True):
        assert type(one) is type(other)
        assert numpy.asarray(one).dtype == numpy.asarray(other).dtype
        # Hessians are sums, in another order.
        numpy.testing.assert_allclose(one, other, rtol=8 * numpy.finfo(numpy.asarray(one).dtype).eps)


@pytest.mark.fast
def test_primitive_call_takes_few_python_calls() -> None:
    def chain(x: Any) -> Any:
        for _ in range(10):
            x = square(x)
        return x

    gradient = grad(chain)
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    gradient(0.9)
    sys.setprofile(note)
    try:
        gradient(0.9)
    finally:
        sys.setprofile(None)
    # The function, its two rules, the wrapper, the call with its two parts, the line, the variable, and the transpose.
    assert len(calls) <= 10 * 11 + 40


def test_primitive_linearized_runs_its_rule_once() -> None:
    runs: list[str] = []

    @primitive
    def cube(x: Any) -> Any:
        runs.append("value")
        return x**3

    def rule(ans: Any, x: Any) -> Function:
        runs.append("rule")
        return lambda g: 3.0 * g * x**2

    defvjp(cube, rule)
    value, push = linearize(cube, 2.0)
    assert (value, push(1.0), push(2.0)) == (8.0, 12.0, 24.0)
    assert runs == ["value", "rule"]
    assert "autograd_linear" in str(push.jaxpr)


def test_rule_of_too_few_cotangents() -> None:
    @primitive
    def difference(x: Any, y: Any) -> Any:
        return x - y

    defvjp_argnums(difference, lambda argnums, ans, args, kwargs: lambda g: [g])
    with pytest.raises(ValueError, match="zip"):
        grad(lambda x: difference(x, x))(1.0)


def test_primitive_that_closes_over_a_tracer() -> None:
    def f(x: Any) -> Any:
        return primitive(lambda y: x * y)(x)

    with pytest.raises(UnexpectedTracerError):
        grad(f)(1.0)


@pytest.mark.parametrize("x", [1.0, numpy.float64(1.0), numpy.array(1.0), numpy.array([1.0, 2.0]), 1.0 + 0.0j])
@pytest.mark.parametrize("given", [2, True, 2.0, numpy.float32(2.0)])
def test_rule_that_returns_a_number(given: Any, x: Any) -> None:
    double = primitive(lambda x: 2.0 * x)
    defvjp(double, lambda ans, x: lambda g: given)
    for context in (nullcontext(), plain()):
        with context:
            found = grad(lambda x: np.sum(np.real(double(x))))(x)
        assert numpy.asarray(found).dtype == numpy.asarray(x).dtype
        numpy.testing.assert_array_equal(found, numpy.full(numpy.shape(x), given))
