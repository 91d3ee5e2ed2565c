"""`clip` between two numbers: one cached rule, with the derivatives of two operations."""

import sys
from types import FrameType
from typing import Any

import numpy
import pytest

import lawful.numpy as np
from lawful.autodiff import grad
from lawful.core import plain

X = numpy.array([-1.0, 0.25, 0.3, 0.75, 2.0, numpy.nan])


@pytest.mark.parametrize("bounds", [(0.25, 0.75), (0.75, 0.25), (0.25, 0.25), (0, 1), (0.25, None), (numpy.nan, 1.0)])
@pytest.mark.parametrize("dtype", [numpy.float64, numpy.float32])
def test_clip_agrees_with_plain(bounds: Any, dtype: Any) -> None:
    x = X.astype(dtype)
    gradient = grad(lambda x: np.sum(np.clip(x, *bounds) * x))
    with plain():
        expected = gradient(x)
    for _ in range(2):
        found = gradient(x)
        assert found.dtype == dtype
        numpy.testing.assert_array_equal(found, expected)


@pytest.mark.fast
def test_clip_replays_one_rule() -> None:
    gradient = grad(lambda x: np.sum(np.clip(x, 0.25, 0.75)))
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_name)

    for _ in range(3):
        gradient(X)
    sys.setprofile(note)
    try:
        gradient(X)
    finally:
        sys.setprofile(None)
    assert calls.count("replay_one") == 2  # clip, sum
