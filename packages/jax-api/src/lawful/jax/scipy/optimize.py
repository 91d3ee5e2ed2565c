"""``jax.scipy.optimize``: `lawful.optimize` with eager arrays of JAX."""

import typing as _typing

from lawful import optimize as _optimize
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy_optimize import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _optimize, wrap=_transforms)
