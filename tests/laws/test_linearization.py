"""Linearization is forward mode, and does no primal work again."""

from typing import Any

import numpy as np
from hypothesis import given

from lawful import debug, ops
from lawful.autodiff import linearize
from lawful.control_flow import fori_loop, scan_p
from lawful.control_flow import map as loop_map
from lawful.laws import Case, Program, holds, law_linearize_is_jvp, programs
from lawful.laws._derivatives.linearization import primal_work
from lawful.laws.systems import lawful, with_jvp_rule

with_complex = programs(dtypes=tuple(map(np.dtype, ("complex128", "float64", "int64"))))


@given(programs())
def test_linearize_is_jvp(program: Program) -> None:
    holds(law_linearize_is_jvp, lawful, program)


@given(with_complex)
def test_linearize_is_jvp_of_complex_programs(program: Program) -> None:
    holds(law_linearize_is_jvp, lawful, program)


def test_linearize_is_jvp_of_repeated_effects() -> None:
    """A loop that is computed again repeats its effects, also where nothing uses its results."""

    def step(_: int, x: float) -> float:
        debug.callback(lambda _: None, x)
        return ops.sin(x)

    linear = linearize(lambda x: (fori_loop(0, 3, step, x, checkpoints=1), x)[1], np.array([0.5]))[1]
    assert [eqn.primitive for eqn in linear.jaxpr.eqns] == [scan_p]
    assert [*primal_work(linear.jaxpr.jaxpr, [True])] == []


def test_linearize_loop_of_which_constant_tangents_are_used() -> None:
    """The custom rule gives zeros; the other result, whose tangent the loop computes, is not needed."""
    constant = with_jvp_rule(lambda x: ops.reshape(np.full((1, 1), -2.02), (1, 1, 1)))

    def function(x: Any) -> Any:
        return ops.neg(loop_map(lambda row: (row, constant(row)), x)[1])

    x = np.array([[1.0], [2.0], [3.0]])
    linear = linearize(function, x)[1]
    assert not linear.jaxpr.eqns
    np.testing.assert_array_equal(linear(x), np.zeros((3, 1, 1, 1)))
    holds(law_linearize_is_jvp, lawful, Case.of(function, x))
