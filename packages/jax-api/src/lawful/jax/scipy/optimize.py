"""``jax.scipy.optimize``: `lawful.optimize` with eager arrays of JAX."""

from lawful import optimize as _optimize
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

__getattr__, __dir__ = _namespace(__name__, _optimize, wrap=_transforms)
