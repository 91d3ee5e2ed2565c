"""The functions of SciPy's distribution ``uniform``; those of densities and probabilities differentiate."""

from lawful.autograd._scipy.library import scipy_namespace as _scipy_namespace

__getattr__, __dir__ = _scipy_namespace(__name__, "stats.uniform", {}, "lawful.special.stats.uniform")
__all__ = [name for name in __dir__() if name[0] != "_"]
