"""Walks along a structure: to build a tree of it, and to take one apart.

A structure is turned once into functions of its nodes, which know where their leaves are. Each calls those of its
children, through no C function: a level costs one Python frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lawful.tree._kind import DICT, LIST, TUPLE, same_aux
from lawful.tree.base.exact_key import exact_key

if TYPE_CHECKING:
    from lawful.tree._treedef import PyTreeDef

#: Builds a tree of the list of its leaves.
type Maker = Callable[[list[Any]], Any]
#: Appends the subtrees of a tree at a structure's leaves to a list; False if the structure is not a prefix of the tree.
type Reader = Callable[[Any, list[Any]], bool]
#: Gives the subtrees of a tree at a structure's leaves; None of a tree of which the structure is not a prefix.
type Matcher = Callable[[Any], Sequence[Any] | None]


def maker_of(treedef: PyTreeDef, first: int = 0) -> Maker:
    """Returns the function that builds the tree of a structure, of those leaves of a list that begin at ``first``."""
    kind, aux = treedef._kind, treedef._aux
    if kind is None:
        return itemgetter(first)
    end = first + treedef._num_leaves
    if treedef._is_flat:
        if kind is TUPLE:
            return lambda leaves: tuple(leaves[first:end])
        if kind is LIST:
            return lambda leaves: leaves[first:end]
        if kind is DICT:
            places = tuple(zip(aux, range(first, end), strict=True))
            return lambda leaves: {key: leaves[place] for key, place in places}
    makers = []
    for subtree in treedef._subtrees:
        makers.append(maker_of(subtree, first))
        first += subtree._num_leaves
    if kind is TUPLE:
        return lambda leaves: tuple([make(leaves) for make in makers])
    if kind is LIST:
        return lambda leaves: [make(leaves) for make in makers]
    if kind is DICT:
        named = tuple(zip(aux, makers, strict=True))
        return lambda leaves: {key: make(leaves) for key, make in named}
    rebuild = kind.rebuild
    return lambda leaves: rebuild(aux, [make(leaves) for make in makers])


def matcher_of(treedef: PyTreeDef, *, exact: bool = False) -> Matcher:
    """Returns the function that takes trees of a structure apart; if exact, those with the same exact key only."""
    if treedef._kind is None:
        return lambda tree: [tree]
    if treedef._is_flat:
        return _opener_of(treedef, exact)  # the children are the leaves
    read = reader_of(treedef, exact)

    def subtrees_of(tree: Any) -> list[Any] | None:
        subtrees: list[Any] = []
        return subtrees if read(tree, subtrees) else None

    return subtrees_of


def reader_of(treedef: PyTreeDef, exact: bool = False) -> Reader:
    """Returns the function that takes trees of a structure apart, as a part of larger ones."""
    kind = treedef._kind
    if kind is None:
        return _read_leaf
    if treedef._is_flat:
        return _reader_of_leaves(treedef, exact)
    children_of = _opener_of(treedef, exact)
    readers = [None if subtree._kind is None else reader_of(subtree, exact) for subtree in treedef._subtrees]

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
    """Returns the function that gives the children of a node of a structure's root, or None of another node."""
    kind, aux, length = treedef._kind, treedef._aux, len(treedef._subtrees)
    assert kind is not None
    nodetype: Any = kind.nodetype
    if kind.open is None:
        return lambda node: node if type(node) is nodetype and len(node) == length else None
    if kind is not DICT:
        one_level = kind.one_level
        same = _same_exactly if exact else same_aux

        def open_node(node: Any) -> Sequence[Any] | None:
            if type(node) is not nodetype:
                return None
            children, its_aux = one_level(node)
            return children if len(children) == length and same(aux, its_aux, nodetype) else None

        return open_node
    # Sorting is not needed: the structure knows the order.
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
            values = open_dict(node)
            return None if values is None or not _NAMES.issuperset(map(type, node)) else values

        return open_named
    keys = frozenset(map(exact_key, aux))

    def open_exactly(node: Any) -> Sequence[Any] | None:
        values = open_dict(node)
        return None if values is None or not keys.issuperset(map(exact_key, node)) else values

    return open_exactly


_NAMES = frozenset({str})


def _same_exactly(aux: Any, other: Any, nodetype: type) -> bool:
    return aux is other or (same_aux(aux, other, nodetype) and exact_key(aux) == exact_key(other))
