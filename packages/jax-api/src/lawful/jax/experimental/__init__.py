"""``jax.experimental``: callbacks, Taylor mode, differential equations, meshes, processes, labels without effect."""

from lawful import staging as _staging
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(
    __name__, _staging, submodules=("jet", "mesh_utils", "multihost_utils", "ode", "pjit", "shard_map", "xla_metadata")
)
