"""``jax.experimental.multihost_utils``: values of the host that processes exchange, as NumPy arrays."""

import typing as _typing

from lawful import parallel as _parallel
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_multihost_utils import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _parallel, wrap=None)
