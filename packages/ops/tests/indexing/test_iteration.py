"""Iterations of arrays, which end for each element separately."""

from typing import Any

import numpy as np
import pytest

from lawful.ops._special.gamma import incomplete_gamma as _incomplete_gamma
from lawful.ops._support.iteration import Iteration


def test_iteration_without_elements() -> None:
    def step(active: Any, x: Any) -> Any:
        raise AssertionError

    for shape in ((0,), (2, 0)):
        active, x = Iteration(lambda x: (x == x, x), step).evaluate(np.zeros(shape))
        assert (active.shape, active.dtype, x.shape, x.dtype) == (shape, bool, shape, np.float64)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.float32, np.float64])
def test_iteration_keeps_elements_that_ended(dtype: Any) -> None:
    """Converged elements are removed while the others continue."""

    def step(active: Any, left: Any, x: Any) -> Any:
        return active & (left > 1), left - 1, np.where(active, x * 2 + x, x).astype(dtype)

    iteration = Iteration(lambda left, x: (left > 0, left, x), step)
    left = np.arange(40) % 9
    x = np.linspace(1, 7, 40).astype(dtype)
    with np.errstate(all="ignore"):
        active, _, found = iteration.evaluate(left, x)
        expected = []
        for turns, element in zip(left, x, strict=True):
            for _ in range(turns):
                element = (element * dtype(2) + element).astype(dtype)
            expected.append(element)
    assert not active.any()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("method", [0, 1], ids=["series", "fraction"])
def test_iteration_steps_of_numbers_equal_series(method: int) -> None:
    """Order 0 has separate, faster steps, equal to the first coefficients of the steps on series."""
    a, x = np.random.default_rng(0).exponential(3.0, (2, 40))
    numbers, series = (_incomplete_gamma._algorithm(order, False).iterations[method] for order in (0, 1))
    first, second = numbers.start(a, x), series.start(a, x)
    for _ in range(20):
        first, second = numbers.step(*first), series.step(*second)
        for coefficient, pair in zip(first[4:], zip(second[4::2], second[5::2], strict=True), strict=True):
            np.testing.assert_allclose(coefficient, pair[0], rtol=1e-13)
