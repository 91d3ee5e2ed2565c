"""``jax.interpreters``: the tables of rules that the tutorial on primitives fills."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, submodules=("ad", "batching", "mlir", "xla"))
