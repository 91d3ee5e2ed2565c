"""``jax.experimental.ode``: `lawful.integrate.odeint` with eager arrays of JAX."""

import typing as _typing

from lawful import integrate as _integrate
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_ode import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _integrate, wrap=_transforms)
