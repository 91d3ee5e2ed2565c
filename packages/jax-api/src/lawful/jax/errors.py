"""``jax.errors``: the errors that a JAX program can catch."""

import typing as _typing

from lawful import core as _core
from lawful.jax._support import error_types as _error_types
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.errors import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _error_types, _core, wrap=None)
