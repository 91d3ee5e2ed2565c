"""``jax.debug``: printing and callbacks in traced programs, and pictures of shardings."""

from lawful import debug as _debug
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _debug, "lawful.jax._support.sharding", wrap=None)
