"""``jax.scipy.cluster.vq``: `lawful.cluster.vq` with eager arrays of JAX."""

from lawful.cluster import vq as _vq
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _vq)
