"""Passes keep meaning, and are idempotent."""

from hypothesis import given

from lawful.laws import Program, holds, law_passes, programs, usual_dtypes
from lawful.laws.systems import lawful


@given(programs())
def test_passes_keep_meaning(program: Program) -> None:
    holds(law_passes, lawful, program)


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_passes_keep_meaning_with_every_dtype(program: Program) -> None:
    holds(law_passes, lawful, program)
