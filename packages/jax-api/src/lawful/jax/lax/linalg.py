"""``jax.lax.linalg``: the decompositions of `lawful.ops`, and iterations of `lawful.linalg`."""

from lawful import linalg as _linalg
from lawful import ops as _ops
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _ops, _linalg)
