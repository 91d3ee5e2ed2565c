"""Pytrees: nested containers, taken apart into leaves and a structure, and put together again.

>>> from lawful import tree
>>> params = {"w": [1.0, 2.0], "b": 3.0}
>>> tree.map(lambda x: 10 * x, params)
{'b': 30.0, 'w': [10.0, 20.0]}
>>> leaves, treedef = tree.flatten(params)
>>> leaves, treedef
([3.0, 1.0, 2.0], PyTreeDef({'b': *, 'w': [*, *]}))
>>> tree.unflatten(treedef, leaves) == params
True

The names and meanings are those of ``jax.tree`` and ``jax.tree_util``.
"""

import typing as _typing

from lawful.tree._flatten import (
    all_leaves,
    flatten,
    leaves,
    structure,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
    unflatten,
)
from lawful.tree._map import map
from lawful.tree._nodes.key import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    SequenceKey,
    keystr,
)
from lawful.tree._nodes.register import (
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    register_node,
    register_node_class,
    register_node_with_keys,
    register_node_with_keys_class,
    register_static,
)
from lawful.tree._path import flatten_with_path, leaves_with_path, map_with_path
from lawful.tree._prefix import broadcast, broadcast_prefix, flatten_axes
from lawful.tree._structure.treedef import PyTreeDef
from lawful.tree.base.lazy import lazy_imports as _lazy_imports

if _typing.TYPE_CHECKING:
    from lawful.tree._nodes.dataclass import register_dataclass, static
    from lawful.tree._nodes.partial import Partial
    from lawful.tree._reduce import all, reduce, reduce_associative
    from lawful.tree._transpose import transpose
else:
    __getattr__, __dir__ = _lazy_imports(
        __name__,
        "_nodes.dataclass",
        "_nodes.partial",
        "_reduce",
        "_transpose",
    )

__all__ = [
    # Trees to leaves, and back
    "flatten",
    "unflatten",
    "leaves",
    "structure",
    "PyTreeDef",
    # Functions of whole trees
    "map",
    "reduce",
    "reduce_associative",
    "all",
    "transpose",
    "broadcast",
    "broadcast_prefix",
    "flatten_axes",
    # Key paths
    "flatten_with_path",
    "leaves_with_path",
    "map_with_path",
    "keystr",
    "KeyEntry",
    "KeyPath",
    "SequenceKey",
    "DictKey",
    "GetAttrKey",
    "FlattenedIndexKey",
    # New node types
    "register_node",
    "register_node_with_keys",
    "register_node_class",
    "register_node_with_keys_class",
    "register_dataclass",
    "static",
    "register_static",
    "Partial",
    # One level, and questions
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "all_leaves",
    "treedef_tuple",
    "treedef_children",
    "treedef_is_leaf",
]
