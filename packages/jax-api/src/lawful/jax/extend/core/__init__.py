"""``jax.extend.core``: primitives and jaxprs."""

import typing as _typing

from lawful import core as _core
from lawful.jax._support import traces as _traces
from lawful.jax._support.lax import primitives as _primitives
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.extend_core import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _primitives, _traces, _core, submodules=("primitives",), wrap=None)
