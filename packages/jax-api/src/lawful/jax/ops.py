"""``jax.ops``: reductions over segments."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.numpy import _segments

__getattr__, __dir__ = _namespace(__name__, _segments)
