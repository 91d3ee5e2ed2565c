"""``jax.sharding``: meshes, and where the elements of arrays are."""

import typing as _typing

from lawful.jax._support import devices as _devices
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.sharding import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _devices, "lawful.jax._support.sharding", wrap=None)
