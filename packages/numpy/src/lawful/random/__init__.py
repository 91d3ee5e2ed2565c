"""Random numbers on explicit keys: a key gives the same numbers on every backend and under every transformation.

>>> from lawful.random import key, normal, split
>>> first, second = split(key(0))
>>> normal(first, (2, 3)).shape
(2, 3)

A key is used once: split it for more. The bits are those of ``jax.random`` with its default settings.
"""

from lawful.random._binomial import binomial, multinomial
from lawful.random._choices import categorical, choice, permutation
from lawful.random._distributions import bernoulli, exponential, gumbel, normal, truncated_normal
from lawful.random._gamma import gamma, loggamma
from lawful.random._keys import fold_in, key, split
from lawful.random._poisson import poisson
from lawful.random._transformed import (
    ball,
    beta,
    cauchy,
    chisquare,
    dirichlet,
    double_sided_maxwell,
    f,
    generalized_normal,
    geometric,
    laplace,
    logistic,
    lognormal,
    maxwell,
    multivariate_normal,
    orthogonal,
    pareto,
    rademacher,
    rayleigh,
    t,
    triangular,
    wald,
    weibull_min,
)
from lawful.random._uniform import bits, randint, uniform

__all__ = [
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
]
