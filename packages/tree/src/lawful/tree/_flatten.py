"""Trees to leaves, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lawful.tree._cycle import refuse_cycle
from lawful.tree._nodes.node_type import EXACT, TUPLE, NodeType, Signature, write_head
from lawful.tree._nodes.registry import NODE_TYPES, node_type_of
from lawful.tree._structure.treedef import LEAF, PyTreeDef, interned, treedef_of
from lawful.tree.base.errors import TreeTypeError

type IsLeaf = Callable[[Any], bool] | None


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Returns the leaves of a tree, left to right, and its structure.

    Tuples, lists, dicts (in the order of their sorted keys), OrderedDicts (in their own order), defaultdicts,
    namedtuples, None (no leaves) and the types that were registered are nodes; every other value is a leaf, also
    one of a subclass of list or dict.

    Args:
      tree: any value.
      is_leaf: called with each subtree, from the root down; where it returns True the subtree is a leaf.

    Raises:
      TreeTypeError: a dict's keys cannot be sorted; a registered flatten function returns something else than a
        pair; ``is_leaf`` returns something else than a bool; a tree contains itself.

    Example:
      >>> from lawful import tree
      >>> tree.flatten({"b": [1, (2, None)], "a": 3})
      ([3, 1, 2], PyTreeDef({'a': *, 'b': [*, (*, None)]}))

    Source: ``jax.tree.flatten``.
    """
    if is_leaf is not None:
        return _flatten_until(tree, is_leaf)
    try:
        node_type = NODE_TYPES[type(tree)]
    except KeyError:
        node_type = node_type_of(type(tree))
    if node_type is None:
        return [tree], LEAF
    leaves: list[Any] = []
    signature: Signature = [EXACT, node_type]
    try:
        _walk(node_type, tree, leaves, signature)
    except RecursionError:
        refuse_cycle("flatten", tree)
    return leaves, treedef_of(signature, len(leaves))


def _walk(node_type: NodeType, node: Any, leaves: list[Any], signature: Signature) -> None:
    """Appends the leaves of a node, and the tokens of its signature that come after its node type."""
    open_node = node_type.open
    if open_node is None:
        children = node
        signature.append(len(node))
    else:
        children = open_node(node, signature)
    for child in children:
        try:
            child_type = NODE_TYPES[type(child)]
        except KeyError:
            child_type = node_type_of(type(child))
        if child_type is None:
            leaves.append(child)
        else:
            signature.append(len(leaves))
            signature.append(child_type)
            _walk(child_type, child, leaves, signature)


def _flatten_until(tree: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], PyTreeDef]:
    leaves: list[Any] = []
    signature: Signature = []
    try:
        _walk_until(is_leaf, tree, leaves, signature)
    except RecursionError:
        refuse_cycle("flatten", tree)
    return leaves, treedef_of(signature, len(leaves)) if signature else LEAF


def _walk_until(is_leaf: Callable[[Any], bool], node: Any, leaves: list[Any], signature: Signature) -> None:
    stop = is_leaf(node)
    if stop is not True and stop is not False:
        raise bad_predicate(stop)
    node_type = None if stop else node_type_of(type(node))
    if node_type is None:
        leaves.append(node)
        return
    children, aux = node_type.one_level(node)
    signature += (len(leaves), node_type)
    write_head(node_type, aux, len(children), signature)
    for child in children:
        _walk_until(is_leaf, child, leaves, signature)


def bad_predicate(result: Any) -> TreeTypeError:
    """Returns the error for an invalid result of an ``is_leaf`` function."""
    return TreeTypeError(f"flatten: expected is_leaf to return True or False, got {result!r}; convert it with bool()")


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Returns the tree with a structure and leaves: the inverse of :func:`flatten`.

    Args:
      treedef: the structure.
      leaves: one value for each leaf of the structure; any values, also trees.

    Raises:
      TreeStructureError: there are more or fewer values than leaves.
      TreeTypeError: ``treedef`` is not a structure.

    Example:
      >>> from lawful import tree
      >>> leaves, treedef = tree.flatten([1, (2, 3)])
      >>> tree.unflatten(treedef, [10 * leaf for leaf in leaves])
      [10, (20, 30)]

    Source: ``jax.tree.unflatten``.
    """
    refuse_non_treedef("unflatten", "treedef", treedef)
    return treedef.unflatten(leaves)


def refuse_non_treedef(where: str, argument: str, treedef: Any) -> None:
    """Raises the error for an argument that should be a structure."""
    if type(treedef) is not PyTreeDef:
        raise TreeTypeError(
            f"{where}: expected a PyTreeDef as {argument}, got a {type(treedef).__name__}; "
            "take the structure of a tree with lawful.tree.structure(tree)"
        )


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Returns the leaves of a tree, left to right.

    Args:
      tree: any value.
      is_leaf: as in :func:`flatten`, which raises the same errors.

    Example:
      >>> from lawful import tree
      >>> tree.leaves({"b": [1, (2, None)], "a": 3})
      [3, 1, 2]

    Source: ``jax.tree.leaves``.
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Returns the structure of a tree.

    Args:
      tree: any value.
      is_leaf: as in :func:`flatten`, which raises the same errors.

    Example:
      >>> from lawful import tree
      >>> tree.structure([1, (2, 3), None])
      PyTreeDef([*, (*, *), None])

    Source: ``jax.tree.structure``.
    """
    return flatten(tree, is_leaf)[1]


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Returns whether every item is a leaf.

    Args:
      iterable: the items.
      is_leaf: as in :func:`flatten`, which raises the same errors.

    Example:
      >>> from lawful import tree
      >>> tree.all_leaves([1, 2.0, "a"]), tree.all_leaves([1, (2,)])
      (True, False)

    Source: ``jax.tree_util.all_leaves``.
    """
    return all(structure(item, is_leaf) is LEAF for item in iterable)


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Returns the structure of a tuple of trees of the given structures.

    Raises:
      TreeTypeError: an item is not a structure.

    Example:
      >>> from lawful import tree
      >>> tree.treedef_tuple([tree.structure([1, 2]), tree.structure(3)])
      PyTreeDef(([*, *], *))

    Source: ``jax.tree_util.treedef_tuple``.
    """
    children = tuple(treedefs)
    for index, treedef in enumerate(children):
        refuse_non_treedef("treedef_tuple", f"item {index}", treedef)
    return interned(PyTreeDef(TUPLE, None, children))


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Returns the structures of the root's children, as ``treedef.children()`` does.

    Example:
      >>> from lawful import tree
      >>> tree.treedef_children(tree.structure([(1, 2), 3]))
      [PyTreeDef((*, *)), PyTreeDef(*)]

    Source: ``jax.tree_util.treedef_children``.
    """
    refuse_non_treedef("treedef_children", "treedef", treedef)
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Returns whether a structure has a single node: a leaf, or an empty container.

    Example:
      >>> from lawful import tree
      >>> [tree.treedef_is_leaf(tree.structure(x)) for x in (1, [1], ())]
      [True, False, True]

    Source: ``jax.tree_util.treedef_is_leaf``.
    """
    refuse_non_treedef("treedef_is_leaf", "treedef", treedef)
    return treedef.num_nodes == 1
