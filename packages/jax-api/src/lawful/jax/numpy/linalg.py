"""``jax.numpy.linalg``: `lawful.numpy.linalg` with JAX's arguments and eager arrays."""

from lawful.jax._support import products as _products
from lawful.jax._support.namespace import namespace as _namespace
from lawful.numpy import linalg as _linalg

__getattr__, __dir__ = _namespace(__name__, _products, _linalg)
