"""A Gaussian mixture: the log-likelihood of points, and a Wishart prior of the precision matrices. Gradient.

Component k of K has the unnormalized log-weight α_k, the mean μ_k and the precision matrix R_kᵀ R_k, where R_k is lower
triangular: exp(q_k) on its diagonal, l_k below it, column by column. The logarithm of the density of n points x_i in d
dimensions is

    -½ n d log 2π + Σ_i logsumexp_k (α_k + Σ q_k - ½ |R_k (x_i - μ_k)|²) - n logsumexp α.

The prior of each R_k adds log C + m Σ q_k - ½ γ² |R_k|². Points are as GradBench generates them from the same seed.

Source: Srajer, Kukelova, Fitzgibbon, A benchmark of selected algorithmic differentiation tools (2018); ADBench, which
subtracts the prior, and GradBench, which adds it as here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.ops import at
from lawful.special import logsumexp, multigammaln

from .objective import Objective

SIZES = {
    "tiny": {"d": 2, "k": 3, "n": 20},
    "small": {"d": 2, "k": 5, "n": 1000},
    "medium": {"d": 10, "k": 25, "n": 1000},
    "large": {"d": 64, "k": 25, "n": 1000},
}


def generate(d: int, k: int, n: int, seed: int) -> tuple[Any, Any]:
    """Returns ``(alpha, means, q, l)`` of shapes (k,), (k, d), (k, d), (k, d (d - 1) / 2), and the (n, d) points."""
    rng = numpy.random.RandomState(seed)
    lower = d * (d - 1) // 2
    means = rng.uniform(size=200 * d)[: k * d].reshape(k, d)
    normal = rng.normal(size=200 * (1 + d + lower) + 10_000 * d)
    alpha, factors, points = numpy.split(normal, [k, k + k * (d + lower)])
    q, below = numpy.split(factors.reshape(k, d + lower), [d], axis=1)
    return (alpha, means, q, below), points[: n * d].reshape(n, d)


def log_weighted_density(alpha: Any, mean: Any, q: Any, below: Any, x: Any) -> Any:
    """Returns the log-density of one component at the point ``x``, up to the constants of all."""
    d = len(q)
    columns, rows = numpy.triu_indices(d, 1)
    root = at(np.zeros((d, d)))[rows, columns].set(below)
    centred = x - mean
    return alpha + np.sum(q) - 0.5 * np.sum(np.square(np.exp(q) * centred + root @ centred))


def log_likelihood(parameters: Any, points: Any) -> Any:
    """Returns the logarithm of the density of the points."""
    n, d = points.shape
    of_components = vmap(log_weighted_density, in_axes=(0, 0, 0, 0, None))
    densities = vmap(lambda x: logsumexp(of_components(*parameters, x)))(points)
    return np.sum(densities) - n * (0.5 * d * math.log(2.0 * math.pi) + logsumexp(parameters[0]))


def log_prior(q: Any, below: Any, gamma: float = 1.0, m: int = 0) -> Any:
    """Returns the logarithm of the density of the Wishart prior."""
    k, d = q.shape
    freedom = d + m + 1
    constant = freedom * d * math.log(gamma / math.sqrt(2.0)) - multigammaln(0.5 * freedom, d)
    size = np.sum(np.exp(2.0 * q)) + np.sum(np.square(below))
    return k * constant + m * np.sum(q) - 0.5 * gamma**2 * size


def log_posterior(parameters: Any, points: Any) -> Any:
    """Returns the objective."""
    _, _, q, below = parameters
    return log_likelihood(parameters, points) + log_prior(q, below)


gmm = Objective(name="gmm", sizes=SIZES, generate=generate, value=log_posterior, derivative=grad(log_posterior))
