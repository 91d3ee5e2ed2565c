"""Distributions, each a module with the functions that SciPy's object of the name has as methods.

>>> from lawful.autograd import grad
>>> from lawful.autograd.scipy.stats import norm
>>> grad(norm.logpdf)(1.0)
np.float64(-1.0)
"""

from lawful.autograd.scipy.stats import (
    bernoulli,
    beta,
    chi2,
    dirichlet,
    expon,
    gamma,
    multivariate_normal,
    norm,
    poisson,
    t,
    uniform,
)

__all__ = [
    "bernoulli",
    "beta",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "multivariate_normal",
    "norm",
    "poisson",
    "t",
    "uniform",
]
