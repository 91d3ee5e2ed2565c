"""``jax.experimental.pjit``: `jax.jit` under its older name."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, "lawful.jax._support.sharding", wrap=None)
