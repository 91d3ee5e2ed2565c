"""A mapped function is the loop, and maps commute."""

from hypothesis import given

from lawful.laws import Program, holds, law_vmap_is_loop, law_vmaps_commute, programs, usual_dtypes
from lawful.laws.systems import lawful

every_dtype = programs(dtypes=usual_dtypes, smooth=False)


@given(programs())
def test_vmap_is_the_loop(program: Program) -> None:
    holds(law_vmap_is_loop, lawful, program)


@given(every_dtype)
def test_vmap_is_the_loop_with_every_dtype(program: Program) -> None:
    holds(law_vmap_is_loop, lawful, program)


@given(programs())
def test_vmap_of_one_element_is_the_loop(program: Program) -> None:
    holds(law_vmap_is_loop, lawful, program, axis_size=1)


@given(every_dtype)
def test_vmap_maps_commute(program: Program) -> None:
    holds(law_vmaps_commute, lawful, program)
