"""A call with rules in a loop, one of whose results depends on loop-invariant operands alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jvp, linearize, vjp
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp
from lawful.staging import jit

Function = Callable[..., Any]
A = 0.3


def _function(a: Any, y: Any) -> tuple[Any, Any]:
    return ops.sin(a), ops.mul(a, y)


# The derivative of the first result by ``a`` is ten times the one of the function, to tell them from each other.


def _jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (a, y), (a_dot, y_dot) = primals, tangents
    return 10.0 * ops.cos(a) * a_dot, a_dot * y + a * y_dot


def _bwd(residuals: Any, cts: Any) -> tuple[Any, Any]:
    a, y = residuals
    return 10.0 * ops.cos(a) * cts[0] + y * cts[1], a * cts[1]


by_jvp = custom_jvp(_function)
by_jvp.defjvp(lambda primals, tangents: (by_jvp(*primals), _jvp(primals, tangents)))
by_vjp = custom_vjp(_function)
by_vjp.defvjp(lambda a, y: (by_vjp(a, y), (a, y)), _bwd)
by_both = custom_rule(_function)
by_both.def_jvp(lambda primals, tangents: (by_both(*primals), _jvp(primals, tangents)))
by_both.def_vjp(lambda a, y: (by_both(a, y), (a, y)), _bwd)

FUNCTIONS: dict[str, Function] = {"custom_jvp": by_jvp, "custom_vjp": by_vjp, "custom_rule": by_both}
LOOPS: dict[str, Callable[[Function], Any]] = {
    "scan": lambda step: scan(lambda y, _: (step(y), None), 1.0, None, length=2)[0],
    "results of a scan": lambda step: scan(lambda y, _: (step(y), y), 1.0, None, length=3)[1][2],
    "fori_loop": lambda step: fori_loop(0, 2, lambda _, y: step(y), 1.0),
    "while_loop": lambda step: while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, step(s[1])), (0, 1.0), max_iters=2)[
        1
    ],
    "scan in a scan": lambda step: scan(
        lambda y, _: (scan(lambda y, _: (step(y), None), y, None, length=1)[0], None), 1.0, None, length=2
    )[0],
    "cond in a scan": lambda step: scan(
        lambda y, _: (cond(y > -100.0, step, lambda y: y, y), None), 1.0, None, length=2
    )[0],
}
SECOND: dict[str, Callable[[Function], Function]] = {
    "grad of grad": lambda f: grad(grad(f)),
    "grad of vjp": lambda f: grad(lambda a: vjp(f, a)[1](1.0)[0]),
    "grad of linearize": lambda f: grad(lambda a: linearize(f, a)[1](1.0)),
    "jvp of grad": lambda f: lambda a: jvp(grad(f), (a,), (1.0,))[1],
    "compiled": lambda f: jit(grad(grad(f)), backend="numpy"),
}


def looped(name: str, loop: str, wrap: Callable[[Function], Function] = lambda f: f) -> Function:
    f = wrap(FUNCTIONS[name])

    def function(a: Any) -> Any:
        def step(y: Any) -> Any:
            sine, along = f(a, y)
            return sine * along

        return LOOPS[loop](step)

    return function


# Two steps are ``sin(a)² a²``; each derivative of the sine by ``a`` has a factor of 10, and none of the cosine.
S, C = np.sin(A), np.cos(A)
WANTED = [
    20 * S * C * A**2 + 2 * S**2 * A,
    20 * (10 * C**2 - S**2) * A**2 + 80 * S * C * A + 2 * S**2,
]


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_loop_invariant_result_keeps_its_rule(name: str, loop: str, second: str) -> None:
    function = looped(name, loop)
    np.testing.assert_allclose(float(grad(function)(A)), WANTED[0], rtol=1e-14)
    for _ in range(2):  # accelerators act from the second call on
        np.testing.assert_allclose(float(SECOND[second](function)(A)), WANTED[1], rtol=1e-14)


@pytest.mark.parametrize("wrap", [jit, checkpoint])
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", ["custom_jvp", "custom_rule"])
def test_loop_invariant_result_keeps_its_rule_inside(name: str, loop: str, wrap: Any) -> None:
    function = looped(name, loop, wrap)
    np.testing.assert_allclose(float(grad(grad(function))(A)), WANTED[1], rtol=1e-14)
