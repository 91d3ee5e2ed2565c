"""Densities that are sums of normal ones, one at each sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops, random, tree
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy import linalg
from lawful.numpy.linalg._matrices import inexact
from lawful.special import logsumexp, ndtr


@tree.register_node_class
class gaussian_kde:  # SciPy's name
    """An estimate of the density of samples: the weighted mean of normal densities around them. It is a pytree.

    Args:
      dataset: the samples, real, of shape (d, n), or (n,) for d = 1; integers become floats.
      bw_method: the factor between the deviations of the samples and those of the normal densities: a number, or a
        function of the estimate; ``"silverman"``, or ``"scott"``, the default, for a power of the number of samples.
      weights: of the samples, of shape (n,); all equal by default.

    Attributes:
      dataset: the samples, of shape (d, n).
      weights: those of the samples, with the sum 1.
      neff: the effective number of samples.
      covariance: that of the normal densities, of shape (d, d).
      inv_cov: its inverse.

    Raises:
      ArgumentValueError: there are fewer than two samples, not as many weights, or there is no such method.
      ArgumentTypeError: the samples or the weights are complex.

    >>> estimate = gaussian_kde(np.array([0.0, 1.0, 3.0]))
    >>> estimate(np.array([1.0, 9.0]))
    array([2.14895365e-01, 6.85740401e-07])

    Source: ``scipy.stats.gaussian_kde``; Scott (1992), "Multivariate density estimation"; Silverman (1986), "Density
    estimation for statistics and data analysis".
    """

    dataset: Any
    weights: Any
    neff: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: Any, bw_method: str | float | Callable[..., Any] | None = None, weights: Any = None):
        given = [np.atleast_2d(dataset), *([] if weights is None else [np.asarray(weights)])]
        if any(get_aval(x).dtype.kind == "c" for x in given):
            raise ArgumentTypeError("gaussian_kde: expected real samples and weights, got complex ones; take parts")
        self.dataset, *rest = inexact("gaussian_kde", *given, linear_algebra=False)
        shape = get_aval(self.dataset).shape
        if len(shape) != 2 or shape[1] < 2:
            raise ArgumentValueError(f"gaussian_kde: expected at least two samples, of shape (d, n), got {shape}")
        if rest:
            if get_aval(rest[0]).shape != shape[1:]:
                raise ArgumentValueError(
                    f"gaussian_kde: expected a weight for each of {shape[1]} samples, got {get_aval(rest[0])}"
                )
            self.weights = rest[0] / np.sum(rest[0])
        else:
            self.weights = np.full(shape[1:], 1 / shape[1], get_aval(self.dataset).dtype)
        self.neff = 1 / np.sum(np.square(self.weights))
        factor = self._factor(bw_method)
        rows = self.dataset - np.sum(self.dataset * self.weights, axis=1, keepdims=True)
        # Divided as SciPy's weighted covariance without bias.
        data = (rows * self.weights) @ rows.T / (1 - np.sum(np.square(self.weights)))
        self.covariance = data * np.square(factor)
        self.inv_cov = linalg.inv(data) / np.square(factor)

    def _factor(self, method: Any) -> Any:
        if method is None or method == "scott":
            return np.power(self.neff, -1 / (self.d + 4))
        if method == "silverman":
            return np.power(self.neff * (self.d + 2) / 4, -1 / (self.d + 4))
        if isinstance(method, str):
            raise ArgumentValueError(
                f"gaussian_kde: expected bw_method='scott', 'silverman', a number or a function, got {method!r}"
            )
        factor = method(self) if callable(method) else method
        return ops.convert_element_type(factor, get_aval(self.dataset).dtype)

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return int(get_aval(self.dataset).shape[0])

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(get_aval(self.dataset).shape[1])

    def evaluate(self, points: Any) -> Any:
        """Returns the density at points of shape (d, m), or (m,) for d = 1, or (d,) for one point."""
        return np.exp(self.logpdf(points))

    def __call__(self, points: Any) -> Any:
        """Returns the density; see `evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: Any) -> Any:
        """Returns the density; see `evaluate`."""
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Any:
        """Returns the logarithm of the density; see `evaluate`."""
        points = self._points(x)
        return self._log_densities(points, self.covariance)

    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """Returns the integral of the product with a normal density of a mean and a covariance."""
        mean, cov = (np.asarray(y) for y in (mean, cov))
        mean, cov = np.reshape(mean, (-1, 1)), np.atleast_2d(cov)
        if get_aval(mean).shape != (self.d, 1) or get_aval(cov).shape != (self.d, self.d):
            raise ArgumentValueError(
                f"integrate_gaussian: expected a mean and a covariance of {self.d} dimensions, got {get_aval(mean)} "
                f"and {get_aval(cov)}"
            )
        mean, cov = inexact("integrate_gaussian", mean, cov, linear_algebra=False)
        return np.exp(self._log_densities(mean, self.covariance + cov))[0]

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """Returns the integral between two numbers, for d = 1."""
        if self.d != 1:
            raise ArgumentValueError(f"integrate_box_1d: expected samples of one dimension, got {self.d}")
        deviation = np.sqrt(self.covariance[0, 0])
        above, below = ((x - self.dataset[0]) / deviation for x in (high, low))
        # Of differences from 1 where these are smaller.
        upper = ndtr(-below) - ndtr(-above)
        return np.sum(self.weights * np.where(below > 0, upper, ndtr(above) - ndtr(below)))

    def integrate_kde(self, other: gaussian_kde) -> Any:
        """Returns the integral of the product with another estimate."""
        if other.d != self.d:
            raise ArgumentValueError(f"integrate_kde: expected samples of {self.d} dimensions, got {other.d}")
        densities = np.exp(self._log_densities(other.dataset, self.covariance + other.covariance))
        return np.sum(densities * other.weights)

    def resample(self, key: Any, shape: Any = ()) -> Any:
        """Returns random points of the estimated density, of shape (d, *shape); ``key`` is one of `lawful.random`."""
        shape = (shape,) if isinstance(shape, int | numpy.integer) else tuple(shape)
        dtype = get_aval(self.dataset).dtype
        first, second = random.split(key)
        chosen = random.choice(first, self.n, shape, p=self.weights)
        noise = random.multivariate_normal(second, np.zeros(self.d, dtype), self.covariance, shape, dtype)
        return self.dataset[:, chosen] + np.moveaxis(noise, -1, 0)

    def _points(self, x: Any) -> Any:
        [points] = inexact("gaussian_kde", np.atleast_2d(x), linear_algebra=False)
        shape = get_aval(points).shape
        if shape == (1, self.d) and self.d > 1:
            points = np.reshape(points, (self.d, 1))
        elif len(shape) != 2 or shape[0] != self.d:
            raise ArgumentValueError(f"gaussian_kde: expected points of shape ({self.d}, m), got {get_aval(points)}")
        return points

    def _log_densities(self, points: Any, covariance: Any) -> Any:
        """Returns the logarithms of the mean of normal densities around the samples."""
        factor = linalg.cholesky(covariance)
        samples, points, factor = inexact("gaussian_kde", self.dataset, points, factor)
        samples, points = (ops.triangular_solve(factor, x, left_side=True, lower=True) for x in (samples, points))
        energies = np.sum(np.square(points[:, None] - samples[:, :, None]), axis=0) / 2
        scale = self.d / 2 * math.log(2 * math.pi) + np.sum(np.log(np.diagonal(factor)))
        return logsumexp(-energies - scale, axis=0, b=self.weights[:, None])

    def tree_flatten(self) -> tuple[Any, None]:
        """Returns the arrays."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> gaussian_kde:
        """Returns the estimate of such arrays."""
        estimate = object.__new__(cls)
        estimate.neff, estimate.dataset, estimate.weights, estimate.covariance, estimate.inv_cov = children
        return estimate
