"""``jax.scipy.sparse.linalg``: the iterations of `lawful.linalg` with eager arrays of JAX."""

import typing as _typing

from lawful import linalg as _linalg
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy_sparse_linalg import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _linalg)
