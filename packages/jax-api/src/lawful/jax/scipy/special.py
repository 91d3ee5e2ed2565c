"""``jax.scipy.special``: `lawful.special` with JAX's arguments and eager arrays."""

import typing as _typing

from lawful import special as _special
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy_special import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _special)
