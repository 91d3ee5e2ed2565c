"""``jax.debug``: printing and callbacks in traced programs, and pictures of shardings."""

import typing as _typing

from lawful import debug as _debug
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.debug import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _debug, "lawful.jax._support.sharded_arrays", wrap=None)
