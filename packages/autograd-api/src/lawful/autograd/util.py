"""Small helpers that programs import from ``autograd.util``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any


def subvals(x: Sequence[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Returns a sequence as a tuple, with other values at some positions.

    >>> subvals((1, 2, 3), [(0, "a"), (2, "c")])
    ('a', 2, 'c')
    """
    values = list(x)
    for position, value in ivs:
        values[position] = value
    return tuple(values)


def subval(x: Sequence[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Returns a sequence as a tuple, with another value at one position.

    >>> subval((1, 2, 3), 1, "b")
    (1, 'b', 3)
    """
    return subvals(x, [(i, v)])


def func(f: Any) -> Any:
    """Returns its argument.

    >>> func(abs)(-3)
    3
    """
    return f


def toposort(end_node: Any, parents: Callable[[Any], Iterable[Any]] = attrgetter("parents")) -> Iterator[Any]:
    """Yields a node and all that it depends on, each before its parents.

    Args:
      end_node: the node.
      parents: gives the parents of a node.

    >>> parents = {"c": ["a", "b"], "b": ["a"], "a": []}
    >>> list(toposort("c", parents.get))
    ['c', 'b', 'a']
    """
    children: Counter[Any] = Counter()
    found, stack = {end_node}, [end_node]
    while stack:
        for parent in parents(stack.pop()):
            children[parent] += 1
            if parent not in found:
                found.add(parent)
                stack.append(parent)
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)
