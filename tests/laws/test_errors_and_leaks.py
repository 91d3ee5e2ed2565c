"""Mistakes are answered where they were made, threads agree, and nothing outlives its function."""

from hypothesis import given, settings

from lawful.laws import (
    Program,
    holds,
    law_errors_name_their_place,
    law_nothing_survives,
    law_threads_agree,
    programs,
    usual_dtypes,
)
from lawful.laws.systems import lawful

every_dtype = programs(dtypes=usual_dtypes, smooth=False)
few = settings(max_examples=max(settings.default.max_examples // 5, 2))


@given(every_dtype)
def test_mistakes_are_answered_where_they_were_made(program: Program) -> None:
    holds(law_errors_name_their_place, lawful, program)


@few
@given(every_dtype)
def test_threads_agree(program: Program) -> None:
    holds(law_threads_agree, lawful, program)


@few
@given(every_dtype)
def test_nothing_outlives_its_function(program: Program) -> None:
    holds(law_nothing_survives, lawful, program)
