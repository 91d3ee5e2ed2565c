"""The functions of SciPy's distribution ``bernoulli``; those of densities and probabilities differentiate."""

import typing as _typing

from lawful.autograd._scipy.library import scipy_namespace as _scipy_namespace

if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.scipy_stats_bernoulli import *  # noqa: F403
else:
    __getattr__, __dir__ = _scipy_namespace(__name__, "stats.bernoulli", {}, "lawful.special.stats.bernoulli")
    __all__ = [name for name in __dir__() if name[0] != "_"]
