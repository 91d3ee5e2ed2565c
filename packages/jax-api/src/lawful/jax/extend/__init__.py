"""``jax.extend``: what libraries beside JAX use."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.extend import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, submodules=("core", "linear_util", "source_info_util"))
