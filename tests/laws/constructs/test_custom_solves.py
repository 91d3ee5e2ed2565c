"""Every law holds through solvers that iterate: linear ones and those of roots."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jacfwd
from lawful.batching import vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root, while_loop
from lawful.laws import check, quick
from lawful.laws.systems import lawful
from lawful.staging import jit
from tests.laws._held import names

A = np.array([[0.3, -0.5], [0.2, 0.4]])
B = np.array([0.6, -0.3])
QUICK: dict[str, Any] = {"system": lawful, "effort": quick, "raise_on_failure": True}
IN_NESTS = ("jit_is_eager", "vjp_transpose", "linearize_is_jvp", "second_order", "vmap_is_loop", "typing", "passes")


def total(x: Any) -> Any:
    return ops.reduce_sum(x, tuple(range(x.ndim)))


def iterate(matvec: Any, b: Any) -> Any:
    """Solves a system whose matrix is near one, to rounding: also in 32 bits the residual gets no smaller."""

    def step(state: Any) -> Any:
        x, count = state
        return x + (b - matvec(x)), count + 1

    return while_loop(lambda state: state[1] < 20, step, (0.0 * b, 0))[0]


def linear(a: Any, b: Any) -> Any:
    def matvec(x: Any) -> Any:
        return x + 0.2 * ops.dot(ops.tanh(a), x)

    return custom_linear_solve(matvec, b, iterate, iterate)


def symmetric(a: Any, b: Any) -> Any:
    s = ops.tanh(a)

    def matvec(x: Any) -> Any:
        return x + 0.1 * ops.dot(s + ops.transpose(s, (1, 0)), x)

    return custom_linear_solve(matvec, b, iterate, symmetric=True)


def root(a: Any, b: Any) -> Any:
    """The root of x + 0.2 sin(a x) = b, found by iteration."""

    def f(x: Any) -> Any:
        return x + 0.2 * ops.sin(ops.dot(ops.tanh(a), x)) - b

    def solve(f: Any, x: Any) -> Any:
        return while_loop(lambda s: s[1] < 20, lambda s: (s[0] - f(s[0]), s[1] + 1), (x, 0))[0]

    return custom_root(f, 0.0 * b, solve, lambda g, y: custom_linear_solve(g, y, iterate, iterate))


def test_custom_solves_linear_solves() -> None:
    check(linear, A, B, laws=names, **QUICK)
    check(symmetric, A, B, laws=names, **QUICK)


def test_custom_solves_roots() -> None:
    check(root, A, B, laws=names, **QUICK)


def test_custom_solves_roots_of_numbers() -> None:
    def newton(f: Any, x: Any) -> Any:
        return while_loop(lambda s: s[1] < 12, lambda s: (s[0] - f(s[0]) / grad(f)(s[0]), s[1] + 1), (x, 0))[0]

    def f(a: Any) -> Any:
        return custom_root(lambda x: x + 0.3 * ops.sin(x) - a, 0.0 * a, newton, lambda g, y: y / g(1.0))

    check(f, 0.7, laws=names, **QUICK)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: ops.sin(linear(a, root(a, b))),
        lambda a, b: jit(linear, backend="numpy")(a, b) * total(checkpoint(root)(a, b)),
        lambda a, b: cond(total(b) > 0.0, linear, root, a, b),
        lambda a, b: vmap(linear, (None, 0))(a, b * np.array([[1.0], [2.0]])),
        lambda a, b: ops.dot(jacfwd(root, 1)(a, b), b),
    ],
    ids=["one of the other", "compiled and computed again", "chosen", "mapped", "differentiated"],
)
def test_custom_solves_solves_in_nests(function: Callable[..., Any]) -> None:
    check(function, A, B, laws=IN_NESTS, **QUICK)
