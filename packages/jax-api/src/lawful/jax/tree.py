"""``jax.tree``: functions of pytrees."""

from lawful import tree as _tree
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _tree, wrap=None)
