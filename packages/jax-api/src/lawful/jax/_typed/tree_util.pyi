"""The names that `lawful.jax.tree_util` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.tree._nodes.key import DictKey as DictKey
from lawful.tree._nodes.key import FlattenedIndexKey as FlattenedIndexKey
from lawful.tree._nodes.key import GetAttrKey as GetAttrKey
from lawful.tree._nodes.key import SequenceKey as SequenceKey
from lawful.tree._nodes.partial import Partial as Partial
from lawful.tree._structure.treedef import PyTreeDef as PyTreeDef

KeyEntry: Any
KeyPath: Any
all_leaves: Callable[..., Any]
flatten_one_level: Callable[..., Any]
flatten_one_level_with_keys: Callable[..., Any]
is_tree_node: Callable[..., Any]
keystr: Callable[..., Any]
register_dataclass: Callable[..., Any]
register_pytree_node: Callable[..., Any]
register_pytree_node_class: Callable[..., Any]
register_pytree_with_keys: Callable[..., Any]
register_pytree_with_keys_class: Callable[..., Any]
register_static: Callable[..., Any]
tree_all: Callable[..., Any]
tree_broadcast: Callable[..., Any]
tree_flatten: Callable[..., Any]
tree_flatten_with_path: Callable[..., Any]
tree_leaves: Callable[..., Any]
tree_leaves_with_path: Callable[..., Any]
tree_map: Callable[..., Any]
tree_map_with_path: Callable[..., Any]
tree_reduce: Callable[..., Any]
tree_reduce_associative: Callable[..., Any]
tree_structure: Callable[..., Any]
tree_transpose: Callable[..., Any]
tree_unflatten: Callable[..., Any]
treedef_children: Callable[..., Any]
treedef_is_leaf: Callable[..., Any]
treedef_tuple: Callable[..., Any]
