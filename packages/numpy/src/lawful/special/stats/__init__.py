"""Distributions: each is a module with the methods of SciPy's object of that name as functions.

>>> from lawful.autodiff import grad
>>> from lawful.special.stats import norm
>>> grad(norm.logpdf)(1.0)
-1.0
"""

from lawful.special.stats import bernoulli, beta, expon, gamma, multivariate_normal, norm, poisson, t, uniform

__all__ = ["bernoulli", "beta", "expon", "gamma", "multivariate_normal", "norm", "poisson", "t", "uniform"]
