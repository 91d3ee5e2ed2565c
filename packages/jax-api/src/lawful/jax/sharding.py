"""``jax.sharding``: where the elements of arrays are: all on one device."""

from lawful.jax._support import devices as _devices
from lawful.jax._support.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _devices, wrap=None)
