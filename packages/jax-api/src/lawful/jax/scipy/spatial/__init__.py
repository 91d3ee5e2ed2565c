"""``jax.scipy.spatial``: rotations."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, submodules=("transform",))
