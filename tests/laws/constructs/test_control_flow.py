"""A choice is the branch taken, whatever is done to it."""

from hypothesis import given

from lawful.laws import Program, holds, law_batched_cond_is_choice, law_cond_is_branch, programs, usual_dtypes
from lawful.laws.systems import lawful


@given(programs())
def test_cond_choice_is_the_branch_taken(program: Program) -> None:
    holds(law_cond_is_branch, lawful, program)


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_cond_choice_is_the_branch_taken_with_every_dtype(program: Program) -> None:
    holds(law_cond_is_branch, lawful, program)


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_cond_batched_predicate_chooses_element_by_element(program: Program) -> None:
    holds(law_batched_cond_is_choice, lawful, program)
