"""The derivatives of cumulative extrema and of cumlogsumexp after a NaN are 0, in both modes, eagerly and compiled."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jacfwd, jacrev
from lawful.staging import jit

X = np.array([1.0, 3.0, np.nan, 2.0, 5.0])


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
@pytest.mark.parametrize("mode", [jacfwd, jacrev])
@pytest.mark.parametrize("function", [ops.cummax, ops.cummin, ops.cumlogsumexp])
def test_jacobian_after_nan_is_zero_in_both_modes(function: Any, mode: Any, backend: str) -> None:
    jacobian = mode(function)
    found = np.asarray((jit(jacobian, backend=backend) if backend else jacobian)(X))
    wanted = np.zeros((5, 5))
    wanted[:2, :2] = mode(function)(X[:2])
    # XLA's exponential differs from NumPy's by rounding; extrema are exact.
    np.testing.assert_allclose(found, wanted, rtol=1e-14 if function is ops.cumlogsumexp else 0)
