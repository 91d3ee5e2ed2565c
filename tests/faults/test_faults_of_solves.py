"""Each fault planted into the solvers is found by a law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow import custom_linear_solve, custom_root, fori_loop
from lawful.laws import check, quick
from lawful.laws.systems import lawful

from ._fault import Fault
from ._solves import solve_faults

A = np.array([[0.3, -0.5], [0.9, 0.4]])
B = np.array([0.6, -0.3])


def iterate(matvec: Any, b: Any) -> Any:
    return fori_loop(0, 20, lambda _, x: x + (b - matvec(x)), 0.0 * b)


def solved(a: Any, b: Any) -> Any:
    def f(x: Any) -> Any:
        return x + 0.1 * ops.sin(x) - b

    root = custom_root(
        f, 0.1 * ops.sin(b), lambda f, x: fori_loop(0, 20, lambda _, x: x - f(x), x), lambda g, y: y / g(0.0 * B + 1.0)
    )
    return custom_linear_solve(lambda x: x + 0.2 * ops.dot(ops.tanh(a), x), root, iterate, iterate)


def is_found() -> bool:
    laws = ("jvp_finite_differences", "vjp_transpose")
    return not check(solved, A, B, system=lawful, effort=quick, laws=laws).ok


def test_the_laws_hold_without_a_fault() -> None:
    assert not is_found()


@pytest.mark.parametrize("fault", solve_faults, ids=lambda fault: fault.slug)
def test_a_law_finds_the_fault(fault: Fault) -> None:
    with fault.planted():
        assert is_found()
