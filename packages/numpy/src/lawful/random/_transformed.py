"""Numbers of distributions that are functions of uniform, normal or gamma distributed ones.

Law: they are those of ``jax.random`` for the same dtype, up to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful.core import ArgumentValueError, as_dtype, get_aval, is_float, promote_dtypes
from lawful.random._distributions import bernoulli, exponential, normal, shape_or_that_of
from lawful.random._gamma import gamma, loggamma
from lawful.random._keys import require_key, shape_of, split
from lawful.random._uniform import floating, parameters, uniform


def _given(name: str, shape: Any, dtype: Any, *given: Any) -> tuple[tuple[int, ...], Any, list[Any]]:
    """Returns the shape of the result, its dtype, and the parameters of this dtype."""
    dtype = floating(name, dtype)
    values = parameters(name, dtype, *given)
    return shape_or_that_of(name, shape, *values), dtype, values


def laplace(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the Laplace distribution of scale 1.

    Args:
      key: a key.
      shape: that of the result.
      dtype: a real floating dtype.

    >>> from lawful.random import key
    >>> laplace(key(0), (3,)).shape
    (3,)

    Source: ``jax.random.laplace``.
    """
    dtype = floating("laplace", dtype)
    u = uniform(key, shape, dtype, -1.0 + float(np.finfo(dtype).epsneg), 1.0)
    return np.sign(u) * np.log1p(-np.abs(u))


