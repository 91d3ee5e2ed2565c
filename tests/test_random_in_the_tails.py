"""Draws from the tails of a normal distribution, held to SciPy's distribution function."""

from typing import Any

import numpy as np
import pytest
from scipy import special

from lawful import random
from lawful.staging import jit

KEY = random.key(7)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 3e-5), ("float16", 0.1)])
@pytest.mark.parametrize("bounds", [(6.25, np.inf), (8.0, 8.125), (25.0, 30.0), (5.0, 1e4)])
def test_truncated_normal_in_the_tails(dtype: str, tolerance: float, bounds: tuple[float, float]) -> None:
    """The survival function takes the numbers to the uniform ones that they are made of."""
    low, high = (np.array(bound, dtype)[()] for bound in bounds)
    if dtype == "float64" and low < 6:  # up to there the numbers are those of JAX's formula, which loses digits
        low = np.float64(7.0)
    between = random.uniform(KEY, (300,), dtype).astype(float)
    drawn = random.truncated_normal(KEY, low, high, (300,), dtype)
    assert (drawn > low).all()
    assert (drawn < high).all()
    ends = [special.log_ndtr(-float(x)) for x in (low, high)]
    found = np.expm1(special.log_ndtr(-drawn.astype(float)) - ends[0]) / np.expm1(ends[1] - ends[0])
    # Rounding a number moves its rank by the density.
    rounding = float(np.spacing(low)) * float(low) / -np.expm1(ends[1] - ends[0])
    assert np.abs(found - between).max() < tolerance + 4 * rounding
    mirrored = random.truncated_normal(KEY, -high, -low, (300,), dtype)
    np.testing.assert_array_equal(mirrored, -drawn)

    def of_bounds(low: Any, high: Any) -> Any:
        return random.truncated_normal(KEY, low, high, (300,), dtype)

    np.testing.assert_array_equal(jit(of_bounds, backend="numpy")(low, high), drawn)
