"""Least squares: a polynomial with m coefficients x through the signs of n places between -1 and 1. Gradient.

f(x) = ½ |s - T x|², where t_i = -1 + 2 i / (n - 1), s_i = sign t_i and T is the Vandermonde matrix T_ij = t_i^j.
By hand the gradient is Tᵀ (T x - s).

Source: Bell's cmpad, "llsq_obj"; GradBench, eval "llsq", whose coefficients these are for the first size that it runs.
"""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import grad

from .objective import Objective

SIZES = {
    "tiny": {"n": 16, "m": 8},
    "small": {"n": 16, "m": 128},
    "medium": {"n": 1024, "m": 128},
    "large": {"n": 16392, "m": 128},
}


def generate(n: int, m: int, seed: int) -> tuple[Any, Any]:
    """Returns m coefficients and the n places."""
    coefficients = numpy.random.RandomState(seed).uniform(size=m)
    return coefficients, numpy.linspace(-1.0, 1.0, n)


def half_square(x: Any, t: Any) -> Any:
    """Returns half the sum of the squared residuals."""
    return 0.5 * np.sum(np.square(np.sign(t) - np.vander(t, len(x), increasing=True) @ x))


def normal_residual(x: Any, t: Any) -> Any:
    """Returns the gradient by hand."""
    powers = numpy.vander(t, len(x), increasing=True)
    return powers.T @ (powers @ x - numpy.sign(t))


least_squares = Objective(
    name="least_squares",
    sizes=SIZES,
    generate=generate,
    value=half_square,
    derivative=grad(half_square),
    by_hand=normal_residual,
)
