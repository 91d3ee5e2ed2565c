"""Custom rules that differentiate a loop along a direction that they know, in reverse mode."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linearize
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.custom_rules import custom_jvp
from lawful.staging import jit


def by_while(x: Any) -> Any:
    return while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, ops.full_like(x, 1.0)))[1]


def by_while_of_known_length(x: Any) -> Any:
    """The loop carries a second array that has no tangent at first."""
    one = ops.full_like(x, 1.0)
    return while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x, s[2] + s[1]), (0, one, one))[1]


def by_fori(x: Any) -> Any:
    return fori_loop(0, 3, lambda _, y: y * x, ops.full_like(x, 1.0))


def by_scan(x: Any) -> Any:
    return scan(lambda y, _: (y * x, None), ops.full_like(x, 1.0), None, length=3)[0]


def by_loop_in_cond(x: Any) -> Any:
    return cond(True, by_while, lambda x: x, x)


LOOPS = [by_while, by_while_of_known_length, by_fori, by_scan, by_loop_in_cond]


@pytest.mark.parametrize("x", [np.array([0.5, 2.0]), np.array([[0.5], [2.0]]), np.array([]), 0.5], ids=np.shape)
@pytest.mark.parametrize("cube", LOOPS, ids=lambda f: f.__name__)
def test_rule_multiplies_tangent_by_derivative_of_loop(cube: Callable[[Any], Any], x: Any) -> None:
    def slope(x: Any) -> Any:
        return jvp(cube, (x,), (ops.full_like(x, 1.0),))[1]

    @custom_jvp
    def f(x: Any) -> Any:
        return cube(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        return f(*primals), ops.mul(tangents[0], slope(*primals))

    def total(x: Any) -> Any:
        return np.sum(f(x))

    expected = 3 * np.square(x)
    for _ in range(3):  # accelerators act from the second or third call on
        np.testing.assert_allclose(grad(total)(x), expected)
    np.testing.assert_allclose(jit(grad(total))(x), expected)
    np.testing.assert_allclose(linearize(f, x)[1](ops.full_like(x, 1.0)), expected)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(total)(x)))(x), 6 * np.asarray(x))
