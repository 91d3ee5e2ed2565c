"""Gradients of unrolled loops become loops, and derivatives of rolled programs equal those of unrolled ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import reroll
from lawful.staging import jit, make_jaxpr

TRIP_COUNT = 20
random = np.random.default_rng(0)
W = random.normal(size=(3, 3)) * 0.3
H = random.normal(size=3)
XS = random.normal(size=(TRIP_COUNT, 3))


def test_reroll_gradient_of_a_chain_reads_stack_reversed(
    chain: Any, scans_in: Any, primitive_names: Any, rolled: Any
) -> None:
    closed = rolled(grad(chain), np.float64(1.0))
    assert primitive_names(closed) == ["scan", "scan"]
    assert [loop.params["reverse"] for loop in scans_in(closed)] == [False, True]
    residuals = scans_in(closed)[0].outvars[-1]
    assert residuals in scans_in(closed)[1].invars
    closed = rolled(grad(chain), 1.0)  # a Python number in the first iteration only
    assert primitive_names(closed) == ["convert_element_type", "scan", "scan", "convert_element_type"]


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*args: Any) -> Any:
    def declared(function: Callable[..., Any]) -> Any:
        PROGRAMS[function.__name__] = function, args
        return function

    return declared


@program(np.float64(0.5), np.float64(0.01))
def runge_kutta(x: Any, dt: Any) -> Any:
    def f(x: Any) -> Any:
        return ops.sin(x) - x * x

    for _ in range(30):
        k1 = f(x)
        k2 = f(x + dt / 2 * k1)
        k3 = f(x + dt / 2 * k2)
        k4 = f(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


@program(W, H)
def power_iteration(a: Any, v: Any) -> Any:
    for _ in range(30):
        v = a @ v
        v = v / ops.sqrt(ops.reduce_sum(v * v, (0,)))
    return v


@program(np.float64(0.5), np.float64(0.1))
def momentum(x: Any, v: Any) -> Any:
    for _ in range(30):
        v = 0.9 * v - 0.1 * ops.sin(x)
        x = x + v
    return x


@program(np.float64(0.5), np.float64(0.1))
def leapfrog(x: Any, v: Any) -> Any:
    for _ in range(30):
        v = v - 0.05 * ops.sin(x)
        x = x + 0.1 * v
        v = v - 0.05 * ops.sin(x)
    return x, v


@program(H)
def euler_of_three(s: Any) -> Any:
    for _ in range(30):
        x, y, z = s[0], s[1], s[2]
        slopes = 10.0 * (y - x), x * (28.0 - z) - y, x * y - z
        s = s + 0.01 * ops.concatenate([ops.reshape(slope, (1,)) for slope in slopes], 0)
    return s


@program(XS)
def assignment(x: Any) -> Any:
    for i in range(TRIP_COUNT):
        x = x.at[i].set(x[0] * 2.0)
    return x


@program(W, H, XS)
def recurrent(w: Any, h: Any, xs: Any) -> Any:
    for i in range(TRIP_COUNT):
        h = ops.tanh(w @ h + xs[i])
    return h


@program(XS[:, 0].copy())
def running_sum(x: Any) -> Any:
    s = x[0]
    for i in range(1, TRIP_COUNT):
        s = s + x[i]
    return s


def test_reroll_gradient_of_a_shared_weight_is_carried(
    gradient: Any, scans_in: Any, primitive_names: Any, rolled: Any
) -> None:
    closed = rolled(gradient(recurrent, 3), W, H, XS)
    assert len(scans_in(closed)) == 2
    assert len(closed.eqns) <= 22
    assert "pad" not in primitive_names(closed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reroll_gradients_are_small(gradient: Any, rolled: Any, name: str) -> None:
    function, args = PROGRAMS[name]
    assert len(rolled(function, *args).eqns) <= 10
    closed = make_jaxpr(gradient(function, len(args)))(*args)
    found = rolled(gradient(function, len(args)), *args)
    assert len(found.eqns) < min(len(closed.eqns) / 3, 95)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reroll_then_transform_equals_unrolled(gradient: Any, name: str) -> None:
    function, args = PROGRAMS[name]
    compiled = jit(function, passes=(reroll,), backend="numpy")
    tangents = tuple(np.ones_like(x) * 0.5 for x in args)
    for one, other in (
        (jvp(compiled, args, tangents), jvp(function, args, tangents)),
        (gradient(compiled, len(args))(*args), gradient(function, len(args))(*args)),
        (vmap(compiled)(*[np.stack([x, x]) for x in args]), vmap(function)(*[np.stack([x, x]) for x in args])),
    ):
        for x, y in zip(tree.leaves(one), tree.leaves(other), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def test_reroll_second_derivatives(chain: Any, rolled: Any) -> None:
    closed = rolled(grad(grad(chain)), np.float64(1.0))
    assert len(closed.eqns) <= 25
