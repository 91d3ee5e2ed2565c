"""Linearization is forward mode, and does no primal work again."""

import numpy as np
from hypothesis import given

from lawful.laws import Program, holds, law_linearize_is_jvp, programs
from lawful.laws.systems import lawful

with_complex = programs(dtypes=tuple(map(np.dtype, ("complex128", "float64", "int64"))))


@given(programs())
def test_linearize_is_jvp(program: Program) -> None:
    holds(law_linearize_is_jvp, lawful, program)


@given(with_complex)
def test_linearize_is_jvp_of_complex_programs(program: Program) -> None:
    holds(law_linearize_is_jvp, lawful, program)
