"""``jax.stages``: the forms of a program on its way to compiled code."""

from lawful import staging as _staging
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _staging, renamed={"Wrapped": "JitFunction"}, wrap=None)
