"""``jax.core``: types of values, traces and tracers."""

import typing as _typing

from lawful import core as _core
from lawful.jax._support import general as _general
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.core import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _general, _core, wrap=None)
