"""Finite differences are right far below the tolerance of the laws, or say nothing."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.laws import Case, Inapplicable, RandomChoose, draw_program, law_jvp_finite_differences, usual
from lawful.laws._derivatives.directions import is_wide, restrict, tangents_of
from lawful.laws._derivatives.forward import finite_differences
from lawful.laws._law.law import Trial
from lawful.laws.systems import lawful


def errors_of(case: Case) -> float:
    """Returns how far finite differences of a case are from its derivative, relative to one plus the largest of it."""
    trial = Trial(lawful, case, usual, np.random.default_rng(case.seed))
    with np.errstate(all="ignore"):
        function, leaves = restrict(trial, is_wide)
        direction = tangents_of(trial, leaves)
        exact = lawful.jvp(function, leaves, direction)[1]
        found = finite_differences(trial, function, leaves, direction)
    return max(
        float(np.max(np.abs(x - y), initial=0.0) / (1 + np.max(np.abs(x), initial=0.0)))
        for x, y in zip(exact, found, strict=True)
    )


def test_finite_differences_far_more_precise_than_the_law_asks() -> None:
    errors = []
    for seed in range(150):
        with suppress(Inapplicable):
            errors.append(errors_of(draw_program(RandomChoose(seed))))
    assert len(errors) > 135
    assert np.quantile(errors, 0.9) < 1e-10
    assert max(errors) < 1e-7


kinks: dict[str, Callable[[Any], Any]] = {
    "kink": lambda x: ops.add(ops.abs(x), ops.sin(x)),
    "jump": lambda x: ops.add(ops.sign(x), ops.sin(x)),
    "corner": lambda x: ops.max(x, ops.mul(x, 3.0)),
    "clipped": lambda x: ops.clamp(0.0, x, 1.0),
}


@pytest.mark.parametrize("name", list(kinks))
def test_finite_differences_say_nothing_at_and_near_kinks(name: str) -> None:
    """Whatever the distance, a derivative that is right on its side is never rejected."""
    distances = [0.0, *(sign * 2.0**-power for power in range(5, 60) for sign in (-1, 1))]
    applicable = 0
    for distance in distances:
        with suppress(Inapplicable):
            law_jvp_finite_differences(lawful, Case.of(kinks[name], np.array(distance)))
            applicable += 1
    assert 10 <= applicable <= 30


def test_finite_differences_see_derivative_wrong_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ops.sin_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any) -> Any:
        out, tangent = right(primals, tangents)
        return out, ops.mul(tangent, 1 + 1e-5)

    monkeypatch.setitem(ops.sin_p.rules, "jvp", wrong)
    with pytest.raises(AssertionError, match="finite differences"):
        law_jvp_finite_differences(lawful, Case.of(ops.sin, np.array([0.1, 0.5])))
