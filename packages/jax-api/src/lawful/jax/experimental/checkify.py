"""``jax.experimental.checkify``: failed checks of a program as a value that it returns; only those of ``check``."""

import typing as _typing

from lawful.jax._support.checkify import error as _error
from lawful.jax._support.checkify import primitive as _primitive
from lawful.jax._support.checkify import transformation as _transformation
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_checkify import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _transformation, _error, _primitive, wrap=_transforms)
