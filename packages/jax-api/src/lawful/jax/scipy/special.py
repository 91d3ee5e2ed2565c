"""``jax.scipy.special``: `lawful.special` with JAX's arguments and eager arrays."""

from lawful import special as _special
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _special)
