"""``jax.extend.core``: primitives and jaxprs."""

from lawful import core as _core
from lawful.jax._support.lax import primitives as _primitives
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _primitives, _core, submodules=("primitives",), wrap=None)
