"""NumPy's ``linalg``: NumPy's own functions for values, and lawful's for what is traced."""

import typing as _typing
from typing import Any as _Any

import numpy.linalg as _linalg

import lawful.numpy.linalg as _ours
from lawful import ops as _ops
from lawful.autograd._namespace.errors import raising as _raising
from lawful.autograd._namespace.lookup import namespace_of as _namespace_of
from lawful.autograd._scipy.library import of_tracers as _of_tracers


def _eig(a: _Any) -> _Any:
    """Returns the eigenvalues and eigenvectors, with derivatives where all eigenvalues are different."""
    w, v = _ops.eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    return _ours.EigResult(w, v)


def _eigh(a: _Any, UPLO: str = "L") -> _Any:
    """Returns the eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is read."""
    return _ours.eigh(a, UPLO)


def _eigvalsh(a: _Any, UPLO: str = "L") -> _Any:
    """Returns the eigenvalues of a Hermitian matrix, of which one triangle is read."""
    return _ours.eigvalsh(a, UPLO)


_det = _of_tracers("det", _linalg.det, _ours.det)
_changed = {"eig": _eig, "eigh": _eigh, "eigvalsh": _eigvalsh}
# These raise LinAlgError for some values.
_refusing = (
    "cholesky", "cond", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_norm", "matrix_power", "norm",
    "pinv", "solve", "svd", "svdvals", "tensorinv", "tensorsolve",
)  # fmt: skip
_instead = {
    "det": _det,
    **{name: _raising(getattr(_linalg, name), _changed.get(name) or getattr(_ours, name)) for name in _refusing},
}
_instead["solve"] = _of_tracers("solve", _linalg.solve, _instead["solve"])
if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.numpy_linalg import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace_of(__name__, _linalg, "lawful.numpy.linalg", instead=_instead)
    __all__ = [name for name in __dir__() if name[0] != "_"]
