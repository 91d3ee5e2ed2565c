"""Prefixes of trees: one leaf that stands for a whole subtree, as in ``in_axes`` of ``vmap``."""

from __future__ import annotations

from typing import Any

from lawful.tree._flatten import IsLeaf, flatten, refuse_non_treedef, structure
from lawful.tree._nodes.node_type import same_aux
from lawful.tree._structure.difference import Open, mismatch_error, open_tree, open_treedef
from lawful.tree._structure.treedef import PyTreeDef
from lawful.tree.base.errors import TreeStructureError


def broadcast_prefix(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Returns, for each leaf of a full tree, the leaf of a prefix of it that stands there.

    Args:
      prefix_tree: a tree whose structure is a prefix of that of ``full_tree``: a leaf stands for a subtree.
      full_tree: the tree whose leaves are counted.
      is_leaf: called with each subtree of ``prefix_tree`` only; ``lambda x: x is None`` makes None a leaf.

    Raises:
      TreeStructureError: the structure of ``prefix_tree`` is not a prefix; the text names the key path.
      TreeTypeError: as for :func:`flatten`.

    Example:
      >>> from lawful import tree
      >>> tree.broadcast_prefix((1, None), ("a", ["b", "c"]), is_leaf=lambda x: x is None)
      [1, None, None]

    Source: ``jax.tree.broadcast``, of which it is the list of leaves.
    """
    leaves, prefix = flatten(prefix_tree, is_leaf)
    full = structure(full_tree)
    counts: list[int] = []
    if not _count(prefix, full, counts):
        raise _not_a_prefix("broadcast_prefix", prefix, "prefix_tree", ("full_tree", full_tree, open_tree))
    return _repeat(leaves, counts)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Returns a tree with the structure of a full tree and the leaves of a prefix of it, each repeated as needed.

    Args:
      prefix_tree: a tree whose structure is a prefix of that of ``full_tree``: a leaf stands for a subtree.
      full_tree: the tree whose structure is taken.
      is_leaf: called with each subtree of ``prefix_tree`` only; ``lambda x: x is None`` makes None a leaf.

    Raises:
      TreeStructureError: the structure of ``prefix_tree`` is not a prefix; the text names the key path.
      TreeTypeError: as for :func:`flatten`.

    Example:
      >>> from lawful import tree
      >>> tree.broadcast((1, 2, 3), (0, {"a": 0, "b": 0}, (0, 0)))
      (1, {'a': 2, 'b': 2}, (3, 3))

    Source: ``jax.tree.broadcast``.
    """
    return structure(full_tree).unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


def flatten_axes(name: str, treedef: PyTreeDef, axis_tree: Any) -> list[Any]:
    """Returns, for each leaf of a structure, the leaf of a prefix of it that stands there; None is a leaf.

    Args:
      name: what the prefix is to the user, for the error: ``"vmap in_axes"``.
      treedef: the full structure.
      axis_tree: a tree whose structure is a prefix of ``treedef``, with None as a leaf.

    Raises:
      TreeStructureError: the structure of ``axis_tree`` is not a prefix; the text names the key path.

    Example:
      >>> from lawful import tree
      >>> tree.flatten_axes("vmap in_axes", tree.structure((0, [0, 0])), (1, None))
      [1, None, None]

    Source: ``jax.api_util.flatten_axes``.
    """
    refuse_non_treedef(name, "treedef", treedef)
    leaves, prefix = flatten(axis_tree, lambda subtree: subtree is None)
    counts: list[int] = []
    if not _count(prefix, treedef, counts):
        raise _not_a_prefix(name, prefix, "the prefix", ("the full structure", treedef, open_treedef))
    return _repeat(leaves, counts)


def _repeat(leaves: list[Any], counts: list[int]) -> list[Any]:
    repeated: list[Any] = []
    for leaf, count in zip(leaves, counts, strict=True):
        repeated += [leaf] * count
    return repeated


def _count(prefix: PyTreeDef, full: PyTreeDef, counts: list[int]) -> bool:
    """Appends how many leaves each leaf of the prefix stands for; returns False if it is not a prefix."""
    node_type, full_type = prefix._node_type, full._node_type
    if node_type is None:
        counts.append(full._num_leaves)
        return True
    if prefix is full:
        counts += [1] * full._num_leaves
        return True
    if full_type is None or node_type.cls is not full_type.cls or len(prefix._subtrees) != len(full._subtrees):
        return False
    if not same_aux(prefix._aux, full._aux, node_type.cls):
        return False
    for subtree, full_subtree in zip(prefix._subtrees, full._subtrees, strict=True):
        if not _count(subtree, full_subtree, counts):
            return False
    return True


def _not_a_prefix(where: str, prefix: PyTreeDef, name: str, full: tuple[str, Any, Open]) -> TreeStructureError:
    return mismatch_error(
        where,
        expected=full,
        got=(name, prefix, open_treedef),
        got_is_prefix=True,
        advice="give one leaf for a whole subtree, or a container like the one it stands for",
    )
