"""Special numbers, and batches of no elements."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lawful import ops
from lawful.laws import (
    Case,
    LawViolation,
    Program,
    holds,
    law_empty_batches,
    law_special_values,
    programs,
    usual_dtypes,
)
from lawful.laws._primitives.special_points import _Line
from lawful.laws.systems import Lawful, lawful
from lawful.staging import jit

every_dtype = programs(dtypes=usual_dtypes, smooth=False)


@given(every_dtype)
def test_special_numbers_give_the_same_every_way(program: Program) -> None:
    holds(law_special_values, lawful, program)


@given(every_dtype)
def test_empty_batches_have_the_types_of_elements(program: Program) -> None:
    holds(law_empty_batches, lawful, program)


def _violations(function: Any) -> int:
    """Returns how many seeds of special numbers in the place of 2 violate the law on XLA."""
    count = 0
    for seed in range(12):
        try:
            law_special_values(Lawful("xla", ("xla",)), Case.of(function, np.array(2), seed=seed))
        except LawViolation:
            count += 1
    return count


def _large_phase(n: Any) -> Any:
    return ops.sin(ops.mul(ops.polygamma(np.array([0, 1, 3]), np.array([0.77, 1.3, 2.96])), n))


def test_special_values_excuses_amplified_rounding() -> None:
    """XLA rounds `polygamma` otherwise than SciPy, and 2**63 times that is many periods of the sine."""
    assert not _violations(_large_phase)


def test_special_values_rejects_errors_beside_amplification(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the factor is a small integer nothing is amplified, and a result that is 0.1 % off is one."""
    monkeypatch.setattr(Lawful, "jit", lambda self, function: lambda *args: ops.mul(function(*args), 1.001))
    assert _violations(_large_phase)


@pytest.mark.parametrize("order", [2, 3])
def test_digamma_mean_at_a_negative_zero_is_that_at_zero(order: int) -> None:
    def mean(x: Any) -> Any:
        return ops.digamma_mean_p.bind(x, np.array([0.54, 2.859]), order=order, power=1)

    expected = np.full(2, np.inf if order % 2 else -np.inf)
    for zero in (0.0, -0.0):
        for found in (mean, jit(mean, backend="numpy"), jit(mean, backend="xla")):
            np.testing.assert_array_equal(found(np.full(2, zero)), expected)


@pytest.mark.parametrize("place", [0.0012, 0.002, 0.004])
def test_special_points_says_nothing_of_a_jump_beside(place: float) -> None:
    """As of a branch cut that a line crosses between the first two points sampled."""
    line = _Line.of(lambda s: np.where(s > place, 1.0, 2.0))
    assert np.isnan(line.right[0])
    assert line.left[0] == pytest.approx(2.0)
