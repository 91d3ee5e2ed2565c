"""``jax.experimental.multihost_utils``: values of the host that processes exchange, as NumPy arrays."""

from lawful import parallel as _parallel
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _parallel, wrap=None)
