"""``jax.numpy.linalg``: `lawful.numpy.linalg` with JAX's arguments and eager arrays."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.numpy import products as _products
from lawful.numpy import linalg as _linalg

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.numpy_linalg import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _products, _linalg)
