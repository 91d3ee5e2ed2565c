"""Special numbers, and batches of no elements."""

from hypothesis import given

from lawful.laws import Program, holds, law_empty_batches, law_special_values, programs, usual_dtypes
from lawful.laws.systems import lawful

every_dtype = programs(dtypes=usual_dtypes, smooth=False)


@given(every_dtype)
def test_special_numbers_give_the_same_every_way(program: Program) -> None:
    holds(law_special_values, lawful, program)


@given(every_dtype)
def test_empty_batches_have_the_types_of_elements(program: Program) -> None:
    holds(law_empty_batches, lawful, program)
