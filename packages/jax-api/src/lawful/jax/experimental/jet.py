"""``jax.experimental.jet``: derivatives along a curve, of `lawful.taylor`."""

from lawful import taylor as _taylor
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

__getattr__, __dir__ = _namespace(__name__, _taylor, wrap=_transforms)
