"""``jax.interpreters``: the tables of rules that the tutorial on primitives fills."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.interpreters import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, submodules=("ad", "batching", "mlir", "partial_eval", "xla"))
