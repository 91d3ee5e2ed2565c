"""``jax.scipy.stats``: distributions, with their densities and distribution functions, and statistics of samples.

>>> from lawful.jax.scipy.stats import norm
>>> norm.logpdf(0.0)
Array(-0.91893853, dtype=float64, weak_type=True)
"""

import typing as _typing

from lawful import stats as _samples
from lawful.jax._support.namespaces.classes import returning_arrays as _returning_arrays
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.namespace import submodules_of as _submodules_of
from lawful.special import stats as _stats

_submodules_of(__name__, _stats)

gaussian_kde = _returning_arrays(_samples.gaussian_kde)

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy_stats import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _stats, _samples)
