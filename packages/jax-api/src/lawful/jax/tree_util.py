"""``jax.tree_util``: pytrees, their registration, and key paths."""

import typing as _typing

from lawful import tree as _tree
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.table import names_of as _names_of

_RENAMED = {name: name.removeprefix("tree_") for name in _names_of("jax.tree_util") if name.startswith("tree_")}
_RENAMED |= {
    "register_pytree_node": "register_node",
    "register_pytree_node_class": "register_node_class",
    "register_pytree_with_keys": "register_node_with_keys",
    "register_pytree_with_keys_class": "register_node_with_keys_class",
}

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.tree_util import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _tree, renamed=_RENAMED, wrap=None)
