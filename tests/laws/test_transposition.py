"""Reverse mode is the transpose of forward mode."""

import numpy as np
from hypothesis import given

from lawful.laws import Program, holds, law_grad_is_vjp, law_vjp_transpose, programs
from lawful.laws.systems import lawful

with_complex = programs(dtypes=tuple(map(np.dtype, ("complex128", "float64", "int64"))))


@given(programs())
def test_vjp_is_the_transpose(program: Program) -> None:
    holds(law_vjp_transpose, lawful, program)


@given(with_complex)
def test_vjp_is_the_transpose_of_complex_programs(program: Program) -> None:
    holds(law_vjp_transpose, lawful, program)


@given(programs())
def test_grad_is_vjp(program: Program) -> None:
    holds(law_grad_is_vjp, lawful, program)
