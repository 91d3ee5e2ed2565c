"""``jax.nn.initializers``: random initial parameters, of `lawful.nn.initializers`."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms
from lawful.nn import initializers as _initializers

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.nn_initializers import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _initializers, wrap=_transforms)
