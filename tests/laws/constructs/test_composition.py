"""Nested functions that close over the variables of every transformation around them, against derivatives by hand."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from lawful import ops
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.staging import jit
from tests.laws._held import FEW

Function = Callable[..., Any]
Maybe = Callable[[Function], Function]

X = 0.7


def everywhere(count: int, backend: str) -> list[tuple[Maybe, ...]]:
    """Every choice of which of ``count`` places are compiled."""

    def compiled(function: Function) -> Function:
        result: Function = jit(function, backend=backend)
        return result

    def plain(function: Function) -> Function:
        return function

    return list(product((plain, compiled), repeat=count))


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12, atol=1e-12)


def nested(jits: tuple[Maybe, ...]) -> Function:
    """Returns f(x) = sin(x) cos(x) x² as a stack of functions, each of which closes over the variables around it."""
    outer, middle, inner = jits

    def f(x: Any) -> Any:
        def g(y: Any) -> Any:
            s = ops.sin(x)

            def h(z: Any) -> Any:
                return s * ops.cos(z) * x * y  # of the function around this one, of the one around that, its own

            return inner(h)(y)

        return middle(g)(x)

    return outer(f)


def value(x: float) -> float:
    return float(np.sin(x) * np.cos(x) * x**2)


def first(x: float) -> float:
    return float(np.cos(2 * x) * x**2 + np.sin(2 * x) * x)


def second(x: float) -> float:
    return float(-2 * np.sin(2 * x) * x**2 + 4 * np.cos(2 * x) * x + np.sin(2 * x))


def third(x: float) -> float:
    return float(-4 * np.cos(2 * x) * x**2 - 12 * np.sin(2 * x) * x + 6 * np.cos(2 * x))


def choices(backend: str) -> list[tuple[Maybe, ...]]:
    """Returns the choices of three compiled places: by XLA with the profile "few" the last, the first, and all."""
    every = everywhere(3, backend)
    return every[1::3] if backend == "xla" and settings.default.max_examples <= FEW else every


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_derivatives_of_nested_functions(backend: str) -> None:
    for jits in choices(backend):
        f = nested(jits)
        close(f(X), value(X))
        close(grad(f)(X), first(X))
        close(jvp(f, (X,), (1.0,))[1], first(X))
        close(grad(grad(f))(X), second(X))
        close(jvp(grad(f), (X,), (1.0,))[1], second(X))
        close(grad(lambda x, f=f: jvp(f, (x,), (1.0,))[1])(X), second(X))
        close(grad(grad(grad(f)))(X), third(X))


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_compiled_at_each_place_of_a_stack(backend: str) -> None:
    for places in choices(backend):
        check_stack(*places)


def check_stack(inside: Maybe, between: Maybe, outside: Maybe) -> None:
    f = nested((inside, inside, between))
    batch = np.array([0.3, 0.7, 1.1])
    firsts = [first(x) for x in batch]
    close(outside(grad(between(grad(inside(f)))))(X), second(X))
    close(outside(lambda x: jvp(between(grad(f)), (x,), (1.0,))[1])(X), second(X))
    close(outside(grad(between(lambda x: jvp(f, (x,), (1.0,))[1])))(X), second(X))
    close(outside(lambda x: linearize(between(grad(f)), x)[1](1.0))(X), second(X))
    close(outside(lambda x: vjp(between(grad(f)), x)[1](1.0)[0])(X), second(X))
    close(outside(vmap(between(grad(f))))(batch), firsts)
    close(outside(grad(lambda xs: ops.reduce_sum(vmap(between(f))(xs), (0,))))(batch), firsts)


def test_jvp_inside_jit_inside_transformations() -> None:
    """A compiled function closes over the variable of a jvp that is inside another compiled function."""
    for outer, middle, inner in everywhere(3, "numpy"):

        def f(x: Any, outer: Maybe = outer, middle: Maybe = middle, inner: Maybe = inner) -> Any:
            def along(y: Any) -> Any:
                scaled = x * y

                def innermost(z: Any) -> Any:
                    return scaled * z * x  # x² y z

                return middle(lambda z: inner(innermost)(z) * y)(y)  # x² y³

            return jvp(outer(along), (x,), (1.0,))[1]  # 3 x² y² at y = x: 3 x⁴

        for compiled in everywhere(1, "numpy"):
            whole = compiled[0](f)
            close(whole(X), 3 * X**4)
            close(grad(whole)(X), 12 * X**3)
            close(jvp(grad(whole), (X,), (1.0,))[1], 36 * X**2)
            close(grad(grad(whole))(X), 36 * X**2)


def test_perturbations_are_not_confused() -> None:
    for outer, inner in everywhere(2, "numpy"):
        constant = outer(lambda x, inner=inner: x * jvp(inner(lambda y: x * y), (1.0,), (1.0,))[1])
        out, tangent = jvp(constant, (1.0,), (1.0,))
        close(out, 1.0)
        close(tangent, 2.0)
        close(grad(grad(constant))(3.0), 2.0)


def test_conditions_on_variables_of_enclosing_transformations() -> None:
    for outer, inner in everywhere(2, "numpy"):

        def f(x: Any, outer: Maybe = outer, inner: Maybe = inner) -> Any:
            def choose(y: Any) -> Any:
                return cond(x > 0.5, lambda z: inner(lambda w: w * x * y)(z), lambda z: inner(lambda w: w + x)(z), y)

            return outer(choose)(x)

        # x³ above one half, 2 x below.
        close(grad(f)(0.7), 3 * 0.7**2)
        close(grad(f)(0.2), 2.0)
        close(grad(grad(f))(0.7), 6 * 0.7)
        close(jvp(grad(f), (0.2,), (1.0,))[1], 0.0)
        close(vmap(grad(f))(np.array([0.7, 0.2])), [3 * 0.7**2, 2.0])
        close(jit(vmap(grad(grad(f))), backend="numpy")(np.array([0.7, 0.2])), [6 * 0.7, 0.0])
