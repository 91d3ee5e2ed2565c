"""``jax.experimental.mesh_utils``: arrays of devices for meshes."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, "lawful.jax._support.sharding", wrap=None)
