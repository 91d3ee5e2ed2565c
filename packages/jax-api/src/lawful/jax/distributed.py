"""``jax.distributed``: programs in several processes."""

import typing as _typing

from lawful import parallel as _parallel
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.distributed import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _parallel, wrap=_transforms)
