"""Reductions over the leaves of a tree."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful.tree._flatten import IsLeaf, leaves
from lawful.tree.base.errors import TreeTypeError


class Unspecified:
    """The default of an argument for which None is a value."""

    def __repr__(self) -> str:
        return "<unspecified>"


_UNSPECIFIED: Final = Unspecified()


def reduce[T](
    function: Callable[[T, Any], T], tree: Any, initializer: T | Unspecified = _UNSPECIFIED, is_leaf: IsLeaf = None
) -> T:
    """Returns ``function(… function(function(initializer, leaf), leaf) …, leaf)`` over the leaves, left to right.

    Args:
      function: takes the value so far and a leaf.
      tree: any value.
      initializer: the first value; without it, the first leaf is.
      is_leaf: as in :func:`flatten`, which raises the same errors.

    Raises:
      TreeTypeError: the tree has no leaves, and there is no initializer.

    Example:
      >>> from lawful import tree
      >>> tree.reduce(lambda total, x: total + x, [1, (2, 3), {"a": 4}])
      10

    Source: ``jax.tree.reduce``.
    """
    items = leaves(tree, is_leaf)
    if not isinstance(initializer, Unspecified):
        total: T = functools.reduce(function, items, initializer)
        return total
    if not items:
        raise TreeTypeError("reduce: expected a tree with leaves, got one without; give an initializer")
    total = functools.reduce(function, items)
    return total


def reduce_associative[T](
    operation: Callable[[T, T], T], tree: Any, *, identity: T | Unspecified = _UNSPECIFIED, is_leaf: IsLeaf = None
) -> T:
    """Returns the leaves combined by an associative operation, in the shape of a balanced binary tree.

    The depth of the expression is logarithmic in the number of leaves, so that the halves can run in parallel.

    Args:
      operation: an associative function of two leaves.
      tree: any value.
      identity: the result for a tree without leaves.
      is_leaf: as in :func:`flatten`, which raises the same errors.

    Raises:
      TreeTypeError: the tree has no leaves, and there is no identity.

    Example:
      >>> from lawful import tree
      >>> tree.reduce_associative(lambda x, y: f"({x}+{y})", ["a", "b", ("c", "d")])
      '((a+b)+(c+d))'

    Source: ``jax.tree.reduce_associative``.
    """
    items = leaves(tree, is_leaf)
    if items:
        total: T = _halves(operation, items)
        return total
    if isinstance(identity, Unspecified):
        raise TreeTypeError("reduce_associative: expected a tree with leaves, got one without; give an identity")
    return identity


def _halves(operation: Callable[[Any, Any], Any], items: Sequence[Any]) -> Any:
    if len(items) == 1:
        return items[0]
    middle = len(items) // 2
    return operation(_halves(operation, items[:middle]), _halves(operation, items[middle:]))


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Returns whether every leaf is true; True for a tree without leaves.

    Args:
      tree: any value.
      is_leaf: as in :func:`flatten`, which raises the same errors.

    Example:
      >>> from lawful import tree
      >>> tree.all({"a": True, "b": (1, 0)})
      False

    Source: ``jax.tree.all``.
    """
    return builtins.all(leaves(tree, is_leaf))
