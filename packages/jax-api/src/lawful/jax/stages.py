"""``jax.stages``: the forms of a program on its way to compiled code."""

import typing as _typing

from lawful import staging as _staging
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.stages import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _staging, renamed={"Wrapped": "JitFunction"}, wrap=None)
