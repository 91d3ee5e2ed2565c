"""Forward mode: against finite differences, and linear in the tangent."""

import numpy as np
from hypothesis import given

from lawful.laws import (
    Program,
    holds,
    law_chain_rule,
    law_jvp_finite_differences,
    law_jvp_linear,
    programs,
    usual_dtypes,
)
from lawful.laws.systems import lawful

with_complex = programs(dtypes=tuple(map(np.dtype, ("complex128", "float64", "int64"))))


@given(programs())
def test_jvp_agrees_with_finite_differences(program: Program) -> None:
    holds(law_jvp_finite_differences, lawful, program)


@given(with_complex)
def test_jvp_agrees_with_finite_differences_of_complex_programs(program: Program) -> None:
    holds(law_jvp_finite_differences, lawful, program)


@given(programs())
def test_jvp_linear(program: Program) -> None:
    holds(law_jvp_linear, lawful, program)


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_jvp_linear_with_every_dtype(program: Program) -> None:
    holds(law_jvp_linear, lawful, program)


@given(with_complex)
def test_jvp_obeys_the_chain_rule(program: Program) -> None:
    holds(law_chain_rule, lawful, program)
