"""``jax.scipy.sparse``: solvers that need a matrix only as a function."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, submodules=("linalg",))
