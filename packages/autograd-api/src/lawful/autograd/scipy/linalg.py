"""SciPy's ``linalg``: what lawful has, or a few functions of SciPy's, differentiate."""

from lawful.autograd._scipy import matrices as _matrices
from lawful.autograd._scipy.library import scipy_namespace as _scipy_namespace

__getattr__, __dir__ = _scipy_namespace(__name__, "linalg", _matrices.functions, _matrices.of_tracers)
__all__ = [name for name in __dir__() if name[0] != "_"]
