"""The error for a tree that contains itself. Cycles are sought only after flattening has exhausted the stack."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from lawful.tree._nodes.key import KeyEntry, keystr
from lawful.tree._nodes.registry import node_type_of
from lawful.tree._structure.difference import shorten
from lawful.tree.base.errors import NestingError, TreeTypeError


def refuse_cycle(where: str, tree: Any) -> NoReturn:
    """Raises the error for a tree that contains itself, or for one nested more deeply than the stack."""
    # Nodes from the root to the one being visited, the keys between them, and the depth of each node by id.
    branch = [(tree, _items(tree))]
    path: list[KeyEntry] = []
    depths = {id(tree): 0}
    # Visited nodes are kept alive, so that no other node gets the id of one.
    done: dict[int, Any] = {}
    # A registered type may create new children without end; then no node repeats.
    while branch and len(branch) < 100 * sys.getrecursionlimit():
        node, items = branch[-1]
        item = next(items, None)
        if item is None:
            branch.pop()
            done[id(node)] = node
            if path:
                path.pop()
            continue
        key, child = item
        if node_type_of(type(child)) is None or id(child) in done:
            continue
        if id(child) in depths:
            again, first = keystr((*path, key)), keystr(path[: depths[id(child)]])
            raise TreeTypeError(
                f"{where}: expected a finite tree, got one that contains itself: tree{shorten(again)} is "
                f"tree{shorten(first)}; break the cycle, or make the object a leaf with is_leaf"
            ) from None
        depths[id(child)] = len(branch)
        branch.append((child, _items(child)))
        path.append(key)
    raise NestingError(
        f"{where}: expected a tree that is nested less deeply than Python's recursion limit of "
        f"{sys.getrecursionlimit()}, got a deeper one; make chains of nodes flat lists, or raise the limit "
        "with sys.setrecursionlimit"
    ) from None


def _items(node: Any) -> Iterator[tuple[KeyEntry, Any]]:
    node_type = node_type_of(type(node))
    assert node_type is not None
    keys, children, _ = node_type.open_with_keys(node)
    return zip(keys, children, strict=True)
