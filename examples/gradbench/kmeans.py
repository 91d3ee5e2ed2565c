"""K-means: the squared distances of points to the nearest of k centroids. Gradient, Hessian and Newton's direction.

The Hessian of f(C) = Σ_i min_j |x_i - C_j|² is diagonal almost everywhere, so its product with a vector of ones, one
`jvp` of the gradient, is all of it. By hand: with n_j points of mean m_j nearest to C_j, the gradient is
2 n_j (C_j - m_j) and the Hessian 2 n_j, so that Newton's direction leads to the means.

Source: Bottou, Bengio, Convergence properties of the k-means algorithms (1994); GradBench, whose points these are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful.autodiff import grad, jvp

from .objective import Objective, along_gradient

SIZES = {
    "tiny": {"k": 5, "n": 100, "d": 3},
    "small": {"k": 10, "n": 1000, "d": 8},
    "medium": {"k": 100, "n": 10_000, "d": 8},
    "large": {"k": 100, "n": 100_000, "d": 16},
}


class Newton(NamedTuple):
    """The gradient, the diagonal of the Hessian and their quotient, each of the shape of the centroids."""

    gradient: Any
    hessian: Any
    direction: Any


def generate(k: int, n: int, d: int, seed: int) -> tuple[Any, Any]:
    """Returns the (k, d) centroids, which are among the points, and the (n, d) points."""
    points = numpy.random.RandomState(seed).uniform(size=(n, d))
    return points[-k:].copy(), points


def cost(centroids: Any, points: Any) -> Any:
    """Returns the sum of the squared distances of the points to their nearest centroids."""
    lengths = np.sum(np.square(centroids), axis=1) - 2.0 * points @ centroids.T
    return np.sum(np.square(points)) + np.sum(np.min(lengths, axis=1))


def newton(centroids: Any, points: Any) -> Newton:
    """Returns the derivatives, and the direction which leads to the minimum if no point changes its centroid."""
    gradient, hessian = jvp(lambda c: grad(cost)(c, points), (centroids,), (np.ones_like(centroids),))
    return Newton(gradient, hessian, gradient / hessian)


def newton_by_hand(centroids: Any, points: Any) -> Newton:
    """Returns the same from the means of the points."""
    nearest = numpy.argmin(numpy.sum((points[:, None] - centroids) ** 2, axis=2), axis=1)
    counts = numpy.bincount(nearest, minlength=len(centroids))[:, None]
    sums = numpy.stack([points[nearest == j].sum(axis=0) for j in range(len(centroids))])
    direction = centroids - sums / counts
    hessian = 2.0 * numpy.broadcast_to(counts, centroids.shape)
    return Newton(hessian * direction, hessian, direction)


kmeans = Objective(
    name="kmeans",
    sizes=SIZES,
    generate=generate,
    value=cost,
    derivative=newton,
    along=lambda derivative, direction, points: along_gradient(derivative.gradient, direction, points),
    by_hand=newton_by_hand,
    # In a larger step many points would change their centroids.
    step=1e-6,
)
