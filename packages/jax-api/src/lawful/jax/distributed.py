"""``jax.distributed``: programs in several processes."""

from lawful import parallel as _parallel
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

__getattr__, __dir__ = _namespace(__name__, _parallel, wrap=_transforms)
