"""``jax.experimental.ode``: `lawful.integrate.odeint` with eager arrays of JAX."""

from lawful import integrate as _integrate
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

__getattr__, __dir__ = _namespace(__name__, _integrate, wrap=_transforms)