def logistic(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the logistic distribution.

    >>> from lawful.random import key
    >>> logistic(key(0), (3,)).round(3)
    array([-0.329, -1.287,  3.326])

    Source: ``jax.random.logistic``.
    """
    dtype = floating("logistic", dtype)
    u = uniform(key, shape, dtype, float(np.finfo(dtype).eps), 1.0)
    return np.log(u / (1 - u))


def cauchy(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the Cauchy distribution.

    >>> from lawful.random import key
    >>> cauchy(key(0), (3,)).round(3)
    array([-0.262, -1.238,  9.143])

    Source: ``jax.random.cauchy``.
    """
    dtype = floating("cauchy", dtype)
    u = uniform(key, shape, dtype, float(np.finfo(dtype).eps), 1.0)
    return np.tan(dtype.type(math.pi) * (u - dtype.type(0.5)))


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the Pareto distribution of shape ``b``.

    >>> from lawful.random import key
    >>> pareto(key(0), 3.0, (3,)).round(3)
    array([1.198, 1.085, 3.067])

    Source: ``jax.random.pareto``.
    """
    shape, dtype, (b,) = _given("pareto", shape, dtype, b)
    return np.exp(exponential(key, shape, dtype) / b)


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the Rayleigh distribution.

    >>> from lawful.random import key
    >>> rayleigh(key(0), 2.0, (3,)).round(3)
    array([2.64 , 3.5  , 0.531])

    Source: ``jax.random.rayleigh``.
    """
    shape, dtype, (scale,) = _given("rayleigh", shape, dtype, scale)
    return scale * np.sqrt(-2 * np.log(uniform(key, shape, dtype)))


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the Weibull distribution.

    >>> from lawful.random import key
    >>> weibull_min(key(0), 2.0, 1.5, (3,)).round(3)
    array([1.33 , 0.78 , 4.488])

    Source: ``jax.random.weibull_min``.
    """
    dtype = floating("weibull_min", dtype)
    scale, concentration = parameters("weibull_min", dtype, scale, concentration)
    return np.power(-np.log1p(-uniform(key, shape, dtype)), np.divide(1.0, concentration)) * scale


def maxwell(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns lengths of vectors of three normal numbers.

    >>> from lawful.random import key
    >>> maxwell(key(0), (3,)).round(3)
    array([1.989, 0.425, 1.24 ])

    Source: ``jax.random.maxwell``.
    """
    drawn = normal(key, (*shape_of("maxwell", shape), 3), floating("maxwell", dtype))
    return np.linalg.norm(drawn, axis=-1)


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the Maxwell distribution with random signs.

    >>> from lawful.random import key
    >>> double_sided_maxwell(key(0), 0.0, 1.0, (3,)).round(3)
    array([ 1.985, -2.478, -1.633])

    Source: ``jax.random.double_sided_maxwell``.
    """
    inner, dtype, (loc, scale) = _given("double_sided_maxwell", None, dtype, loc, scale)
    whole = (*shape_of("double_sided_maxwell", shape), *inner)
    of_length, of_sign = split(key)
    return rademacher(of_sign, whole, dtype) * maxwell(of_length, whole, dtype) * scale + loc


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = float) -> Any:
    """Returns exponentials of normal numbers of a standard deviation.

    >>> from lawful.random import key
    >>> lognormal(key(0), 0.5, (3,)).round(3)
    array([0.902, 0.675, 2.479])

    Source: ``jax.random.lognormal``.
    """
    shape, dtype, (sigma,) = _given("lognormal", shape, dtype, sigma)
    return np.exp(normal(key, shape, dtype) * sigma)


def rademacher(key: Any, shape: Any = (), dtype: Any = int) -> Any:
    """Returns -1 or 1 with equal probability.

    >>> from lawful.random import key
    >>> rademacher(key(0), (5,))
    array([ 1,  1, -1, -1, -1])

    Source: ``jax.random.rademacher``.
    """
    drawn = bernoulli(key, 0.5, shape_of("rademacher", shape))
    dtype = as_dtype(int if dtype is None else dtype)
    return (2 * drawn.astype(dtype) - 1).astype(dtype)


def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the triangular distribution.

    >>> from lawful.random import key
    >>> triangular(key(0), 0.0, 1.0, 4.0, (3,)).round(3)
    array([1.358, 0.93 , 3.355])

    Source: ``jax.random.triangular``.
    """
    shape, dtype, (left, mode, right) = _given("triangular", shape, dtype, left, mode, right)
    u = uniform(key, shape, dtype)
    below = left + np.sqrt(u * (right - left) * (mode - left))
    above = right - np.sqrt((1 - u) * (right - left) * (right - mode))
    return np.where(u < (mode - left) / (right - left), below, above)


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the Wald distribution, inverse Gaussian of scale 1.

    >>> from lawful.random import key
    >>> wald(key(0), 2.0, (3,)).round(3)
    array([0.223, 3.901, 3.57 ])

    Source: ``jax.random.wald``.
    """
    shape, dtype, (mean,) = _given("wald", shape, dtype, mean)
    of_normal, of_uniform = split(key)
    y = np.square(normal(of_normal, shape, dtype))
    x = mean + mean**2 * y / 2 - mean / 2 * np.sqrt(4 * mean * y + mean**2 * y**2)
    return np.where(uniform(of_uniform, shape, dtype) <= mean / (mean + x), x, mean**2 / x)


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the chi-squared distribution.

    >>> from lawful.random import key
    >>> chisquare(key(0), 3.0, (3,)).round(3)
    array([1.814, 1.448, 5.98 ])

    Source: ``jax.random.chisquare``.
    """
    shape, dtype, (df,) = _given("chisquare", shape, dtype, df)
    return 2 * np.exp(loggamma(key, df / 2, shape, dtype))


def t(key: Any, df: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of Student's t distribution.

    >>> from lawful.random import key
    >>> t(key(0), 3.0, (3,)).round(3)
    array([ 1.401, -0.607,  1.122])

    Source: ``jax.random.t``.
    """
    shape, dtype, (df,) = _given("t", shape, dtype, df)
    of_normal, of_gamma = split(key)
    return normal(of_normal, shape, dtype) * np.sqrt(df / 2 / gamma(of_gamma, df / 2, shape, dtype))


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the F distribution.

    >>> from lawful.random import key
    >>> f(key(0), 3.0, 5.0, (3,)).round(3)
    array([1.548, 0.357, 0.093])

    Source: ``jax.random.f``.
    """
    shape, dtype, (dfnum, dfden) = _given("f", shape, dtype, dfnum, dfden)
    below, above = split(key)
    return (chisquare(above, dfnum, shape, dtype) / dfnum) / (chisquare(below, dfden, shape, dtype) / dfden)


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the beta distribution.

    >>> from lawful.random import key
    >>> beta(key(0), 2.0, 3.0, (3,)).round(3)
    array([0.328, 0.614, 0.76 ])

    Source: ``jax.random.beta``.
    """
    shape, dtype, (a, b) = _given("beta", shape, dtype, a, b)
    of_a, of_b = split(key)
    log_a, log_b = loggamma(of_a, a, shape, dtype), loggamma(of_b, b, shape, dtype)
    largest = np.maximum(log_a, log_b)
    first, second = np.exp(log_a - largest), np.exp(log_b - largest)
    return first / (first + second)


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns vectors of the Dirichlet distribution, of positive numbers that add up to 1.

    Args:
      key: a key.
      alpha: the concentrations, an array of shape (…, n).
      shape: that of the result, without its last dimension; by default that of ``alpha``.
      dtype: a real floating dtype.

    >>> from lawful.random import key
    >>> dirichlet(key(0), np.array([1.0, 2.0, 3.0])).round(3)
    array([0.071, 0.167, 0.762])

    Source: ``jax.random.dirichlet``.
    """
    dtype = floating("dirichlet", dtype)
    (alpha,) = parameters("dirichlet", dtype, alpha)
    *batch, n = get_aval(alpha).shape
    whole = (*(batch if shape is None else shape_of("dirichlet", shape)), n)
    logarithms = loggamma(key, alpha, whole, dtype)
    weights = np.exp(logarithms - np.max(logarithms, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of density proportional to ``exp(-|x|**p)``.

    >>> from lawful.random import key
    >>> generalized_normal(key(0), 4.0, (3,)).round(3)
    array([ 0.708, -0.981, -0.128])

    Source: ``jax.random.generalized_normal``.
    """
    dtype = floating("generalized_normal", dtype)
    of_gamma, of_sign = split(key)
    shape = shape_of("generalized_normal", shape)
    (p,) = parameters("generalized_normal", dtype, p)
    return rademacher(of_sign, shape, dtype) * gamma(of_gamma, 1 / p, shape, dtype) ** (1 / p)


def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = float) -> Any:
    """Returns points that are uniform in the unit ball of the p-norm, of ``d`` numbers.

    >>> from lawful.random import key
    >>> np.linalg.norm(ball(key(0), 2, shape=(3,)), axis=-1) < 1
    array([ True,  True,  True])

    Source: ``jax.random.ball``.
    """
    dtype = floating("ball", dtype)
    shape = shape_of("ball", shape)
    (p,) = parameters("ball", dtype, p)
    of_point, of_radius = split(key)
    point = generalized_normal(of_point, p, (*shape, d), dtype)
    total = np.sum(np.abs(point) ** p, axis=-1) + exponential(of_radius, shape, dtype)
    return point / (total ** (1 / p))[..., None]


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = int) -> Any:
    """Returns how many trials of probability ``p`` it takes to succeed once.

    >>> from lawful.random import key
    >>> geometric(key(0), 0.25, (5,))
    array([4, 6, 1, 2, 3])

    Source: ``jax.random.geometric``.
    """
    shape, own, (p,) = _given("geometric", shape, _dtype_of_parameters(p), p)
    u = uniform(key, shape, own)
    u = np.where(u == 0, np.ones_like(u), u)
    return np.astype(np.floor(np.log(u) / np.log1p(-p)) + 1, as_dtype(int if dtype is None else dtype))


def _dtype_of_parameters(*values: Any) -> numpy.dtype[Any]:
    """Returns the dtype that parameters have together, if it is a real floating one; float64 otherwise."""
    found = [np.asarray(x) if isinstance(x, list | tuple) else x for x in values]
    dtype, _ = promote_dtypes(*[(get_aval(x).dtype, get_aval(x).weak_type) for x in found])
    return dtype if is_float(dtype) else numpy.dtype(float)


def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = float, m: int | None = None) -> Any:
    """Returns matrices that are uniform among those with orthonormal rows or columns, of shape (n, m).

    >>> from lawful.random import key
    >>> q = orthogonal(key(0), 3)
    >>> q.shape, bool(np.allclose(q @ q.T, np.eye(3)))
    ((3, 3), True)

    Source: ``jax.random.orthogonal``.
    """
    m = n if m is None else m
    drawn = normal(key, (*shape_of("orthogonal", shape), max(n, m), min(n, m)), dtype)
    q, r = np.linalg.qr(drawn)
    diagonal = np.linalg.diagonal(r)
    q = q * (diagonal / np.abs(diagonal))[..., None, :]
    return np.conj(np.matrix_transpose(q)) if n < m else q


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky"
) -> Any:
    """Returns vectors of the normal distribution of a mean and a covariance.

    Args:
      key: a key.
      mean: an array of shape (…, n).
      cov: an array of shape (…, n, n).
      shape: that of the result, without its last dimension; by default what the parameters broadcast to.
      dtype: a real floating dtype; by default that of the parameters.
      method: how the covariance is factored: ``"cholesky"``, ``"eigh"`` or ``"svd"``.

    Raises:
      ArgumentValueError: the method is another one.

    >>> from lawful.random import key
    >>> multivariate_normal(key(0), np.array([0.0, 5.0]), np.array([[1.0, 0.5], [0.5, 1.0]])).round(3)
    array([-0.206,  4.217])

    Source: ``jax.random.multivariate_normal``.
    """
    require_key("multivariate_normal", key)
    dtype = floating("multivariate_normal", _dtype_of_parameters(mean, cov) if dtype is None else dtype)
    mean, cov = parameters("multivariate_normal", dtype, mean, cov)
    if shape is None:
        shape = numpy.broadcast_shapes(get_aval(mean).shape[:-1], get_aval(cov).shape[:-2])
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    elif method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        factor = vectors * np.sqrt(np.maximum(values, 0))[..., None, :]
    elif method == "svd":
        vectors, values, _ = np.linalg.svd(cov)
        factor = vectors * np.sqrt(values)[..., None, :]
    else:
        raise ArgumentValueError(
            f"multivariate_normal: expected the method 'cholesky', 'eigh' or 'svd', got {method!r}"
        )
    drawn = normal(key, (*shape_of("multivariate_normal", shape), get_aval(mean).shape[-1]), dtype)
    return mean + np.einsum("...ij,...j->...i", factor, drawn)
