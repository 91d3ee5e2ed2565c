"""``jax.scipy.ndimage``: `lawful.ndimage` with JAX's arguments and eager arrays."""

from lawful import ndimage as _ndimage
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _ndimage)
