"""``jax.flatten_util``: pytrees of arrays as one vector."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms
from lawful.numpy import _raveling

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.flatten_util import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _raveling, wrap=_transforms)
