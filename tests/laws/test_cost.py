"""Gradients, residuals and tracing cost what they may."""

from hypothesis import given, settings

from lawful.laws import Program, holds, law_bounded_residuals, law_cheap_gradient, law_linear_tracing, programs
from lawful.laws.systems import lawful

few = settings(max_examples=max(settings.default.max_examples // 5, 2))


@given(programs())
def test_cost_gradients_are_cheap(program: Program) -> None:
    holds(law_cheap_gradient, lawful, program)


@given(programs())
def test_cost_derivatives_keep_little(program: Program) -> None:
    holds(law_bounded_residuals, lawful, program)


@few
@given(programs())
def test_cost_tracing_is_linear(program: Program) -> None:
    holds(law_linear_tracing, lawful, program)
