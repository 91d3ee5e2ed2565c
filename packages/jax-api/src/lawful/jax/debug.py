"""``jax.debug``: printing and callbacks in traced programs."""

from lawful import debug as _debug
from lawful.jax._support.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _debug, wrap=None)
