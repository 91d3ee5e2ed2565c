"""The determinant of a small matrix, by expansion by minors. Gradient.

det A = Σ_j (-1)^j a_0j det A_j, where A_j is A without its first row and column j. All minors of one size are one
stacked array, so that a matrix of n rows takes n! products in n steps. By hand the gradient is det A · A⁻ᵀ.

This is no way to compute a determinant; it is a program with many operations, and `lawful.numpy.linalg.det` is left
out on purpose. Source: Bell's cmpad, "det_by_minor"; GradBench, eval "det", whose matrices these are.
"""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import grad

from .objective import Objective

SIZES = {"tiny": {"n": 3}, "small": {"n": 5}, "medium": {"n": 7}, "large": {"n": 9}}


def generate(n: int, seed: int) -> tuple[Any, Any]:
    """Returns an (n, n) matrix of numbers between 0 and 1, and no data."""
    return numpy.random.RandomState(seed).uniform(size=(n, n)), ()


def expansion(matrices: Any) -> Any:
    """Returns the determinants of matrices of shape (..., n, n)."""
    n = matrices.shape[-1]
    if n == 1:
        return matrices[..., 0, 0]
    others = numpy.array([[k for k in range(n) if k != j] for j in range(n)])
    # (..., row, j, column) to (..., j, row, column)
    minors = np.swapaxes(matrices[..., 1:, others], -3, -2)
    signs = (-1.0) ** numpy.arange(n)
    return np.sum(signs * matrices[..., 0, :] * expansion(minors), axis=-1)


def determinant_by_minors(a: Any, _: Any) -> Any:
    """Returns the determinant."""
    return expansion(a)


def cofactors(a: Any, _: Any) -> Any:
    """Returns the gradient by hand."""
    return numpy.linalg.det(a) * numpy.linalg.inv(a).T


determinant = Objective(
    name="determinant",
    sizes=SIZES,
    generate=generate,
    value=determinant_by_minors,
    derivative=grad(determinant_by_minors),
    by_hand=cofactors,
)
