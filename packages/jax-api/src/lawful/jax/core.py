"""``jax.core``: types of values, traces and tracers."""

from lawful import core as _core
from lawful.jax._support import general as _general
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _general, _core, wrap=None)
