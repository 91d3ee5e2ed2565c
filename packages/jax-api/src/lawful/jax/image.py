"""``jax.image``: `lawful.image` with eager arrays of JAX."""

from lawful import image as _image
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _image)
