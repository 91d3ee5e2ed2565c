"""Transformed jaxprs are well typed, and are what they print as."""

from hypothesis import given

from lawful.laws import Program, holds, law_print_parse, law_typing, programs, usual_dtypes
from lawful.laws.systems import lawful


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_typing_every_transformation_is_well_typed(program: Program) -> None:
    holds(law_typing, lawful, program, depth=1)


@given(programs(max_equations=4, dtypes=usual_dtypes, smooth=False))
def test_typing_two_transformations_are_well_typed(program: Program) -> None:
    holds(law_typing, lawful, program, depth=2)


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_typing_text_is_the_program(program: Program) -> None:
    holds(law_print_parse, lawful, program)
