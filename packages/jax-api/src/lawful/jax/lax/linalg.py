"""``jax.lax.linalg``: the decompositions of `lawful.ops`."""

from lawful import ops as _ops
from lawful.jax._support.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _ops)
