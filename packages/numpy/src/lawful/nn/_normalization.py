"""Functions over a dimension: softmax, means of exponentials, standardization, one-hot vectors."""

from __future__ import annotations

import math
from typing import Any

import lawful.numpy as np
from lawful import ops, special
from lawful.autodiff import stop_gradient
from lawful.core import ArgumentValueError, get_aval
from lawful.special._arguments import inexact, silent


@silent
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Returns ``exp(x) / sum(exp(x))`` over dimensions, without overflow.

    Args:
      x: an array of real numbers.
      axis: the dimension, or a tuple of them; all of them if None.
      where: which elements count; the result is 0 at the others.

    >>> softmax(np.array([0.0, 5.0, 0.0]), where=np.array([True, False, True]))
    array([0.5, 0. , 0.5])

    Source: ``jax.nn.softmax``.
    """
    if where is None:
        return special.softmax(x, axis)
    weights = np.where(where, np.exp(_shifted(inexact("softmax", x), axis, where)), 0)
    total = np.sum(weights, axis=axis, keepdims=True)
    return weights / np.where(total == 0, 1, total)  # 0 if no element counts


@silent
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Returns the logarithm of `softmax`, exact where that is small; -infinity at elements that do not count.

    >>> log_softmax(np.array([0.0, 1000.0]))
    array([-1000.,     0.])

    Source: ``jax.nn.log_softmax``.
    """
    if where is None:
        return special.log_softmax(x, axis)
    shifted = _shifted(inexact("log_softmax", x), axis, where)
    total = np.sum(np.where(where, np.exp(shifted), 0), axis=axis, keepdims=True)
    return np.where(where, shifted - np.log(np.where(total == 0, 1, total)), -np.inf)


def _shifted(x: Any, axis: Any, where: Any) -> Any:
    """Returns numbers whose largest one that counts is 0; 0 at those that do not count."""
    largest = np.max(stop_gradient(x), axis=axis, keepdims=True, where=where, initial=-np.inf)
    return np.where(where, x - largest, 0)


@silent
def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """Returns ``log(mean(exp(x)))`` over dimensions, without overflow.

    >>> logmeanexp(np.array([1000.0, 1000.0]))
    np.float64(1000.0)

    Source: ``jax.nn.logmeanexp``.
    """
    x = inexact("logmeanexp", x)
    total = special.logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    if where is not None:
        count = np.sum(np.broadcast_to(where, get_aval(x).shape), axis=axis, keepdims=keepdims)
        return total - np.log(count.astype(get_aval(x).dtype))
    shape = get_aval(x).shape
    axes = range(len(shape)) if axis is None else ops.canonical_axes("logmeanexp", axis, len(shape))
    return np.subtract(total, math.log(math.prod(shape[i] for i in axes)))


@silent
def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """Returns ``(x - mean) / sqrt(variance + epsilon)``.

    Args:
      x: an array.
      axis: the dimension of mean and variance, or a tuple of them; all of them if None.
      mean: the mean; that of ``x`` if None.
      variance: the variance; that of ``x`` if None.
      epsilon: what keeps the denominator from zero.
      where: which elements count for mean and variance.
      algorithm: how the variance is computed: ``"fast"`` as ``mean(x**2) - mean(x)**2``, which cancels where the mean
        is large, ``"stable"`` as the mean of squared differences.

    Raises:
      ArgumentValueError: there is no such algorithm.

    >>> standardize(np.array([1.0, 2.0, 3.0])).round(3)
    array([-1.225,  0.   ,  1.225])

    Source: ``jax.nn.standardize``.
    """
    if algorithm not in ("fast", "stable"):
        raise ArgumentValueError(f"standardize: expected the algorithm 'fast' or 'stable', got {algorithm!r}")
    x = inexact("standardize", x)
    options = {} if where is None else {"where": where}
    if mean is None:
        mean = np.mean(x, axis, keepdims=True, **options)
    if variance is None and algorithm == "stable":
        variance = np.mean(np.square(np.abs(x - mean)), axis, keepdims=True, **options)
    elif variance is None:
        variance = np.mean(np.square(np.abs(x)), axis, keepdims=True, **options) - np.square(np.abs(mean))
        variance = np.where(variance < 0, 0, variance)  # rounding can make it negative; the derivative at 0 is exact
    return np.subtract(x, mean) * ops.rsqrt(np.add(variance, epsilon))


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1) -> Any:
    """Returns vectors that are 1 at one position and 0 elsewhere; 0 everywhere if the position is outside.

    Args:
      x: the positions, integers.
      num_classes: the length of a vector.
      dtype: the dtype of the result; float64 by default.
      axis: the dimension of the vectors in the result.

    >>> one_hot(np.array([0, 2, 5]), 3, dtype=int)
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 0, 0]])

    Source: ``jax.nn.one_hot``.
    """
    x = np.asarray(x)
    ndim = get_aval(x).ndim + 1
    [at] = ops.canonical_axes("one_hot", axis, ndim)
    classes = np.arange(num_classes).reshape([num_classes if i == at else 1 for i in range(ndim)])
    found = np.equal(np.expand_dims(x, at), classes)
    return found.astype(np.float64 if dtype is None else dtype)
