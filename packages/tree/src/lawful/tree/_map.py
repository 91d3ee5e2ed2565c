"""Functions of leaves, mapped over whole trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.tree._flatten import IsLeaf, flatten
from lawful.tree._structure.difference import mismatch_error, open_tree, open_treedef
from lawful.tree._structure.treedef import PyTreeDef
from lawful.tree.base.errors import TreeTypeError


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Returns the tree of the values ``f(leaf, *others)``, one at each leaf.

    Args:
      f: called with a leaf of ``tree``, and what stands there in each tree of ``rest``.
      tree: the tree that decides the structure.
      rest: trees which have the structure of ``tree`` as a prefix.
      is_leaf: called with each subtree of ``tree``; where it returns True the subtree is a leaf.

    Raises:
      TreeStructureError: a tree of ``rest`` differs in structure; the text names the key path, and which tree.
      TreeTypeError: as for :func:`flatten`, or ``f`` is not callable.

    Example:
      >>> from lawful import tree
      >>> tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
      {'a': 11, 'b': (22, 33)}

    Source: ``jax.tree.map``.
    """
    leaves, treedef = flatten(tree, is_leaf)
    return map_leaves("map", f, treedef, [leaves], tree, rest)


def map_leaves(
    where: str, f: Callable[..., Any], treedef: PyTreeDef, columns: list[Any], tree: Any, rest: tuple[Any, ...]
) -> Any:
    """Returns the tree of ``f`` of the rows of ``columns`` and of the subtrees of ``rest``."""
    if not callable(f):
        raise TreeTypeError(f"{where}: expected a function as f, got a {type(f).__name__}; give the function first")
    for index, other in enumerate(rest):
        subtrees = treedef.matcher(other)
        if subtrees is None:
            name = f"rest[{index}]"
            # The tree has the keys of all nodes; the structure knows where is_leaf stopped.
            raise mismatch_error(
                where,
                expected=("tree", treedef, open_treedef),
                got=(name, other, open_tree),
                expected_is_prefix=True,
                advice=f"give {name} (tree {index + 2} of {len(rest) + 1}) the structure of the first tree",
            )
        columns.append(subtrees)
    return treedef.unflatten([f(*row) for row in zip(*columns, strict=True)])
