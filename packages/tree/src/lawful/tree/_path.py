"""Trees to leaves with the key path of each, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.tree._cycle import refuse_cycle
from lawful.tree._flatten import bad_predicate
from lawful.tree._map import map_leaves
from lawful.tree._nodes.key import KeyPath
from lawful.tree._nodes.node_type import Signature, write_head
from lawful.tree._nodes.registry import node_type_of
from lawful.tree._structure.treedef import LEAF, PyTreeDef, treedef_of

type IsLeafAt = Callable[[KeyPath, Any], bool] | None


def flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Returns the leaves of a tree, each in a pair with its key path, and its structure.

    A key path is a tuple of :class:`SequenceKey`, :class:`DictKey`, :class:`GetAttrKey`,
    :class:`FlattenedIndexKey`, or what a registered type gives as keys; :func:`keystr` prints it.

    Args:
      tree: any value.
      is_leaf: called with each subtree, from the root down; where it returns True the subtree is a leaf.
      is_leaf_takes_path: call ``is_leaf(path, subtree)`` instead of ``is_leaf(subtree)``.

    Raises:
      TreeTypeError: as for :func:`flatten`.

    Example:
      >>> from lawful import tree
      >>> tree.flatten_with_path([1, {"x": 3}])[0]
      [((SequenceKey(idx=0),), 1), ((SequenceKey(idx=1), DictKey(key='x')), 3)]

    Source: ``jax.tree.flatten_with_path``.
    """
    stops = is_leaf if is_leaf is None or is_leaf_takes_path else _without_path(is_leaf)
    leaves: list[tuple[KeyPath, Any]] = []
    signature: Signature = []
    try:
        _walk((), tree, stops, leaves, signature)
    except RecursionError:
        refuse_cycle("flatten_with_path", tree)
    return leaves, treedef_of(signature, len(leaves)) if signature else LEAF


def _without_path(is_leaf: Callable[[Any], bool]) -> IsLeafAt:
    return lambda _, subtree: is_leaf(subtree)


def _walk(path: KeyPath, node: Any, stops: IsLeafAt, leaves: list[tuple[KeyPath, Any]], signature: Signature) -> None:
    stop = stops is not None and stops(path, node)
    if stop is not True and stop is not False:
        raise bad_predicate(stop)
    node_type = None if stop else node_type_of(type(node))
    if node_type is None:
        leaves.append((path, node))
        return
    keys, children, aux = node_type.open_with_keys(node)
    signature += (len(leaves), node_type)
    write_head(node_type, aux, len(children), signature)
    for key, child in zip(keys, children, strict=True):
        _walk((*path, key), child, stops, leaves, signature)


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Returns the leaves of a tree, each in a pair with its key path.

    Args:
      tree: any value.
      is_leaf: as in :func:`flatten_with_path`, which raises the same errors.
      is_leaf_takes_path: call ``is_leaf(path, subtree)`` instead of ``is_leaf(subtree)``.

    Example:
      >>> from lawful import tree
      >>> tree.leaves_with_path([1, {"x": 3}])
      [((SequenceKey(idx=0),), 1), ((SequenceKey(idx=1), DictKey(key='x')), 3)]

    Source: ``jax.tree.leaves_with_path``.
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Returns the tree of the values ``f(path, leaf, *others)``, one at each leaf.

    Args:
      f: called with the key path of a leaf, the leaf, and what stands there in each tree of ``rest``.
      tree: the tree that decides the structure.
      rest: trees which have the structure of ``tree`` as a prefix.
      is_leaf: as in :func:`flatten_with_path`.
      is_leaf_takes_path: call ``is_leaf(path, subtree)`` instead of ``is_leaf(subtree)``.

    Raises:
      TreeStructureError: a tree of ``rest`` differs in structure.
      TreeTypeError: as for :func:`flatten`, or ``f`` is not callable.

    Example:
      >>> from lawful import tree
      >>> tree.map_with_path(lambda path, x: f"{tree.keystr(path)}={x}", {"a": [1, 2]})
      {'a': ["['a'][0]=1", "['a'][1]=2"]}

    Source: ``jax.tree.map_with_path``.
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    paths, leaves = [path for path, _ in pairs], [leaf for _, leaf in pairs]
    return map_leaves("map_with_path", f, treedef, [paths, leaves], tree, rest)
