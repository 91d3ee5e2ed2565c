"""``jax.scipy.signal``: `lawful.signal` with JAX's arguments and eager arrays."""

from lawful import signal as _signal
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _signal)
