"""Trees that contain themselves: found only once flattening has run out of stack, so that it costs nothing before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from lawful.tree._difference import shorten
from lawful.tree._key import KeyEntry, keystr
from lawful.tree._registry import kind_of
from lawful.tree.base.errors import NestingError, TreeTypeError


def refuse_cycle(where: str, tree: Any) -> NoReturn:
    """Raises the error for a tree that contains itself, or else for one that is nested more deeply than the stack."""
    # The nodes from the root to the one being visited, the keys between them, and the places of the nodes by id.
    branch = [(tree, _items(tree))]
    path: list[KeyEntry] = []
    depths = {id(tree): 0}
    # Visited nodes are kept alive, so that no other node gets the id of one.
    done: dict[int, Any] = {}
    # A registered type may make new children for ever, in which case nothing comes back twice.
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
        if kind_of(type(child)) is None or id(child) in done:
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
    kind = kind_of(type(node))
    assert kind is not None
    keys, children, _ = kind.open_with_keys(node)
    return zip(keys, children, strict=True)
