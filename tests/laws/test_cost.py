"""Gradients, residuals and tracing cost what they may."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import ops
from lawful.laws import (
    Case,
    Program,
    find_source,
    holds,
    law_bounded_residuals,
    law_cheap_gradient,
    law_linear_tracing,
    programs,
    replay_case,
)
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


@pytest.mark.parametrize("op", [ops.cumsum, ops.cumprod, ops.cummax, ops.cummin, ops.cumlogsumexp])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 17])
def test_gradient_of_cumulative_ops_is_cheap(op: Callable[..., Any], size: int) -> None:
    for dtype in ("float64", "float16"):
        for reverse in (False, True):
            function = partial(op, axis=0, reverse=reverse)
            law_cheap_gradient(lawful, Case.of(function, np.linspace(0.4, 1.3, size).astype(dtype)))


@pytest.mark.parametrize("orders", [(1, 0), (0, 1)])
def test_gradient_of_betainc_derivatives_is_cheap(orders: tuple[int, int]) -> None:
    derivative = partial(ops.regularized_incomplete_beta_derivative_p.bind, orders=orders)
    law_cheap_gradient(lawful, Case.of(derivative, np.array([2.64]), np.array([1.45]), np.array([0.17])))


@pytest.mark.parametrize(
    ("name", "choices", "law"),
    [
        ("eig", [4, 0, 0, 0, 0, 0, 0], law_bounded_residuals),
        ("solve_by_factors", [1, 0, 0, 2, 0, 0, 0, 0], law_bounded_residuals),
        ("reduce_prod", [2, 2, 2, 8, 0, 0, 0, 0], law_cheap_gradient),
    ],
)
def test_derivatives_of_small_arrays_are_within_bounds(name: str, choices: list[int], law: Any) -> None:
    law(lawful, replay_case(find_source(name), choices).case)
