"""Walks along a structure: to build a tree of it, and to take one apart.

Each calls itself once a level, through no C function: a level costs one Python frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from lawful.tree._kind import DICT, LIST, TUPLE, same_aux

if TYPE_CHECKING:
    from lawful.tree._treedef import PyTreeDef

type Maker = Callable[[Iterator[Any]], Any]


def maker_of(treedef: PyTreeDef) -> Maker:
    """Returns the function that takes a structure's leaves off an iterator and builds the tree."""
    kind = treedef._kind
    if kind is None:
        return next
    aux, length = treedef._aux, len(treedef._subtrees)
    if treedef._is_flat:
        if kind is TUPLE:
            return lambda leaves: tuple(islice(leaves, length))
        if kind is LIST:
            return lambda leaves: list(islice(leaves, length))
        if kind is DICT:
            # The keys come first in the zip: it takes no leaf once they are exhausted.
            return lambda leaves: dict(zip(aux, leaves))  # noqa: B905  # more leaves may follow
    makers = [maker_of(subtree) for subtree in treedef._subtrees]
    if kind is TUPLE:
        return lambda leaves: tuple([make(leaves) for make in makers])
    if kind is LIST:
        return lambda leaves: [make(leaves) for make in makers]
    if kind is DICT:
        return lambda leaves: dict(zip(aux, [make(leaves) for make in makers]))  # noqa: B905  # strict costs time
    rebuild = kind.rebuild
    return lambda leaves: rebuild(aux, [make(leaves) for make in makers])


def subtrees_up_to(treedef: PyTreeDef, tree: Any) -> list[Any] | None:
    """Returns the subtrees of a tree at a structure's leaves, or None if the structure is not a prefix of the tree."""
    subtrees: list[Any] = []
    return subtrees if _descend(treedef, tree, subtrees) else None


def _descend(treedef: PyTreeDef, node: Any, found: list[Any]) -> bool:
    kind = treedef._kind
    if kind is None:
        found.append(node)
        return True
    nodetype: Any = kind.nodetype
    if type(node) is not nodetype:
        return False
    subtrees = treedef._subtrees
    if kind.open is None:
        children = node
        if len(node) != len(subtrees):
            return False
    elif kind is DICT:
        # Sorting is not needed: the structure knows the order.
        if len(node) != len(subtrees):
            return False
        try:
            children = [node[key] for key in treedef._aux]
        except KeyError:
            return False
    else:
        children, aux = kind.one_level(node)
        if len(children) != len(subtrees) or not same_aux(treedef._aux, aux, nodetype):
            return False
    if treedef._is_flat:
        found += children
        return True
    for subtree, child in zip(subtrees, children):  # noqa: B905  # of equal length, and strict costs time
        if subtree._kind is None:
            found.append(child)
        elif not _descend(subtree, child, found):
            return False
    return True
