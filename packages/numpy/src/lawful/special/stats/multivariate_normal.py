"""The normal distribution of vectors.

>>> import numpy
>>> from lawful.special.stats import multivariate_normal
>>> multivariate_normal.logpdf(numpy.zeros(2), numpy.zeros(2), numpy.eye(2))
np.float64(-1.8378770664093...)

Source: ``scipy.stats.multivariate_normal``, ``jax.scipy.stats.multivariate_normal``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy import broadcast_shapes, broadcast_to, diagonal
from lawful.special._arguments import composed, inexact
from lawful.special.stats import norm


@composed
def logpdf(x: Any, mean: Any, cov: Any, allow_singular: None = None) -> Any:
    """Returns the logarithm of the density.

    Args:
      x: vectors, of shape (..., n); or numbers, where ``mean`` is one.
      mean: vectors of shape (..., n), or a number.
      cov: positive definite matrices of shape (..., n, n), or a number, which is multiplied with the unit matrix.
      allow_singular: has to be None.

    Raises:
      ArgumentValueError: the shapes do not fit, or ``allow_singular`` is given.

    Of a matrix that is not positive definite comes NaN.

    >>> import numpy as np
    >>> round(float(logpdf(np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([[1.0, 0.0], [0.0, 2.0]]))), 3)
    -2.934
    """
    if allow_singular is not None:
        raise ArgumentValueError(
            f"multivariate_normal.logpdf: expected no allow_singular, got {allow_singular!r}; make cov definite"
        )
    x, mean, cov = (inexact("multivariate_normal.logpdf", z) for z in (x, mean, cov))
    if not get_aval(mean).shape:
        return norm.logpdf(x, mean, ops.sqrt(cov))
    size, shape = get_aval(mean).shape[-1], get_aval(cov).shape
    if not shape:
        cov = ops.mul(cov, numpy.eye(size, dtype=get_aval(cov).dtype))
    elif len(shape) < 2 or shape[-2:] != (size, size):
        raise ArgumentValueError(
            f"multivariate_normal.logpdf: expected a covariance of shape (..., {size}, {size}), got {shape}; "
            "make it fit the last dimension of mean"
        )
    return _of_vectors(ops.sub(x, mean), cov, size)


def _of_vectors(distance: Any, cov: Any, size: int) -> Any:
    dtype = numpy.promote_types(get_aval(distance).dtype, get_aval(cov).dtype)
    distance, cov = (ops.convert_element_type(z, dtype) for z in (distance, cov))
    root = ops.cholesky(cov)
    y = _solved(root, distance, size)
    total = ops.numpy_reduction.sum(ops.mul(ops.square(y), 0.5), axis=-1)
    log_root = ops.numpy_reduction.sum(ops.log(diagonal(root, axis1=-2, axis2=-1)), axis=-1)
    return ops.neg(ops.add(ops.add(total, log_root), size / 2 * math.log(2 * math.pi)))


def _solved(root: Any, distance: Any, size: int) -> Any:
    """Returns vectors multiplied by the inverses of lower triangular matrices."""
    shape, matrices = get_aval(distance).shape, get_aval(root).shape[:-2]
    if not matrices:  # one system, with the vectors as the right sides
        rows = ops.reshape(distance, (math.prod(shape[:-1]), size))
        columns = ops.triangular_solve(root, ops.transpose(rows, (1, 0)), left_side=True, lower=True)
        return ops.reshape(ops.transpose(columns, (1, 0)), shape)
    batch = broadcast_shapes(shape[:-1], matrices)
    column = ops.expand_dims(broadcast_to(distance, (*batch, size)), (len(batch) + 1,))
    root = broadcast_to(root, (*batch, size, size))
    return ops.squeeze(ops.triangular_solve(root, column, left_side=True, lower=True), (len(batch) + 1,))


@composed
def pdf(x: Any, mean: Any, cov: Any) -> Any:
    """Returns the density.

    >>> import numpy as np
    >>> round(float(pdf(np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([[1.0, 0.0], [0.0, 2.0]]))), 3)
    0.053
    """
    return ops.exp(logpdf(x, mean, cov))
