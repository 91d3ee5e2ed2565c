"""``jax.experimental``: callbacks, Taylor mode, differential equations, and labels for XLA, which have no effect."""

from lawful import staging as _staging
from lawful.jax._support.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _staging, submodules=("jet", "ode", "xla_metadata"))
