"""The ways to a second derivative agree."""

from hypothesis import given

from lawful.laws import Program, holds, law_second_order, programs
from lawful.laws.systems import lawful


@given(programs(max_equations=6))
def test_second_order_ways_agree(program: Program) -> None:
    holds(law_second_order, lawful, program)
