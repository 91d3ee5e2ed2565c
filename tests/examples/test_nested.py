"""The programs of nested derivatives give the published numbers, in every pair of modes."""

from types import ModuleType

import numpy as np
import pytest

from lawful.autodiff import grad, jvp
from lawful.staging import jit


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("program", ["saddle", "particle"])
def test_nested_published_numbers(example: ModuleType, program: str, modes: str) -> None:
    outer, inner = modes
    run = jit(lambda: example.PROGRAMS[program](example.MODES[outer], example.MODES[inner]))
    np.testing.assert_allclose(run(), example.PUBLISHED[program], rtol=1e-9)


def test_nested_wrong_result_is_reported(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert example.main(["saddle", "--modes", "ff"]) == 0
    monkeypatch.setitem(example.PROGRAMS, "saddle", lambda outer, inner: np.full(4, 8.2463249e-06))
    assert example.main(["saddle", "--modes", "ff"]) == 1


@pytest.mark.parametrize("inner", ["f", "r"])
def test_nested_landing_differentiates_in_both_modes(example: ModuleType, inner: str) -> None:
    def landing(charge: float) -> float:
        return example.landing(charge, example.MODES[inner])

    step = 1e-5
    expected = (landing(0.2 + step) - landing(0.2 - step)) / (2 * step)
    assert grad(landing)(0.2) == pytest.approx(expected, rel=1e-6)
    assert jvp(landing, (0.2,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
