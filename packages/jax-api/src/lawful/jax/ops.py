"""``jax.ops``: reductions over segments."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.numpy import _segments

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.ops import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _segments)
