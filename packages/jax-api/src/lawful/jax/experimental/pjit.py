"""``jax.experimental.pjit``: `jax.jit` under its older name."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_pjit import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, "lawful.jax._support.sharding", wrap=None)
