"""``jax.numpy.linalg``: `lawful.numpy.linalg` with JAX's arguments and eager arrays."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.numpy import products as _products
from lawful.numpy import linalg as _linalg

__getattr__, __dir__ = _namespace(__name__, _products, _linalg)
