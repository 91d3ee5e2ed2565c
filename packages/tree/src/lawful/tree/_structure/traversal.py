"""Functions that build trees of a structure and take them apart.

They are compiled once per structure: one closure per node, which knows the indices of its leaves. A closure calls those
of its children directly, so that a level costs one Python frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lawful.tree._nodes.node_type import DICT, LIST, TUPLE, same_aux
from lawful.tree.base.exact_key import contents_key, exact_key

if TYPE_CHECKING:
    from lawful.tree._structure.treedef import PyTreeDef

#: Builds a tree from the list of its leaves.
type Maker = Callable[[list[Any]], Any]
#: Appends the subtrees of a tree at a structure's leaves to a list; False if the structure is not a prefix.
type Reader = Callable[[Any, list[Any]], bool]
#: Returns the subtrees of a tree at a structure's leaves; None if the structure is not a prefix of the tree.
type Matcher = Callable[[Any], Sequence[Any] | None]


def maker_of(treedef: PyTreeDef, first: int = 0) -> Maker:
    """Returns the function that builds a tree of this structure from ``leaves[first:first + num_leaves]``."""
    node_type, aux = treedef._node_type, treedef._aux
    if node_type is None:
        return itemgetter(first)
    end = first + treedef._num_leaves
    if treedef._is_flat:
        if node_type is TUPLE:
            return lambda leaves: tuple(leaves[first:end])
        if node_type is LIST:
            return lambda leaves: leaves[first:end]
        if node_type is DICT:
            indices = tuple(zip(aux, range(first, end), strict=True))
            return lambda leaves: {key: leaves[index] for key, index in indices}
    makers = []
    for subtree in treedef._subtrees:
        makers.append(maker_of(subtree, first))
        first += subtree._num_leaves
    if node_type is TUPLE:
        return lambda leaves: tuple([make(leaves) for make in makers])
    if node_type is LIST:
        return lambda leaves: [make(leaves) for make in makers]
    if node_type is DICT:
        named = tuple(zip(aux, makers, strict=True))
        return lambda leaves: {key: make(leaves) for key, make in named}
    rebuild = node_type.rebuild
    return lambda leaves: rebuild(aux, [make(leaves) for make in makers])


def matcher_of(treedef: PyTreeDef, *, exact: bool = False) -> Matcher:
    """Returns the function that takes trees of a structure apart; if ``exact``, only trees with the same exact key."""
    if treedef._node_type is None:
        return lambda tree: [tree]
    if treedef._is_flat:
        return _opener_of(treedef, exact)  # the children are the leaves
    read = reader_of(treedef, exact)

    def subtrees_of(tree: Any) -> list[Any] | None:
        subtrees: list[Any] = []
        return subtrees if read(tree, subtrees) else None

    return subtrees_of


def reader_of(treedef: PyTreeDef, exact: bool = False) -> Reader:
    """Returns the reader of a structure: :func:`matcher_of` for one part of a larger tree."""
    node_type = treedef._node_type
    if node_type is None:
        return _read_leaf
    if treedef._is_flat:
        return _reader_of_leaves(treedef, exact)
    children_of = _opener_of(treedef, exact)
    readers = [None if subtree._node_type is None else reader_of(subtree, exact) for subtree in treedef._subtrees]

    def read(node: Any, found: list[Any]) -> bool:
        children = children_of(node)
        if children is None:
            return False
        for read_child, child in zip(readers, children):  # noqa: B905  # of equal length, and strict costs time
            if read_child is None:
                found.append(child)
            elif not read_child(child, found):
                return False
        return True

    return read


def _read_leaf(node: Any, found: list[Any]) -> bool:
    found.append(node)
    return True


def _reader_of_leaves(treedef: PyTreeDef, exact: bool) -> Reader:
    children_of = _opener_of(treedef, exact)

    def read(node: Any, found: list[Any]) -> bool:
        children = children_of(node)
        if children is None:
            return False
        found += children
        return True

    return read


def _values_at(keys: Sequence[Any]) -> Callable[[dict[Any, Any]], Sequence[Any]]:
    return itemgetter(*keys) if len(keys) > 1 else lambda node: [node[key] for key in keys]


def _opener_of(treedef: PyTreeDef, exact: bool) -> Callable[[Any], Sequence[Any] | None]:
    """Returns the function that opens nodes like the structure's root: its children, or None if the node differs."""
    node_type, aux, length = treedef._node_type, treedef._aux, len(treedef._subtrees)
    assert node_type is not None
    nodetype: Any = node_type.cls
    if node_type.open is None:
        return lambda node: node if type(node) is nodetype and len(node) == length else None
    if node_type is not DICT:
        one_level = node_type.one_level
        same = _same_exactly if exact else same_aux

        def open_node(node: Any) -> Sequence[Any] | None:
            if type(node) is not nodetype:
                return None
            children, its_aux = one_level(node)
            return children if len(children) == length and same(aux, its_aux, nodetype) else None

        return open_node
    # The structure has the sorted order of the keys.
    values_at = _values_at(aux)

    def open_dict(node: Any) -> Sequence[Any] | None:
        if type(node) is not dict or len(node) != length:
            return None
        try:
            return values_at(node)
        except KeyError:
            return None

    if not exact:
        return open_dict
    types = [type(key) for key in aux]
    if set(types) == {str}:

        def open_named(node: Any) -> Sequence[Any] | None:
            if type(node) is not dict or len(node) != length or not _NAMES.issuperset(map(type, node)):
                return None
            try:  # not by `open_dict`, which is a call more
                return values_at(node)
            except KeyError:
                return None

        return open_named
    keys = frozenset(map(exact_key, aux))

    def open_exactly(node: Any) -> Sequence[Any] | None:
        values = open_dict(node)
        return None if values is None or not keys.issuperset(map(exact_key, node)) else values

    return open_exactly


_NAMES = frozenset({str})


def _same_exactly(aux: Any, other: Any, nodetype: type) -> bool:
    return aux is other or (
        same_aux(aux, other, nodetype) and exact_key(aux, contents_key) == exact_key(other, contents_key)
    )
