"""Random numbers on explicit keys: a key gives the same numbers on every backend and under every transformation.

>>> from lawful.random import key, normal, split
>>> first, second = split(key(0))
>>> normal(first, (2, 3)).shape
(2, 3)

A key is used once: split it for more. The bits are those of ``jax.random`` with its default settings.
"""

from lawful.random._choices import categorical, choice, permutation
from lawful.random._distributions import bernoulli, exponential, gumbel, normal, truncated_normal
from lawful.random._gamma import gamma, loggamma
from lawful.random._keys import fold_in, key, split
from lawful.random._uniform import bits, randint, uniform

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gamma",
    "gumbel",
    "key",
    "loggamma",
    "normal",
    "permutation",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]
