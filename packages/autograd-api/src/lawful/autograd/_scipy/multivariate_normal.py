"""The normal distribution of vectors, also with singular covariance matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful.autograd._primitive.function import getval
from lawful.core import ArgumentValueError, Tracer
from lawful.special.stats import multivariate_normal


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """Returns the logarithm of the density.

    Args:
      x: vectors, along the last dimension, or numbers.
      mean: the mean; 0 if None.
      cov: the covariance matrix, or a number, which is multiplied with the unit matrix.
      allow_singular: whether the matrix may be singular; then there is no derivative by it, and the density is 0
        outside of the space that its columns span.

    Raises:
      ArgumentValueError: a matrix that may be singular is traced.
    """
    x, cov = np.asarray(x), np.asarray(cov)
    if mean is None:
        mean = numpy.zeros(x.shape[-1:] if x.ndim and cov.ndim != 0 else ())
    mean = np.asarray(mean)
    if allow_singular:
        return _singular(x - mean, cov)
    size = mean.shape[-1] if mean.ndim else 1
    if size == 1 and cov.ndim:
        mean, cov = np.reshape(mean, ()), np.reshape(cov, ())
        x = x[..., 0] if x.ndim and x.shape[-1] == 1 else x
    return multivariate_normal.logpdf(x, mean, cov)


def _singular(distance: Any, cov: Any) -> Any:
    if isinstance(cov, Tracer):
        raise ArgumentValueError(
            "multivariate_normal: expected a covariance matrix that is not differentiated with allow_singular=True, "
            "got a tracer; the density has no derivative there: leave allow_singular out"
        )
    distance, cov = np.atleast_1d(distance), numpy.atleast_2d(getval(cov))
    values, vectors = numpy.linalg.eigh(cov)
    # SciPy's bound for eigenvalues that count as 0.
    positive = values > 1e6 * numpy.finfo(values.dtype).eps * numpy.abs(values).max()
    root = vectors[:, positive] / numpy.sqrt(values[positive])
    log_norm = positive.sum() * math.log(2 * math.pi) + numpy.log(values[positive]).sum()
    outside = np.linalg.norm(getval(distance) @ vectors[:, ~positive], axis=-1) > 1e-8 * numpy.abs(values).max() ** 0.5
    return np.where(outside, -math.inf, -0.5 * (log_norm + np.sum(np.square(distance @ root), axis=-1)))


def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """Returns the density; arguments are those of `logpdf`."""
    return np.exp(logpdf(x, mean, cov, allow_singular))


def entropy(mean: Any = None, cov: Any = 1) -> Any:
    """Returns the entropy, which does not depend on the mean."""
    size = np.size(mean) if np.ndim(cov) == 0 and mean is not None else 1
    cov = np.atleast_2d(cov) * numpy.eye(size) if size > 1 else np.atleast_2d(cov)
    return 0.5 * (cov.shape[-1] * (1.0 + math.log(2 * math.pi)) + np.linalg.slogdet(cov)[1])


#: The functions by name.
functions = {"logpdf": logpdf, "pdf": pdf, "entropy": entropy}
