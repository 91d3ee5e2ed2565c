"""``jax.scipy.linalg``: `lawful.linalg` with JAX's arguments and eager arrays."""

from lawful import linalg as _linalg
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _linalg)
