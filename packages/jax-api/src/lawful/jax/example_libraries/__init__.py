"""``jax.example_libraries``: small optimizers and layers."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, submodules=("optimizers", "stax"))
