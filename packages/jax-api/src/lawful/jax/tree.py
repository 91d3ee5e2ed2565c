"""``jax.tree``: functions of pytrees."""

import typing as _typing

from lawful import tree as _tree
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.tree import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _tree, wrap=None)
