"""Pytrees whose dicts keep the order of their keys, as Autograd's do; those of `lawful.tree` have sorted keys.

>>> leaves({"z": 1.0, "a": 2.0})
[1.0, 2.0]
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from lawful import tree

Function = Callable[..., Any]

#: The structure of a leaf.
LEAF: Final = tree.structure(0)


class Ordered(dict[Any, Any]):
    """A dict as a node whose children are in the order of its keys. It is rebuilt as what it stands for.

    Attributes:
      made_by: the class of what it stands for, and its arguments before the items.
    """

    __slots__ = ("made_by",)

    made_by: tuple[Any, ...]


def _rebuilt(aux: Any, children: Iterable[Any]) -> Any:
    keys, (cls, *arguments) = aux
    return cls(*arguments, zip(keys, children, strict=True))


tree.register_node_with_keys(
    Ordered,
    lambda node: ([(tree.DictKey(key), x) for key, x in node.items()], (tuple(node), node.made_by)),
    _rebuilt,
    lambda node: (tuple(node.values()), (tuple(node), node.made_by)),
)


class Flat:
    """The leaves of a pytree and its structure, as a node that is rebuilt as itself."""

    __slots__ = ("leaves", "treedef")

    def __init__(self, leaves: Sequence[Any], treedef: tree.PyTreeDef) -> None:
        self.leaves = leaves
        self.treedef = treedef


def _flat_with_keys(node: Flat) -> tuple[list[tuple[Any, Any]], tree.PyTreeDef]:
    of_tree = tree.leaves_with_path(ordered(node.treedef.unflatten([0] * len(node.leaves))))
    return [(tree.keystr(path), x) for (path, _), x in zip(of_tree, node.leaves, strict=True)], node.treedef


tree.register_node_with_keys(
    Flat,
    _flat_with_keys,
    lambda treedef, leaves: Flat(leaves, treedef),
    lambda node: (node.leaves, node.treedef),
)


def _itself(x: Any) -> Any:
    return x


def ordered(x: Any, of_leaf: Function = _itself) -> Any:
    """Returns a pytree with ``Ordered`` for its dicts, and what a function gives for its leaves.

    A transformation that takes the tree apart gives dicts with the keys in the same order.
    """
    try:
        return _ordered(x, of_leaf)
    except RecursionError:
        tree.structure(x)  # raises the error that tells where a tree contains itself
        raise


def _ordered(x: Any, of_leaf: Function) -> Any:
    cls = type(x)
    if cls is list:
        return [_ordered(child, of_leaf) for child in x]
    if cls is tuple:
        return tuple([_ordered(child, of_leaf) for child in x])
    if cls is dict or cls is defaultdict or cls is Ordered:
        return _node([(key, _ordered(child, of_leaf)) for key, child in x.items()], x)
    if not tree.is_tree_node(cls):
        return of_leaf(x)
    return tree.map(lambda child: _ordered(child, of_leaf), x, is_leaf=lambda child: child is not x)


def _node(items: Any, like: Any) -> Ordered:
    """Returns a node of pairs of keys and children, which is rebuilt as a value of the class of another dict."""
    node, cls = Ordered(items), type(like)
    if cls is Ordered:
        node.made_by = like.made_by
    else:
        node.made_by = (defaultdict, like.default_factory) if cls is defaultdict else (dict,)
    return node


def flatten(x: Any) -> tuple[list[Any], tree.PyTreeDef]:
    """Returns the leaves of a pytree, and its structure, with dicts in their own order."""
    return tree.flatten(ordered(x))


def leaves(x: Any) -> list[Any]:
    """Returns the leaves of a pytree, with those of dicts in their own order."""
    return tree.leaves(ordered(x))


def map(f: Function, x: Any, *others: Any) -> Any:
    """Returns the pytree of what a function gives for the leaves of a tree, and of others of its structure."""
    firsts, treedef = flatten(x)
    rest = [flatten_like(other, x, treedef) for other in others]
    return treedef.unflatten([f(*row) for row in zip(firsts, *rest, strict=True)])


def flatten_like(x: Any, like: Any, treedef: tree.PyTreeDef) -> list[Any]:
    """Returns what a pytree has at the leaves of another one; its dicts may have another order.

    Args:
      x: the tree.
      like: the other one.
      treedef: its structure, by `flatten`.
    """
    return treedef.flatten_up_to(ordered(in_order_of(like, x)))


def in_order_of(like: Any, x: Any) -> Any:
    """Returns a pytree with ``Ordered`` for dicts, in the order of the dicts of another tree with the same keys."""
    cls = type(x)
    if (cls is dict or cls is defaultdict or cls is Ordered) and isinstance(like, dict) and like.keys() == x.keys():
        return _node([(key, in_order_of(like[key], x[key])) for key in like], x)
    if (cls is list or cls is tuple) and isinstance(like, list | tuple) and len(like) == len(x):
        return cls([in_order_of(one, child) for one, child in zip(like, x, strict=True)])
    if cls is OrderedDict and isinstance(like, dict) and like.keys() == x.keys():
        return OrderedDict([(key, in_order_of(like[key], x[key])) for key in like])
    if cls is type(like) and tree.is_tree_node(cls):
        children, treedef = tree.flatten(x, is_leaf=lambda child: child is not x)
        others = tree.leaves(like, is_leaf=lambda child: child is not like)
        if len(others) == len(children):
            return treedef.unflatten([in_order_of(*pair) for pair in zip(others, children, strict=True)])
    return x
