"""Stacks of transformations agree with every reordering that has a meaning."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.laws import Program, holds, law_commutation, programs, transformations
from lawful.laws.systems import Lawful, lawful

stacks = st.lists(st.sampled_from(transformations), min_size=1, max_size=4).map(tuple)
small = programs(max_equations=5)


@given(small, stacks)
def test_commutation_reorderings_agree(program: Program, stack: tuple[str, ...]) -> None:
    holds(law_commutation, lawful, program, stack=stack)


@settings(max_examples=max(settings.default.max_examples // 5, 1))
@given(programs(max_equations=4), stacks.filter(lambda stack: "jit" in stack))
def test_commutation_reorderings_agree_compiled_by_xla(program: Program, stack: tuple[str, ...]) -> None:
    holds(law_commutation, Lawful("xla"), program, stack=stack[:3])
