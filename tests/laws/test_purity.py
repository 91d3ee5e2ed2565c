"""Results depend on nothing but arguments."""

from hypothesis import given, settings

from lawful.laws import Program, holds, law_purity, programs
from lawful.laws.systems import Lawful, lawful


@given(programs())
def test_purity_results_depend_on_arguments_only(program: Program) -> None:
    holds(law_purity, lawful, program)


@settings(max_examples=max(settings.default.max_examples // 4, 1))
@given(programs(max_equations=5))
def test_purity_results_of_xla_depend_on_arguments_only(program: Program) -> None:
    holds(law_purity, Lawful("xla"), program)
