"""Derivatives by loops and solvers of a strong value with a weak tangent: ``x + 2.0`` for a Python number ``x``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linearize
from lawful.control_flow import cond, custom_linear_solve, fori_loop, scan, while_loop
from lawful.staging import jit

TWO = np.float64(2.0)
LOOPS: dict[str, Callable[[Any], Any]] = {
    "while": lambda v: while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0), (0, v))[1],
    "while, unchanged": lambda v: while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (0, v))[1] * 8.0,
    "while, at most 4": lambda v: while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0), (0, v), max_iters=4)[
        1
    ],
    "fori": lambda v: fori_loop(0, 3, lambda _, c: c * 2.0, v),
    "scan": lambda v: scan(lambda c, _: (c * 2.0, None), v, None, length=3)[0],
    "scan, results": lambda v: scan(lambda c, _: (c * 2.0, c), v, None, length=4)[1][3],
    "scan, constant": lambda v: scan(lambda c, _: (c + v, None), 0.0, None, length=8)[0],
    "scan, recomputed": lambda v: scan(lambda c, _: (c * 2.0, None), v, None, length=3, checkpoints=1)[0],
    "linear solve": lambda v: custom_linear_solve(
        lambda x: 0.125 * x, v, lambda _, b: b / 0.125, lambda _, b: b / 0.125
    ),
    "cond": lambda v: cond(True, lambda c: c * 8.0, lambda c: c, v),
}
DERIVATIVES: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "jvp": lambda f: jvp(f, (0.5,), (1.0,))[1],
    "linearize": lambda f: linearize(f, 0.5)[1](1.0),
    "grad": lambda f: grad(f)(0.5),
    "jit": lambda f: jit(grad(f), backend="numpy")(0.5),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("loop", LOOPS)
def test_loop_of_a_sum_of_weak_and_strong(loop: str, derivative: str) -> None:
    assert DERIVATIVES[derivative](lambda x: LOOPS[loop](ops.add(x, TWO))) == 8.0


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("loop", LOOPS)
def test_loop_of_a_difference_of_weak_and_strong(loop: str, derivative: str) -> None:
    assert DERIVATIVES[derivative](lambda x: LOOPS[loop](ops.sub(TWO, x))) == -8.0
