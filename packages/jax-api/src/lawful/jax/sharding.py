"""``jax.sharding``: meshes, and where the elements of arrays are."""

from lawful.jax._support import devices as _devices
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _devices, "lawful.jax._support.sharding", wrap=None)
