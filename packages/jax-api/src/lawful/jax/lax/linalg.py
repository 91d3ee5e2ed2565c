"""``jax.lax.linalg``: the decompositions of `lawful.ops`, and iterations of `lawful.linalg`."""

import typing as _typing

from lawful import linalg as _linalg
from lawful import ops as _ops
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.lax_linalg import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _ops, _linalg)
