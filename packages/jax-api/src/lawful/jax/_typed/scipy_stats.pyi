"""The names that `lawful.jax.scipy.stats` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

bernoulli: Any
beta: Any
betabinom: Any
binom: Any
cauchy: Any
chi2: Any
dirichlet: Any
expon: Any
gamma: Any
gennorm: Any
geom: Any
gumbel_l: Any
gumbel_r: Any
laplace: Any
logistic: Any
mode: Callable[..., Any]
multinomial: Any
multivariate_normal: Any
nbinom: Any
norm: Any
pareto: Any
poisson: Any
rankdata: Callable[..., Any]
sem: Callable[..., Any]
t: Any
truncnorm: Any
uniform: Any
vonmises: Any
wrapcauchy: Any
