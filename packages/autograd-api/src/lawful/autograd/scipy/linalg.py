"""SciPy's ``linalg``: what lawful has, or a few functions of SciPy's, differentiate."""

import typing as _typing

from lawful.autograd._scipy import matrices as _matrices
from lawful.autograd._scipy.library import scipy_namespace as _scipy_namespace

if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.scipy_linalg import *  # noqa: F403
else:
    __getattr__, __dir__ = _scipy_namespace(__name__, "linalg", _matrices.functions, _matrices.of_tracers)
    __all__ = [name for name in __dir__() if name[0] != "_"]
