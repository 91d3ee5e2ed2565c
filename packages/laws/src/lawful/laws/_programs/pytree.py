"""Pytrees as inputs of programs: tuples, lists, dicts, namedtuples and None around arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lawful import tree
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.syntax import Apply, Expression, Static


class Pair(NamedTuple):
    """The namedtuple that drawn pytrees have among their nodes.

    >>> Pair(1.0, 2.0).first
    1.0
    """

    first: Any
    second: Any


def draw_tree(choose: Chooser, leaf: Callable[[], Any], *, depth: int = 2) -> Any:
    """Returns a pytree, of at most two leaves a node.

    Args:
      choose: draws.
      leaf: gives a leaf.
      depth: how deep nodes are nested.
    """

    def child() -> Any:
        if depth <= 1 or choose.integer(0, 2) < 2:
            return leaf()
        return None if choose.integer(0, 4) == 4 else draw_tree(choose, leaf, depth=depth - 1)

    node = choose.integer(0, 4)
    first = leaf()
    if node == 0:
        return (first,)
    second = child()
    return ((first, second), [first, second], {"p": first, "q": second}, Pair(first, second))[node - 1]


def reached(expression: Expression, path: Sequence[Any]) -> Expression:
    """Returns the expression of a leaf of a pytree: ``t['p'][0]``, ``t.first``."""
    for key in path:
        if isinstance(key, tree.GetAttrKey):
            expression = Apply(f".{key.name} ", (expression,))
        else:
            item = key.idx if isinstance(key, tree.SequenceKey) else key.key
            expression = Apply("operator.getitem", (expression, Static(item)))
    return expression
